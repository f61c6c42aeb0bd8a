//! Gives room back to the system.

use sqlx::SqliteConnection;

use super::failure;

/// From how many free bytes on, and which part of the file, writing it anew is worth it.
const WORTH_BYTES: i64 = 1 << 20;
const WORTH_PART: i64 = 10;

/// Writes the database anew if much of it is free, and empties the write-ahead log. Where somebody else is
/// at work it stays as it is: what is free is used again in any case.
pub(super) async fn shrink(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let (free, all): (i64, i64) = sqlx::query_as(
        "SELECT freelist_count * page_size, page_count * page_size
            FROM pragma_freelist_count, pragma_page_count, pragma_page_size",
    )
    .fetch_one(&mut *connection)
    .await?;
    let is_worth_it = free >= WORTH_BYTES && free >= all / WORTH_PART;
    for sql in ["VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"].into_iter().skip(usize::from(!is_worth_it)) {
        match sqlx::query(sql).execute(&mut *connection).await {
            Err(error) if failure::is_busy(&error) => return Ok(()),
            other => other.map(drop)?,
        }
    }
    Ok(())
}
