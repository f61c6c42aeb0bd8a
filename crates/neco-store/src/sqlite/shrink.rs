//! Gives room back to the system.

use sqlx::SqliteConnection;

use super::failure;

/// From how many free bytes on, and which part of the file, writing it anew is worth it.
const WORTH_BYTES: i64 = 1 << 20;
const WORTH_PART: i64 = 10;

/// Writes the database anew if much of it is free and nobody else has it open, and empties the write-ahead log.
/// Where somebody has, or there is no room for that, it stays as it is: they would wait as long as it takes, and
/// what is free is used again in any case.
pub(super) async fn shrink(connection: &mut SqliteConnection, alone: bool) -> Result<(), sqlx::Error> {
    let (free, all): (i64, i64) = sqlx::query_as(
        "SELECT freelist_count * page_size, page_count * page_size
            FROM pragma_freelist_count, pragma_page_count, pragma_page_size",
    )
    .fetch_one(&mut *connection)
    .await?;
    let is_worth_it = alone && free >= WORTH_BYTES && free >= all / WORTH_PART;
    if is_worth_it && let Err(error) = sqlx::query("VACUUM").execute(&mut *connection).await {
        tracing::info!(reason = failure::plain(&error), "the session store is not made smaller");
    }
    match sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut *connection).await {
        Err(error) if failure::is_busy(&error) => Ok(()),
        other => other.map(drop),
    }
}
