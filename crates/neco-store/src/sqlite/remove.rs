//! Removing a session without taking what its forks need.

use std::time::{Duration, Instant};

use neco_proto::SessionId;
use sqlx::{AssertSqlSafe, SqliteConnection};
use uuid::Uuid;

use super::{blob, failure};
use crate::error::StoreError;

/// Events, and big strings, that go at a time on a full disk; and the fewest.
const BIT: i64 = 256;
const FEWEST: i64 = 4;

/// Removes a session, inside a transaction.
pub(super) async fn remove(
    connection: &mut SqliteConnection,
    session: SessionId,
) -> Result<Result<(), StoreError>, sqlx::Error> {
    if !mark_removed(connection, session).await? {
        return Ok(Err(StoreError::UnknownSession { session }));
    }
    let mut next = Some(session.as_uuid());
    while let Some(removed) = next {
        next = release(connection, removed).await?;
    }
    Ok(Ok(()))
}

/// Removes a session on a disk that is as good as full: in small transactions, each of which makes room for the next
/// one. Whoever is killed in between leaves a session that counts as removed, and the rest goes with the next one.
pub(super) async fn remove_bit_by_bit(
    connection: &mut SqliteConnection,
    session: SessionId,
) -> Result<Result<(), StoreError>, sqlx::Error> {
    // What would be overwritten needs room of its own: as far as it costs none.
    sql!(query.execute(&mut *connection), "PRAGMA secure_delete = FAST")?;
    let removed = bit_by_bit(connection, session).await;
    sql!(query.execute(connection), "PRAGMA secure_delete = ON")?;
    removed
}

/// Whether there was such a session.
async fn mark_removed(connection: &mut SqliteConnection, session: SessionId) -> Result<bool, sqlx::Error> {
    let mark = sqlx::query("UPDATE sessions SET is_removed = 1 WHERE id = ? AND NOT is_removed");
    Ok(mark.bind(session.as_uuid()).execute(connection).await?.rows_affected() > 0)
}

async fn bit_by_bit(
    connection: &mut SqliteConnection,
    session: SessionId,
) -> Result<Result<(), StoreError>, sqlx::Error> {
    // This may fail where there is very little room; then what is removed comes first.
    let _ = empty_log(connection).await;
    if !mark_removed(connection, session).await? {
        return Ok(Err(StoreError::UnknownSession { session }));
    }
    let mut next = Some(session.as_uuid());
    while let Some(removed) = next {
        let released = match shorten_all(connection, removed).await {
            Ok(()) => in_transaction(connection, removed).await,
            Err(error) => Err(error),
        };
        match released {
            Ok(parent) => next = parent,
            Err(error) => {
                // It is removed; what is left of it goes as soon as something else is removed.
                tracing::warn!(reason = failure::plain(&error), "a removed session still takes room");
                break;
            }
        }
    }
    Ok(Ok(()))
}

/// Takes everything from a session that was removed but what forks need, a bit at a time.
async fn shorten_all(connection: &mut SqliteConnection, session: Uuid) -> Result<(), sqlx::Error> {
    let mut bit = BIT;
    loop {
        match shorten_a_bit(connection, session, bit).await {
            Ok(true) => {
                let _ = give_back_a_bit(connection).await;
                let _ = empty_log(connection).await;
            }
            Ok(false) => return Ok(()),
            Err(error) => {
                let _ = sql!(query.execute(&mut *connection), "ROLLBACK");
                if bit <= FEWEST || !failure::is_full(&failure::plain(&error)) {
                    return Err(error);
                }
                bit /= 2;
            }
        }
    }
}

async fn in_transaction(connection: &mut SqliteConnection, session: Uuid) -> Result<Option<Uuid>, sqlx::Error> {
    sql!(query.execute(&mut *connection), "BEGIN IMMEDIATE")?;
    let released = async {
        let released = release(connection, session).await?;
        sql!(query.execute(&mut *connection), "COMMIT")?;
        Ok(released)
    };
    let released = released.await;
    if released.is_err() {
        // SQLite may have rolled back already.
        let _ = sql!(query.execute(connection), "ROLLBACK");
    }
    released
}

/// Takes the last few events, and a few big strings that only they have, from a session that was removed; whether there
/// were any.
async fn shorten_a_bit(connection: &mut SqliteConnection, session: Uuid, bit: i64) -> Result<bool, sqlx::Error> {
    sql!(query.execute(&mut *connection), "BEGIN IMMEDIATE")?;
    let (last, floor, forks): (i64, i64, i64) = sql!(
        query_as.fetch_one(&mut *connection),
        "SELECT last_seq, max(parent_seq, coalesce((SELECT max(parent_seq) FROM sessions WHERE parent_id = ?1), 0)),
            (SELECT count(*) FROM sessions WHERE parent_id = ?1) FROM sessions WHERE id = ?1",
        (session)
    )?;
    let end = floor.max(last - bit);
    sql!(query.execute(&mut *connection), "DELETE FROM events WHERE session_id = ? AND seq > ?", (session, end))?;
    sql!(query.execute(&mut *connection), "UPDATE sessions SET last_seq = ? WHERE id = ?", (end, session))?;
    // Which of them forks need is looked at when the rest is let go.
    let had: Vec<i64> = match forks {
        0 => sql!(
            query_scalar.fetch_all(&mut *connection),
            "DELETE FROM blob_uses WHERE session_id = ?1 AND blob IN
                (SELECT blob FROM blob_uses WHERE session_id = ?1 LIMIT ?2) RETURNING blob",
            (session, bit / 8)
        )?,
        _ => Vec::new(),
    };
    drop_unused(connection, &had).await?;
    sql!(query.execute(connection), "COMMIT")?;
    Ok(end < last || !had.is_empty())
}

/// Lets go of what is left of removed sessions that no fork needs: of some that there was no room to remove whole.
pub(super) async fn release_left(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let left: Vec<Uuid> = sql!(
        query_scalar.fetch_all(&mut *connection),
        "SELECT id FROM sessions AS own WHERE is_removed
            AND NOT EXISTS (SELECT 1 FROM sessions WHERE parent_id = own.id)"
    )?;
    for session in left {
        let mut next = Some(session);
        while let Some(removed) = next {
            next = in_transaction(connection, removed).await?;
        }
    }
    Ok(())
}

/// Lets go of what nobody needs of a session that was removed. When nothing is needed the session is gone,
/// and its parent, which may now be needed less, is given.
async fn release(connection: &mut SqliteConnection, session: Uuid) -> Result<Option<Uuid>, sqlx::Error> {
    let found: Option<(Option<Uuid>, i64)> = sql!(
        query_as.fetch_optional(&mut *connection),
        "SELECT parent_id, parent_seq FROM sessions WHERE id = ? AND is_removed",
        (session)
    )?;
    let Some((parent, base)) = found else { return Ok(None) };
    // Forks of the part that it has from its own parent are that one's forks as well.
    sql!(
        query.execute(&mut *connection),
        "UPDATE sessions SET parent_id = ?1, parent_seq = iif(?1 IS NULL, 0, parent_seq)
            WHERE parent_id = ?2 AND parent_seq <= ?3",
        (parent, session, base)
    )?;
    let needed: Option<i64> = sql!(
        query_scalar.fetch_one(&mut *connection),
        "SELECT max(parent_seq) FROM sessions WHERE parent_id = ?",
        (session)
    )?;
    let had: Vec<i64> =
        sql!(query_scalar.fetch_all(&mut *connection), "SELECT blob FROM blob_uses WHERE session_id = ?", (session))?;
    for sql in [
        "DELETE FROM events WHERE session_id = ?1 AND seq > coalesce(?2, 0)",
        "DELETE FROM blob_uses WHERE session_id = ?1 AND coalesce(?2, 0) >= 0",
    ] {
        sql!(query.execute(&mut *connection), sql, (session, needed))?;
    }
    match needed {
        Some(last) => shorten(connection, session, last).await?,
        None => {
            sql!(query.execute(&mut *connection), "DELETE FROM sessions WHERE id = ?", (session))?;
        }
    }
    drop_unused(connection, &had).await?;
    Ok(parent.filter(|_| needed.is_none()))
}

/// The session ends at `last`; notes which blobs it still has.
async fn shorten(connection: &mut SqliteConnection, session: Uuid, last: i64) -> Result<(), sqlx::Error> {
    sql!(
        query.execute(&mut *connection),
        "UPDATE sessions SET last_seq = ?, title = '' WHERE id = ?",
        (last, session)
    )?;
    let bodies: Vec<String> = sql!(
        query_scalar.fetch_all(&mut *connection),
        "SELECT body FROM events WHERE session_id = ? AND instr(body, char(1)) > 0",
        (session)
    )?;
    for hash in bodies.iter().flat_map(|body| blob::hashes_in(body)) {
        let found: Option<i64> =
            sql!(query_scalar.fetch_optional(&mut *connection), "SELECT id FROM blobs WHERE hash = unhex(?)", (hash))?;
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
    sql!(
        query.execute(connection),
        "DELETE FROM blobs WHERE id IN (SELECT value FROM json_each(?))
            AND NOT EXISTS (SELECT 1 FROM blob_uses WHERE blob = blobs.id)",
        (serde_json::Value::from(blobs).to_string())
    )
    .map(drop)
}

/// From how many free bytes on, and which part of the file, writing it anew is worth it.
const WORTH_BYTES: i64 = 1 << 20;
const WORTH_PART: i64 = 10;
/// Pages that are given back at a time where it is not written anew, and on a disk that is nearly full.
const PAGES: usize = 4096;
const FEW_PAGES: usize = 64;
/// How long others may have to wait for that; the rest is free for what comes next, and goes the next time.
const PATIENCE: Duration = Duration::from_secs(1);

/// Writes the database anew if much of it is free and nobody else has it open; they would wait as long as it takes.
/// Where somebody has, or there is no room for that, it is given back bit by bit. Empties the write-ahead log.
pub(super) async fn shrink(connection: &mut SqliteConnection, alone: bool) -> Result<(), sqlx::Error> {
    let (free, all) = free_of_all(connection).await?;
    let is_worth_it = alone && free >= WORTH_BYTES && free >= all / WORTH_PART;
    if is_worth_it && let Err(error) = write_anew(connection).await {
        tracing::info!(reason = failure::plain(&error), "the session store is not written anew");
    }
    let given_back = match give_back(connection, PAGES).await {
        Err(error) if failure::is_full(&failure::plain(&error)) => give_back_a_bit(connection).await,
        other => other,
    };
    if let Err(error) = given_back {
        tracing::info!(reason = failure::plain(&error), "the session store is not made smaller");
    }
    empty_log(connection).await
}

/// From then on room can be given back bit by bit, should it have been begun by an older version.
async fn write_anew(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    for sql in ["PRAGMA auto_vacuum = INCREMENTAL", "VACUUM"] {
        sql!(query.execute(&mut *connection), sql)?;
    }
    Ok(())
}

/// Gives back what is free, bit by bit. A database that was begun by an older version keeps it for what comes next,
/// until it is once written anew.
async fn give_back(connection: &mut SqliteConnection, pages: usize) -> Result<(), sqlx::Error> {
    let begun = Instant::now();
    let (mut free, _) = free_of_all(connection).await?;
    while free > 0 && begun.elapsed() < PATIENCE {
        let bit = format!("PRAGMA incremental_vacuum({pages})");
        sql!(query.execute(&mut *connection), AssertSqlSafe(bit))?;
        empty_log(connection).await?;
        let (left, _) = free_of_all(connection).await?;
        if left >= free {
            break;
        }
        free = left;
    }
    Ok(())
}

/// The same in steps that a disk has room for that is nearly full.
pub(super) async fn give_back_a_bit(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    give_back(connection, FEW_PAGES).await
}

/// Moves what waits in the write-ahead log into the database, unless somebody reads it just now.
pub(super) async fn empty_log(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    match sql!(query.execute(&mut *connection), "PRAGMA wal_checkpoint(TRUNCATE)") {
        Err(error) if failure::is_busy(&error) => Ok(()),
        other => other.map(drop),
    }
}

/// Bytes that are free in the file, and bytes of the file.
async fn free_of_all(connection: &mut SqliteConnection) -> Result<(i64, i64), sqlx::Error> {
    sql!(
        query_as.fetch_one(&mut *connection),
        "SELECT freelist_count * page_size, page_count * page_size
            FROM pragma_freelist_count, pragma_page_count, pragma_page_size"
    )
}
