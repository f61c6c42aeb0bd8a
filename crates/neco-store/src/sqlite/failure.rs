//! What an error of SQLite means for the caller.

use std::fmt::Display;
use std::path::Path;

use libsqlite3_sys::{SQLITE_BUSY, SQLITE_CORRUPT, SQLITE_NOTADB};

use neco_proto::Seq;

use crate::error::StoreError;

/// An error met while the database was read or opened.
pub(super) fn reading(path: &Path, error: &sqlx::Error) -> StoreError {
    let reason = plain(error);
    let otherwise = if is_full(&reason) { StoreError::Write } else { StoreError::Read };
    damaged(path, error).unwrap_or_else(|| otherwise(with_path(path, &reason)))
}

/// An error met while the database was written.
pub(super) fn writing(path: &Path, error: &sqlx::Error) -> StoreError {
    damaged(path, error).unwrap_or_else(|| StoreError::Write(with_path(path, &plain(error))))
}

/// A log that has a gap.
pub(super) fn missing(path: &Path, seq: Seq) -> StoreError {
    StoreError::Damaged { path: path.display().to_string(), reason: format!("event {seq} of a session is missing") }
}

/// Something that nobody has written so.
pub(super) fn broken(path: &Path, reason: &str) -> StoreError {
    StoreError::Damaged { path: path.display().to_string(), reason: reason.to_owned() }
}

/// `reason` with the file it is about in front.
pub(super) fn with_path(path: &Path, reason: &dyn Display) -> String {
    format!("{}: {reason}", path.display())
}

/// Whether another connection holds the lock that was needed.
pub(super) fn is_busy(error: &sqlx::Error) -> bool {
    primary_code(error) == Some(SQLITE_BUSY)
}

/// Whether the file is no database or a broken one.
pub(crate) fn is_damage(error: &sqlx::Error) -> bool {
    let is_no_text = matches!(error, sqlx::Error::ColumnDecode { .. } | sqlx::Error::Decode(_));
    is_no_text || matches!(primary_code(error), Some(SQLITE_NOTADB | SQLITE_CORRUPT))
}

/// Whether a reason is that the disk is full.
pub(super) fn is_full(reason: &str) -> bool {
    reason.contains("disk is full") || reason.contains("No space left")
}

/// Whether something could not be written because the disk is full.
pub(super) fn is_full_disk(error: &StoreError) -> bool {
    matches!(error, StoreError::Write(reason) if is_full(reason))
}

fn damaged(path: &Path, error: &sqlx::Error) -> Option<StoreError> {
    is_damage(error).then(|| StoreError::Damaged { path: path.display().to_string(), reason: plain(error) })
}

/// SQLite's result code without the particulars in its upper bits.
fn primary_code(error: &sqlx::Error) -> Option<i32> {
    let code: i32 = error.as_database_error()?.code()?.parse().ok()?;
    Some(code & 0xff)
}

/// What SQLite says.
pub(super) fn plain(error: &sqlx::Error) -> String {
    match error.as_database_error() {
        Some(error) => error.message().to_owned(),
        None => error.to_string(),
    }
}
