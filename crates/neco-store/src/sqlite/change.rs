//! The SQL of a change of the catalogue, inside a transaction.

use neco_proto::{Seq, SessionId};
use sqlx::SqliteConnection;

use super::job::CatalogChange;
use super::remove;
use crate::catalog::SessionRecord;
use crate::error::StoreError;

/// Makes the change. The inner error says why the database does not fit, and leaves it as it is.
pub(super) async fn apply(
    connection: &mut SqliteConnection,
    change: &CatalogChange,
) -> Result<Result<(), StoreError>, sqlx::Error> {
    match change {
        CatalogChange::Create(record) => insert(connection, record, None).await,
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
        Some(_) => insert(connection, record, Some((parent, at))).await,
    }
}

async fn insert(
    connection: &mut SqliteConnection,
    record: &SessionRecord,
    parent: Option<(SessionId, Seq)>,
) -> Result<Result<(), StoreError>, sqlx::Error> {
    let base = parent.map_or(0, |(_, at)| at).cast_signed();
    let done = sql!(query.execute(connection), "INSERT INTO sessions (id, cwd, folder, title, title_by, created_ms, updated_ms, last_seq, parent_id, parent_seq)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING", (record.id.as_uuid(), record.cwd.as_str(), record.folder.as_deref(), record.title.as_str(), record.title_by.map(|by| by.name()), record.created_ms, record.updated_ms, base, parent.map(|(parent, _)| parent.as_uuid()), base))?;
    Ok(expect_change(done.rows_affected(), || StoreError::exists(record.id)))
}

fn expect_change(rows_affected: u64, otherwise: impl FnOnce() -> StoreError) -> Result<(), StoreError> {
    if rows_affected == 0 { Err(otherwise()) } else { Ok(()) }
}
