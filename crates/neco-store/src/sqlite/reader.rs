//! Reads the database, beside the writer and without waiting for it.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use neco_proto::event::TitleSource;
use neco_proto::{Event, Seq, SessionId};
use sqlx::query::QueryScalar;
use sqlx::sqlite::SqliteArguments;
use sqlx::{Connection, Sqlite, SqliteConnection};
use tokio::sync::{Mutex, MutexGuard};

use super::events::{self, Unreadable};
use super::{failure, open, sizes};
use crate::catalog::SessionRecord;
use crate::error::StoreError;
use crate::lineage::Ancestor;
use crate::said::messages_in;
use crate::size::StoreSizes;

/// A connection that only reads, opened when it is first needed.
pub(super) struct Reader {
    path: PathBuf,
    state: Mutex<State>,
}

/// Where the reader's connection is.
pub(super) enum State {
    /// Not needed yet.
    Unopened,
    Open(Open),
    /// The store was closed.
    Closed,
}

/// The connection and what it has found out.
pub(super) struct Open {
    connection: SqliteConnection,
    /// Sessions that are no forks; they never become any.
    roots: HashSet<SessionId>,
}

/// A session as `record_sql` gives it.
type SessionRow = (
    SessionId,
    String,
    Option<String>,
    String,
    Option<TitleSource>,
    i64,
    i64,
    u64,
    Option<u64>,
    u8,
    Option<SessionId>,
    Seq,
);

/// A session as a JSON array.
macro_rules! record_sql {
    () => {
        "json_array(hex(id), cwd, folder, title, title_by, created_ms, updated_ms, last_seq, messages, is_single,
            iif(parent_id IS NULL, NULL, hex(parent_id)), parent_seq)"
    };
}

/// The sessions that `rows` selects, in an order or no more than so many, as one piece.
macro_rules! records_sql {
    ($rows:literal) => {
        concat!(
            "SELECT json_group_array(",
            record_sql!(),
            ") FROM (SELECT * FROM sessions WHERE NOT is_removed AND ",
            $rows,
            ")"
        )
    };
}

/// All sessions, or those of a folder.
const ALL: &str = concat!(
    "SELECT json_group_array(",
    record_sql!(),
    ") FROM sessions WHERE NOT is_removed AND (?1 IS NULL OR cwd = ?1)"
);

/// From how many sessions on it is worth asking whether that are most of them.
const MANY: usize = 1000;

impl Reader {
    pub(super) fn new(path: &Path) -> Self {
        Self { path: path.to_owned(), state: Mutex::new(State::Unopened) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The events of `session` after `since`.
    pub(super) async fn events(&self, session: SessionId, since: Seq, limit: usize) -> Result<Vec<Event>, StoreError> {
        let mut state = self.state.lock().await;
        let Open { connection, roots } = self.open(&mut state).await?;
        let ancestors = match roots.contains(&session) {
            true => vec![Ancestor { id: session, base: 0 }],
            false => events::ancestors(connection, session).await.map_err(|error| self.failed(&error))?,
        };
        if let [root] = ancestors.as_slice() {
            roots.insert(root.id);
        }
        let read = events::read(connection, &ancestors, session, since, limit).await;
        read.map_err(|error| self.unreadable(&error))
    }

    /// How many messages of the person count in `session`, and its last event; `None` when the catalogue does not have it.
    pub(super) async fn messages(&self, session: SessionId) -> Result<Option<(u64, Seq)>, StoreError> {
        let Some(last) = self.last_seq(session).await? else { return Ok(None) };
        let mut state = self.state.lock().await;
        let Open { connection, .. } = self.open(&mut state).await?;
        let ancestors = events::ancestors(connection, session).await.map_err(|error| self.failed(&error))?;
        let said = events::messages(connection, &ancestors, last).await.map_err(|error| self.unreadable(&error))?;
        Ok(Some((messages_in(&said), last)))
    }

    /// The events of some kinds that `session` has of its own, after `since`.
    pub(super) async fn own_events(
        &self,
        session: SessionId,
        since: Seq,
        kinds: &[&str],
    ) -> Result<Vec<Event>, StoreError> {
        let mut state = self.state.lock().await;
        let Open { connection, .. } = self.open(&mut state).await?;
        events::of_kinds(connection, session, since, kinds).await.map_err(|error| self.unreadable(&error))
    }

    /// The session is no more.
    pub(super) async fn forget(&self, session: SessionId) {
        if let State::Open(open) = &mut *self.state.lock().await {
            open.roots.remove(&session);
        }
    }

    /// One event from its whole JSON.
    pub(super) fn event(&self, body: &str) -> Result<Event, StoreError> {
        events::event_of(body, &HashMap::new()).map_err(|error| self.unreadable(&error))
    }

    /// The number of the last event of `session`; `None` when the catalogue does not have it.
    pub(super) async fn last_seq(&self, session: SessionId) -> Result<Option<Seq>, StoreError> {
        let mut state = self.state.lock().await;
        let last: Option<i64> = sql!(
            query_scalar.fetch_optional(&mut self.open(&mut state).await?.connection),
            "SELECT last_seq FROM sessions WHERE id = ? AND NOT is_removed",
            (session.as_uuid())
        )
        .map_err(|error| self.failed(&error))?;
        Ok(last.map(i64::cast_unsigned))
    }

    /// The sessions whose id is among `ids`, newest first.
    pub(super) async fn find(
        &self,
        ids: RangeInclusive<SessionId>,
        limit: usize,
    ) -> Result<Vec<SessionRecord>, StoreError> {
        let query = sqlx::query_scalar(records_sql!("id BETWEEN ? AND ? ORDER BY created_ms DESC, id DESC LIMIT ?"));
        let query = query.bind(ids.start().as_uuid()).bind(ids.end().as_uuid()).bind(sql_limit(limit));
        let mut found = self.sessions(query).await?;
        found.sort_by_key(|record| Reverse((record.created_ms, record.id)));
        Ok(found)
    }

    /// The sessions by last use, newest first.
    pub(super) async fn list(&self, cwd: Option<String>, limit: usize) -> Result<Vec<SessionRecord>, StoreError> {
        // SQLite needs as long to sort all of them as for everything else together: where many are wanted, it is quicker
        // to read them all.
        if limit >= MANY && self.count().await? / 2 <= limit {
            let mut all = self.by_last_use(sqlx::query_scalar(ALL).bind(cwd)).await?;
            all.truncate(limit);
            return Ok(all);
        }
        let query =
            sqlx::query_scalar(records_sql!("(?1 IS NULL OR cwd = ?1) ORDER BY updated_ms DESC, id DESC LIMIT ?2"));
        self.by_last_use(query.bind(cwd).bind(sql_limit(limit))).await
    }

    /// The sessions of a folder wherever it lay, by last use, newest first.
    pub(super) async fn of_folder(&self, folder: String, limit: usize) -> Result<Vec<SessionRecord>, StoreError> {
        let query = sqlx::query_scalar(records_sql!("folder = ? ORDER BY updated_ms DESC, id DESC LIMIT ?"));
        self.by_last_use(query.bind(folder).bind(sql_limit(limit))).await
    }

    /// The sessions that one is a fork of, nearest first.
    pub(super) async fn ancestors(&self, session: SessionId) -> Result<Vec<SessionId>, StoreError> {
        let mut state = self.state.lock().await;
        let line = events::ancestors(&mut self.open(&mut state).await?.connection, session).await;
        Ok(line.map_err(|error| self.failed(&error))?.into_iter().skip(1).map(|ancestor| ancestor.id).collect())
    }

    /// All sessions, those included that were removed and have forks.
    pub(super) async fn kept(&self) -> Result<HashSet<SessionId>, StoreError> {
        let mut state = self.state.lock().await;
        let connection = &mut self.open(&mut state).await?.connection;
        let all: Result<Vec<uuid::Uuid>, _> = sql!(query_scalar.fetch_all(connection), "SELECT id FROM sessions");
        Ok(all.map_err(|error| self.failed(&error))?.into_iter().map(SessionId::from).collect())
    }

    pub(super) async fn sizes(&self) -> Result<StoreSizes, StoreError> {
        let mut state = self.state.lock().await;
        let connection = &mut self.open(&mut state).await?.connection;
        sizes::of(connection, &self.path).await.map_err(|error| self.failed(&error))
    }

    /// The bytes that would go with each of `sessions`.
    pub(super) async fn bytes_of(
        &self,
        sessions: impl Iterator<Item = SessionId>,
    ) -> Result<HashMap<SessionId, u64>, StoreError> {
        let mut state = self.state.lock().await;
        let connection = &mut self.open(&mut state).await?.connection;
        sizes::of_each(connection, sessions).await.map_err(|error| self.failed(&error))
    }

    async fn count(&self) -> Result<usize, StoreError> {
        let mut state = self.state.lock().await;
        let count: Result<i64, _> = sql!(
            query_scalar.fetch_one(&mut self.open(&mut state).await?.connection),
            "SELECT count(*) FROM sessions WHERE NOT is_removed"
        );
        Ok(usize::try_from(count.map_err(|error| self.failed(&error))?).unwrap_or_default())
    }

    async fn by_last_use(
        &self,
        query: QueryScalar<'_, Sqlite, String, SqliteArguments>,
    ) -> Result<Vec<SessionRecord>, StoreError> {
        let mut listed = self.sessions(query).await?;
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
        let connection = &mut self.open(&mut state).await?.connection;
        let json = query.fetch_one(connection).await.map_err(|error| self.failed(&error))?;
        let rows: Vec<SessionRow> = serde_json::from_str(&json)
            .map_err(|error| StoreError::Read(failure::with_path(&self.path, &format!("the sessions: {error}"))))?;
        Ok(rows.into_iter().map(record).collect())
    }

    /// Closes the connection, before the writer closes its own: the last one tidies up, and that takes
    /// one that can write. Whoever holds the answer can still open the reader again.
    pub(super) async fn close(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().await;
        if let State::Open(open) = std::mem::replace(&mut *state, State::Closed) {
            let _ = open.connection.close().await;
        }
        state
    }

    async fn open<'a>(&self, state: &'a mut State) -> Result<&'a mut Open, StoreError> {
        if let State::Unopened = state {
            let connection = open::connect_reader(&self.path).await.map_err(|error| self.failed(&error))?;
            *state = State::Open(Open { connection, roots: HashSet::new() });
        }
        match state {
            State::Open(open) => Ok(open),
            State::Unopened | State::Closed => Err(StoreError::Closed),
        }
    }

    fn unreadable(&self, error: &Unreadable) -> StoreError {
        match error {
            Unreadable::Sql(error) => self.failed(error),
            Unreadable::Event(reason) => StoreError::Read(failure::with_path(&self.path, reason)),
            Unreadable::Missing(seq) => failure::missing(&self.path, *seq),
            Unreadable::Broken(reason) => failure::broken(&self.path, reason),
        }
    }

    fn failed(&self, error: &sqlx::Error) -> StoreError {
        failure::reading(&self.path, error)
    }
}

fn record(
    (id, cwd, folder, title, title_by, created_ms, updated_ms, events, messages, single, parent, base): SessionRow,
) -> SessionRecord {
    let (is_single, parent) = (single != 0, parent.map(|parent| (parent, base)));
    SessionRecord { id, cwd, folder, title, title_by, created_ms, updated_ms, events, messages, is_single, parent }
}

fn sql_limit(limit: usize) -> i64 {
    i64::try_from(limit).unwrap_or(i64::MAX)
}
