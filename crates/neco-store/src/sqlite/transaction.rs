//! The SQL of the writer: everything that waits, in one transaction.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use futures::TryStreamExt;
use neco_proto::{Seq, SessionId};
use sqlx::{Either, Executor, SqliteConnection};
use uuid::Uuid;

use super::events::sql_number;
use super::job::{Batch, CatalogChange, Row};
use super::{blob, remove};
use crate::catalog::SessionRecord;
use crate::error::StoreError;
use crate::said::Change;

/// What the database said to each part of a transaction that was committed.
pub(super) struct Outcome {
    /// To each change of the catalogue.
    pub(super) changes: Vec<Result<(), StoreError>>,
    /// To each batch.
    pub(super) batches: Vec<Result<(), StoreError>>,
}

/// Writes everything and commits. After an error nothing is written, and the connection may still be
/// inside the transaction.
pub(super) async fn commit(
    connection: &mut SqliteConnection,
    changes: &[&CatalogChange],
    batches: &[Batch],
) -> Result<Outcome, sqlx::Error> {
    let runs = runs(batches);
    if let ([], [run]) = (changes, runs.as_slice())
        && let Some(result) = commit_at_once(connection, run).await?
    {
        return Ok(Outcome { changes: Vec::new(), batches: vec![result; batches.len()] });
    }
    // IMMEDIATE: waits for other processes here, where the busy timeout holds, and not half way.
    sql!(query.execute(&mut *connection), "BEGIN IMMEDIATE")?;
    let mut outcome = Outcome { changes: Vec::new(), batches: vec![Ok(()); batches.len()] };
    for change in changes {
        outcome.changes.push(apply(connection, change).await?);
    }
    let mut rows = Vec::new();
    for run in &runs {
        match advance(connection, run).await? {
            Ok(()) => rows.extend(run.rows().map(|row| (run.session, row))),
            Err(refusal) => {
                for (index, _) in &run.batches {
                    outcome.batches[*index] = Err(refusal.clone());
                }
            }
        }
    }
    let rows = cut_out(connection, &rows).await?;
    insert(connection, &rows).await?;
    sql!(query.execute(&mut *connection), "COMMIT")?;
    Ok(outcome)
}

/// Batches of one session that follow each other, so that the session's row changes once for all.
pub(super) struct Run<'a> {
    pub(super) session: SessionId,
    pub(super) first: Seq,
    pub(super) last: Seq,
    pub(super) updated_ms: i64,
    change: Change,
    batches: Vec<(usize, &'a Batch)>,
}

impl<'a> Run<'a> {
    /// All events.
    pub(super) fn rows(&self) -> impl Iterator<Item = &'a Row> {
        self.batches.iter().flat_map(|(_, batch)| &batch.rows)
    }

    /// How many messages of the person it adds, as SQLite has it.
    fn messages(&self) -> Option<i64> {
        self.change.messages.map(sql_number)
    }

    /// Where the log must end for the run to go on from there.
    pub(super) fn before(&self) -> Seq {
        self.first.saturating_sub(1)
    }
}

fn runs(batches: &[Batch]) -> Vec<Run<'_>> {
    let mut runs: Vec<Run<'_>> = Vec::new();
    let mut latest: HashMap<SessionId, usize> = HashMap::new();
    for (index, batch) in batches.iter().enumerate() {
        let run = latest.get(&batch.session).and_then(|at| runs.get_mut(*at));
        if let Some(run) = run.filter(|run| run.last + 1 == batch.first) {
            run.last = batch.last;
            run.updated_ms = run.updated_ms.max(batch.updated_ms);
            run.change = run.change.and(batch.change);
            run.batches.push((index, batch));
        } else {
            latest.insert(batch.session, runs.len());
            runs.push(Run {
                session: batch.session,
                first: batch.first,
                last: batch.last,
                updated_ms: batch.updated_ms,
                change: batch.change,
                batches: vec![(index, batch)],
            });
        }
    }
    runs
}

/// Moves the end of a session's log. A number of messages that is not known stays so.
const ADVANCE: &str = "UPDATE sessions SET last_seq = ?, updated_ms = max(updated_ms, ?), messages = messages + ?,
    is_single = min(is_single, ?) WHERE id = ? AND last_seq = ? AND NOT is_removed";

/// Moves the end of the session's log, if the run goes on from there.
async fn advance(connection: &mut SqliteConnection, run: &Run<'_>) -> Result<Result<(), StoreError>, sqlx::Error> {
    let done = sql!(
        query.execute(&mut *connection),
        ADVANCE,
        (
            run.last.cast_signed(),
            run.updated_ms,
            run.messages(),
            run.change.is_single,
            run.session.as_uuid(),
            run.before().cast_signed()
        )
    )?;
    if done.rows_affected() > 0 { Ok(Ok(())) } else { refusal(connection, run).await.map(Err) }
}

/// Why the run does not go on from the end of its log.
pub(super) async fn refusal(connection: &mut SqliteConnection, run: &Run<'_>) -> Result<StoreError, sqlx::Error> {
    let session = run.session;
    let last: Option<i64> = sql!(
        query_scalar.fetch_optional(connection),
        "SELECT last_seq FROM sessions WHERE id = ? AND NOT is_removed",
        (session.as_uuid())
    )?;
    Ok(match last {
        Some(last) => StoreError::Gap { session, expected: last.cast_unsigned() + 1, got: run.first },
        None => StoreError::UnknownSession { session },
    })
}

/// How many rows one statement inserts. A few fixed sizes, so that all of them stay prepared.
static INSERTS: LazyLock<[(usize, String); 3]> = LazyLock::new(|| [64, 8, 1].map(|size| (size, insert_of(size))));

fn insert_of(size: usize) -> String {
    format!("INSERT INTO events (session_id, seq, kind, body) VALUES {}", vec!["(?, ?, ?, ?)"; size].join(", "))
}

/// The rows with their big strings kept apart.
async fn cut_out(
    connection: &mut SqliteConnection,
    rows: &[(SessionId, &Row)],
) -> Result<Vec<(SessionId, Row)>, sqlx::Error> {
    let mut short = Vec::with_capacity(rows.len());
    for (session, row) in rows {
        let (body, blobs) = blob::cut_out(&row.body);
        blob::keep(connection, session.as_uuid(), &blobs).await?;
        let body = if blobs.is_empty() { Arc::clone(&row.body) } else { body.into() };
        short.push((*session, Row { seq: row.seq, kind: row.kind.clone(), body }));
    }
    Ok(short)
}

async fn insert(connection: &mut SqliteConnection, mut rows: &[(SessionId, Row)]) -> Result<(), sqlx::Error> {
    for (size, sql) in INSERTS.iter() {
        while let Some((some, rest)) = rows.split_at_checked(*size) {
            let mut query = sqlx::query(sql.as_str());
            for (session, row) in some {
                query = query
                    .bind(session.as_uuid())
                    .bind(row.seq.cast_signed())
                    .bind(row.kind.clone())
                    .bind(row.body.clone());
            }
            query.execute(&mut *connection).await?;
            rows = rest;
        }
    }
    Ok(())
}

/// Adds one event of any session as it is; for events that are taken over.
pub(super) async fn insert_raw(
    connection: &mut SqliteConnection,
    session: Uuid,
    seq: i64,
    kind: &str,
    body: &str,
) -> Result<(), sqlx::Error> {
    let (short, blobs) = blob::cut_out(body);
    blob::keep(connection, session, &blobs).await?;
    sql!(
        query.execute(connection),
        "INSERT INTO events (session_id, seq, kind, body) VALUES (?, ?, ?, ?)",
        (session, seq, kind, short.into_owned())
    )
    .map(drop)
}

/// The most events that go this way; for each number a statement is kept prepared.
const MOST_ROWS: usize = 8;

static SCRIPTS: LazyLock<[String; MOST_ROWS]> = LazyLock::new(|| std::array::from_fn(|index| script_of(index + 1)));

/// `changes()` is what the UPDATE changed: nothing, if the log does not end where the events go on.
fn script_of(rows: usize) -> String {
    format!(
        "BEGIN IMMEDIATE;
         {ADVANCE};
         INSERT INTO events (session_id, seq, kind, body)
             SELECT column1, column2, column3, column4 FROM (VALUES {}) WHERE changes() > 0;
         COMMIT",
        vec!["(?, ?, ?, ?)"; rows].join(", ")
    )
}

/// Writes `run` and commits, if it is small enough to go this way; `None` if it is not, and nothing
/// has happened.
/// Every statement costs a trip to the connection's thread and back, which is more than it costs SQLite to run it,
/// so all four of the usual ones go there together.
async fn commit_at_once(
    connection: &mut SqliteConnection,
    run: &Run<'_>,
) -> Result<Option<Result<(), StoreError>>, sqlx::Error> {
    if run.rows().any(|row| row.body.len() >= blob::BIG) {
        return Ok(None);
    }
    let rows = run.rows().count();
    let Some(script) = rows.checked_sub(1).and_then(|index| SCRIPTS.get(index)) else { return Ok(None) };
    let mut query = sqlx::query(script.as_str())
        .bind(run.last.cast_signed())
        .bind(run.updated_ms)
        .bind(run.messages())
        .bind(run.change.is_single)
        .bind(run.session.as_uuid())
        .bind(run.before().cast_signed());
    for row in run.rows() {
        query =
            query.bind(run.session.as_uuid()).bind(row.seq.cast_signed()).bind(row.kind.clone()).bind(row.body.clone());
    }
    let results: Vec<_> = (&mut *connection).fetch_many(query).try_collect().await?;
    // BEGIN and COMMIT repeat the number of whatever came before them.
    let is_written = matches!(results.get(1), Some(Either::Left(update)) if update.rows_affected() > 0);
    if is_written { Ok(Some(Ok(()))) } else { refusal(connection, run).await.map(|refusal| Some(Err(refusal))) }
}

/// Makes the change. The inner error says why the database does not fit, and leaves it as it is.
async fn apply(
    connection: &mut SqliteConnection,
    change: &CatalogChange,
) -> Result<Result<(), StoreError>, sqlx::Error> {
    match change {
        CatalogChange::Create(record) => insert_session(connection, record, None).await,
        CatalogChange::Fork { record, parent, at } => fork(connection, record, *parent, *at).await,
        CatalogChange::SetTitle { session, title, by } => {
            let done = sql!(
                query.execute(connection),
                "UPDATE sessions SET title = ?, title_by = ? WHERE id = ? AND NOT is_removed",
                (title.as_str(), by.name(), session.as_uuid())
            )?;
            Ok(expect_change(done.rows_affected(), || StoreError::UnknownSession { session: *session }))
        }
        CatalogChange::SetFolder { session, cwd, folder } => {
            let done = sql!(
                query.execute(connection),
                "UPDATE sessions SET cwd = ?, folder = ? WHERE id = ? AND NOT is_removed",
                (cwd.as_str(), folder.as_deref(), session.as_uuid())
            )?;
            Ok(expect_change(done.rows_affected(), || StoreError::UnknownSession { session: *session }))
        }
        // Where somebody wrote in between, it is counted the next time.
        CatalogChange::SetMessages { session, messages, upto } => sql!(
            query.execute(connection),
            "UPDATE sessions SET messages = ? WHERE id = ? AND last_seq = ? AND NOT is_removed",
            (sql_number(*messages), session.as_uuid(), sql_number(*upto))
        )
        .map(|_| Ok(())),
        CatalogChange::Remove(session) => remove::remove(connection, *session).await,
    }
}

async fn fork(
    connection: &mut SqliteConnection,
    record: &SessionRecord,
    parent: SessionId,
    at: Seq,
) -> Result<Result<(), StoreError>, sqlx::Error> {
    let last: Option<i64> = sql!(
        query_scalar.fetch_optional(&mut *connection),
        "SELECT last_seq FROM sessions WHERE id = ? AND NOT is_removed",
        (parent.as_uuid())
    )?;
    match last {
        None => Ok(Err(StoreError::UnknownSession { session: parent })),
        Some(last) if last.cast_unsigned() < at => Ok(Err(StoreError::not_that_far(parent, at))),
        Some(_) => insert_session(connection, record, Some((parent, at))).await,
    }
}

async fn insert_session(
    connection: &mut SqliteConnection,
    record: &SessionRecord,
    parent: Option<(SessionId, Seq)>,
) -> Result<Result<(), StoreError>, sqlx::Error> {
    let base = parent.map_or(0, |(_, at)| at).cast_signed();
    // What a fork has from its parent is counted when somebody asks.
    let messages = parent.is_none().then_some(0i64);
    let done = sql!(query.execute(connection), "INSERT INTO sessions (id, cwd, folder, title, title_by, created_ms, updated_ms, last_seq, parent_id, parent_seq,
            messages, is_single)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", (record.id.as_uuid(), record.cwd.as_str(), record.folder.as_deref(), record.title.as_str(), record.title_by.map(|by| by.name()), record.created_ms, record.updated_ms, base, parent.map(|(parent, _)| parent.as_uuid()), base, messages, parent.is_none()))?;
    Ok(expect_change(done.rows_affected(), || StoreError::exists(record.id)))
}

fn expect_change(rows_affected: u64, otherwise: impl FnOnce() -> StoreError) -> Result<(), StoreError> {
    if rows_affected == 0 { Err(otherwise()) } else { Ok(()) }
}
