//! The usual transaction, a few events of one session, in one go.
//!
//! Every statement costs a trip to the connection's thread and back, which is more than it costs
//! SQLite to run it. So all four of the usual ones go there together.

use std::sync::LazyLock;

use futures::TryStreamExt;
use sqlx::{Either, Executor, SqliteConnection};

use super::blob;
use super::transaction::{Run, refusal};
use crate::error::StoreError;

/// The most events that go this way; for each number a statement is kept prepared.
const MOST_ROWS: usize = 8;

static SCRIPTS: LazyLock<[String; MOST_ROWS]> = LazyLock::new(|| std::array::from_fn(|index| script_of(index + 1)));

/// `changes()` is what the UPDATE changed: nothing, if the log does not end where the events go on.
fn script_of(rows: usize) -> String {
    format!(
        "BEGIN IMMEDIATE;
         UPDATE sessions SET last_seq = ?, updated_ms = max(updated_ms, ?) WHERE id = ? AND last_seq = ? AND NOT is_removed;
         INSERT INTO events (session_id, seq, kind, body)
             SELECT column1, column2, column3, column4 FROM (VALUES {}) WHERE changes() > 0;
         COMMIT",
        vec!["(?, ?, ?, ?)"; rows].join(", ")
    )
}

/// Writes `run` and commits, if it is small enough to go this way; `None` if it is not, and nothing
/// has happened.
pub(super) async fn commit(
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
