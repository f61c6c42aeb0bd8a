//! How much the database holds and how much room it takes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use sqlx::SqliteConnection;

use crate::size::StoreSizes;

/// What SQLite keeps beside a database.
const SIDES: [&str; 3] = ["", "-wal", "-shm"];

/// How much the database at `path` holds.
pub(super) async fn of(connection: &mut SqliteConnection, path: &Path) -> Result<StoreSizes, sqlx::Error> {
    let (sessions, forks, kept_for_forks, events): (i64, i64, i64, i64) = sqlx::query_as(
        "SELECT coalesce(sum(NOT is_removed), 0), coalesce(sum(NOT is_removed AND parent_id IS NOT NULL), 0),
                coalesce(sum(is_removed), 0), coalesce(sum(last_seq - parent_seq), 0) FROM sessions",
    )
    .fetch_one(&mut *connection)
    .await?;
    let (blobs, blob_bytes, blob_stored_bytes): (i64, i64, i64) =
        sqlx::query_as("SELECT count(*), coalesce(sum(size), 0), coalesce(sum(length(content)), 0) FROM blobs")
            .fetch_one(&mut *connection)
            .await?;
    let free_bytes: i64 =
        sqlx::query_scalar("SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size")
            .fetch_one(connection)
            .await?;
    Ok(StoreSizes {
        sessions: sessions.cast_unsigned(),
        forks: forks.cast_unsigned(),
        kept_for_forks: kept_for_forks.cast_unsigned(),
        events: events.cast_unsigned(),
        blobs: blobs.cast_unsigned(),
        blob_bytes: blob_bytes.cast_unsigned(),
        blob_stored_bytes: blob_stored_bytes.cast_unsigned(),
        file_bytes: bytes_of(path),
        search_bytes: 0,
        free_bytes: free_bytes.cast_unsigned(),
    })
}

/// The bytes of a database and what lies beside it.
pub(super) fn bytes_of(path: &Path) -> u64 {
    files_of(path).iter().filter_map(|file| std::fs::metadata(file).ok()).map(|file| file.len()).sum()
}

/// A database and what lies beside it.
pub(super) fn files_of(path: &Path) -> [PathBuf; 3] {
    SIDES.map(|side| {
        let mut name = OsString::from(path);
        name.push(side);
        PathBuf::from(name)
    })
}
