//! Reads the database, beside the writer and without waiting for it.

use std::cmp::Reverse;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use neco_proto::{Event, Seq, SessionId};
use sqlx::query::QueryScalar;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Connection, Sqlite, SqliteConnection};
use tokio::sync::{Mutex, MutexGuard};

use super::{failure, open};
use crate::catalog::SessionRecord;
use crate::error::StoreError;

/// How many events are fetched at a time.
const PAGE: usize = 256;

/// A connection that only reads, opened when it is first needed.
pub(super) struct Reader {
    path: PathBuf,
    state: Mutex<State>,
}

/// Where the reader's connection is.
pub(super) enum State {
    /// Not needed yet.
    Unopened,
    /// There.
    Open(SqliteConnection),
    /// The store was closed.
    Closed,
}

/// The columns of a session in the order of the queries below.
type SessionRow = (SessionId, String, String, i64, i64, u64);

impl Reader {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), state: Mutex::new(State::Unopened) }
    }

    /// The events of `session` after `since`.
    pub(super) async fn events(&self, session: SessionId, since: Seq, limit: usize) -> Result<Vec<Event>, StoreError> {
        let mut state = self.state.lock().await;
        let connection = self.connection(&mut state).await?;
        let mut events: Vec<Event> = Vec::new();
        while events.len() < limit {
            let last = events.last().map_or(since, |event| event.seq);
            let page = self.page(connection, session, last, PAGE.min(limit - events.len())).await?;
            let Some(page) = page else { break };
            for body in page.split('\n') {
                events.push(self.event(body)?);
            }
        }
        Ok(events)
    }

    /// The next events as lines; `None` when there are none. A page costs about what a row costs.
    async fn page(
        &self,
        connection: &mut SqliteConnection,
        session: SessionId,
        since: Seq,
        limit: usize,
    ) -> Result<Option<String>, StoreError> {
        sqlx::query_scalar(
            "SELECT group_concat(body, char(10) ORDER BY seq) FROM
                (SELECT seq, body FROM events WHERE session_id = ? AND seq > ? ORDER BY seq LIMIT ?)",
        )
        .bind(session.as_uuid())
        .bind(i64::try_from(since).unwrap_or(i64::MAX))
        .bind(sql_limit(limit))
        .fetch_one(connection)
        .await
        .map_err(|error| self.failed(&error))
    }

    /// One event from its JSON.
    pub(super) fn event(&self, body: &str) -> Result<Event, StoreError> {
        serde_json::from_str(body).map_err(|error| {
            StoreError::Read(failure::with_path(&self.path, &format!("an event is not readable: {error}")))
        })
    }

    /// The number of the last event of `session`; `None` when the catalogue does not have it.
    pub(super) async fn last_seq(&self, session: SessionId) -> Result<Option<Seq>, StoreError> {
        let mut state = self.state.lock().await;
        let last: Option<i64> = sqlx::query_scalar("SELECT last_seq FROM sessions WHERE id = ?")
            .bind(session.as_uuid())
            .fetch_optional(self.connection(&mut state).await?)
            .await
            .map_err(|error| self.failed(&error))?;
        Ok(last.map(i64::cast_unsigned))
    }

    /// The sessions whose id is among `ids`, newest first.
    pub(super) async fn find(
        &self,
        ids: RangeInclusive<SessionId>,
        limit: usize,
    ) -> Result<Vec<SessionRecord>, StoreError> {
        let query = sqlx::query_scalar(
            "SELECT json_group_array(json_array(lower(hex(id)), cwd, title, created_ms, updated_ms, last_seq)) FROM
                (SELECT * FROM sessions WHERE id BETWEEN ? AND ? ORDER BY created_ms DESC, id DESC LIMIT ?)",
        );
        let query = query.bind(ids.start().as_uuid()).bind(ids.end().as_uuid()).bind(sql_limit(limit));
        let mut found = self.sessions(query).await?;
        found.sort_by_key(|record| Reverse((record.created_ms, record.id)));
        Ok(found)
    }

    /// The sessions by last use, newest first.
    pub(super) async fn list(&self, cwd: Option<String>, limit: usize) -> Result<Vec<SessionRecord>, StoreError> {
        let query = sqlx::query_scalar(
            "SELECT json_group_array(json_array(lower(hex(id)), cwd, title, created_ms, updated_ms, last_seq)) FROM
                (SELECT * FROM sessions WHERE ?1 IS NULL OR cwd = ?1 ORDER BY updated_ms DESC, id DESC LIMIT ?2)",
        );
        let mut listed = self.sessions(query.bind(cwd).bind(sql_limit(limit))).await?;
        listed.sort_by_key(|record| Reverse((record.updated_ms, record.id)));
        Ok(listed)
    }

    /// All sessions of an answer. They come as one piece, as many small rows take several times as
    /// long; in what order, SQLite does not promise.
    async fn sessions(
        &self,
        query: QueryScalar<'_, Sqlite, String, SqliteArguments>,
    ) -> Result<Vec<SessionRecord>, StoreError> {
        let mut state = self.state.lock().await;
        let connection = self.connection(&mut state).await?;
        let json = query.fetch_one(connection).await.map_err(|error| self.failed(&error))?;
        let rows: Vec<SessionRow> = serde_json::from_str(&json)
            .map_err(|error| StoreError::Read(failure::with_path(&self.path, &format!("the sessions: {error}"))))?;
        Ok(rows.into_iter().map(record).collect())
    }

    /// Closes the connection, before the writer closes its own: the last one tidies up, and that takes
    /// one that can write. Whoever holds the answer can still open the reader again.
    pub(super) async fn close(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().await;
        if let State::Open(connection) = std::mem::replace(&mut *state, State::Closed) {
            let _ = connection.close().await;
        }
        state
    }

    async fn connection<'a>(&self, state: &'a mut State) -> Result<&'a mut SqliteConnection, StoreError> {
        if let State::Unopened = state {
            *state = State::Open(open::connect_reader(&self.path).await.map_err(|error| self.failed(&error))?);
        }
        match state {
            State::Open(connection) => Ok(connection),
            State::Unopened | State::Closed => Err(StoreError::Closed),
        }
    }

    fn failed(&self, error: &sqlx::Error) -> StoreError {
        failure::reading(&self.path, error)
    }
}

fn record((id, cwd, title, created_ms, updated_ms, events): SessionRow) -> SessionRecord {
    SessionRecord { id, cwd, title, created_ms, updated_ms, events }
}

fn sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
