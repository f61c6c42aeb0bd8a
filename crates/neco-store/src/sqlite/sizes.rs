//! How much the database holds and how much room it takes.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use neco_proto::SessionId;
use sqlx::SqliteConnection;
use uuid::Uuid;

use crate::size::StoreSizes;

/// What SQLite keeps beside a database.
const SIDES: [&str; 3] = ["", "-wal", "-shm"];

/// How much the database at `path` holds.
pub(super) async fn of(connection: &mut SqliteConnection, path: &Path) -> Result<StoreSizes, sqlx::Error> {
    let (sessions, forks, kept_for_forks, events): (i64, i64, i64, i64) = sql!(
        query_as.fetch_one(&mut *connection),
        "SELECT coalesce(sum(NOT is_removed), 0), coalesce(sum(NOT is_removed AND parent_id IS NOT NULL), 0),
                coalesce(sum(is_removed), 0), coalesce(sum(last_seq - parent_seq), 0) FROM sessions"
    )?;
    let (blobs, blob_bytes, blob_stored_bytes): (i64, i64, i64) = sql!(
        query_as.fetch_one(&mut *connection),
        "SELECT count(*), coalesce(sum(size), 0), coalesce(sum(length(content)), 0) FROM blobs"
    )?;
    let free_bytes: i64 = sql!(
        query_scalar.fetch_one(connection),
        "SELECT freelist_count * page_size FROM pragma_freelist_count, pragma_page_size"
    )?;
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
        reserve_bytes: 0,
        free_bytes: free_bytes.cast_unsigned(),
    })
}

/// The bytes that would go with each of `sessions` if all of them went: its own events but for those that other forks
/// need, and big strings that it alone has.
pub(super) async fn of_each(
    connection: &mut SqliteConnection,
    sessions: impl Iterator<Item = SessionId>,
) -> Result<HashMap<SessionId, u64>, sqlx::Error> {
    let ids: Vec<String> = sessions.map(|session| session.as_uuid().simple().to_string()).collect();
    let rows: Vec<(Uuid, i64)> = sql!(
        query_as.fetch_all(connection),
        "WITH going (id) AS MATERIALIZED (SELECT unhex(value) FROM json_each(?))
         SELECT id,
             (SELECT coalesce(sum(octet_length(kind) + octet_length(body) + 24), 0) FROM events
                 WHERE session_id = going.id AND seq > coalesce((SELECT max(parent_seq) FROM sessions
                     WHERE parent_id = going.id AND id NOT IN (SELECT id FROM going)), 0))
             + (SELECT coalesce(sum(octet_length(content)), 0) FROM blob_uses AS own JOIN blobs ON blobs.id = own.blob
                 WHERE own.session_id = going.id AND NOT EXISTS
                     (SELECT 1 FROM blob_uses WHERE blob = own.blob AND session_id <> own.session_id))
         FROM going",
        (serde_json::Value::from(ids).to_string())
    )?;
    Ok(rows.into_iter().map(|(id, bytes)| (id.into(), bytes.cast_unsigned())).collect())
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
