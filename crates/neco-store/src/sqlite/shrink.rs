//! Gives room back to the system.

use std::time::{Duration, Instant};

use sqlx::{AssertSqlSafe, SqliteConnection};

use super::failure;

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
