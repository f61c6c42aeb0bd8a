//! Removing a session without taking what its forks need.

use neco_proto::SessionId;
use sqlx::SqliteConnection;
use uuid::Uuid;

use super::blob;
use crate::error::StoreError;

/// Removes a session, inside a transaction.
pub(super) async fn remove(
    connection: &mut SqliteConnection,
    session: SessionId,
) -> Result<Result<(), StoreError>, sqlx::Error> {
    let done = sqlx::query("UPDATE sessions SET is_removed = 1 WHERE id = ? AND NOT is_removed")
        .bind(session.as_uuid())
        .execute(&mut *connection)
        .await?;
    if done.rows_affected() == 0 {
        return Ok(Err(StoreError::UnknownSession { session }));
    }
    let mut next = Some(session.as_uuid());
    while let Some(removed) = next {
        next = release(connection, removed).await?;
    }
    Ok(Ok(()))
}

/// Lets go of what nobody needs of a session that was removed. When nothing is needed the session is gone,
/// and its parent, which may now be needed less, is given.
async fn release(connection: &mut SqliteConnection, session: Uuid) -> Result<Option<Uuid>, sqlx::Error> {
    let found: Option<(Option<Uuid>, i64)> =
        sqlx::query_as("SELECT parent_id, parent_seq FROM sessions WHERE id = ? AND is_removed")
            .bind(session)
            .fetch_optional(&mut *connection)
            .await?;
    let Some((parent, base)) = found else { return Ok(None) };
    // Forks of the part that it has from its own parent are that one's forks as well.
    sqlx::query(
        "UPDATE sessions SET parent_id = ?1, parent_seq = iif(?1 IS NULL, 0, parent_seq)
            WHERE parent_id = ?2 AND parent_seq <= ?3",
    )
    .bind(parent)
    .bind(session)
    .bind(base)
    .execute(&mut *connection)
    .await?;
    let needed: Option<i64> = sqlx::query_scalar("SELECT max(parent_seq) FROM sessions WHERE parent_id = ?")
        .bind(session)
        .fetch_one(&mut *connection)
        .await?;
    let had: Vec<i64> = sqlx::query_scalar("SELECT blob FROM blob_uses WHERE session_id = ?")
        .bind(session)
        .fetch_all(&mut *connection)
        .await?;
    for sql in [
        "DELETE FROM events WHERE session_id = ?1 AND seq > coalesce(?2, 0)",
        "DELETE FROM blob_uses WHERE session_id = ?1 AND coalesce(?2, 0) >= 0",
    ] {
        sqlx::query(sql).bind(session).bind(needed).execute(&mut *connection).await?;
    }
    match needed {
        Some(last) => shorten(connection, session, last).await?,
        None => {
            sqlx::query("DELETE FROM sessions WHERE id = ?").bind(session).execute(&mut *connection).await?;
        }
    }
    drop_unused(connection, &had).await?;
    Ok(parent.filter(|_| needed.is_none()))
}

/// The session ends at `last`; notes which blobs it still has.
async fn shorten(connection: &mut SqliteConnection, session: Uuid, last: i64) -> Result<(), sqlx::Error> {
    sqlx::query("UPDATE sessions SET last_seq = ?, title = '' WHERE id = ?")
        .bind(last)
        .bind(session)
        .execute(&mut *connection)
        .await?;
    let bodies: Vec<String> =
        sqlx::query_scalar("SELECT body FROM events WHERE session_id = ? AND instr(body, char(1)) > 0")
            .bind(session)
            .fetch_all(&mut *connection)
            .await?;
    for hash in bodies.iter().flat_map(|body| blob::hashes_in(body)) {
        let found: Option<i64> = sqlx::query_scalar("SELECT id FROM blobs WHERE hash = unhex(?)")
            .bind(hash)
            .fetch_optional(&mut *connection)
            .await?;
        if let Some(id) = found {
            blob::use_by(connection, session, id).await?;
        }
    }
    Ok(())
}

async fn drop_unused(connection: &mut SqliteConnection, blobs: &[i64]) -> Result<(), sqlx::Error> {
    if blobs.is_empty() {
        return Ok(());
    }
    sqlx::query(
        "DELETE FROM blobs WHERE id IN (SELECT value FROM json_each(?))
            AND NOT EXISTS (SELECT 1 FROM blob_uses WHERE blob = blobs.id)",
    )
    .bind(serde_json::Value::from(blobs).to_string())
    .execute(connection)
    .await
    .map(drop)
}
