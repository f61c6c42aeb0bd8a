//! Opens the index; a damaged one is made anew.

use std::io;
use std::path::{Path, PathBuf};

use sqlx::sqlite::{SqliteConnectOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, SqliteConnection};

use crate::error::StoreError;
use crate::sqlite::open;

/// Step `n` leads from version `n` to `n + 1`. A step that was released is never changed.
pub(super) const STEPS: &[&str] =
    &[include_str!("migrations/0001_entries.sql"), include_str!("migrations/0002_words_kept.sql")];

/// Opens the index at `path`. What is damaged is removed and made anew; where nothing can be kept,
/// the index lives in memory, as it can be made from the files.
pub(super) async fn open_or_make(path: &Path) -> Result<SqliteConnection, StoreError> {
    let first = open_file(path).await;
    let error = match first {
        Ok(connection) => return Ok(connection),
        Err(error @ StoreError::Damaged { .. }) => {
            tracing::warn!(%error, "the index of the memory is made anew");
            remove(path).await;
            match open_file(path).await {
                Ok(connection) => return Ok(connection),
                Err(error) => error,
            }
        }
        Err(error) => error,
    };
    tracing::warn!(%error, "the index of the memory is not kept");
    in_memory().await
}

/// An index that ends with the process.
pub(super) async fn in_memory() -> Result<SqliteConnection, StoreError> {
    let failed = |error: sqlx::Error| StoreError::Read(error.to_string());
    let mut connection = SqliteConnectOptions::new().disable_statement_logging().connect().await.map_err(failed)?;
    open::bring_up_to_date(&mut connection, Path::new(":memory:"), STEPS).await?;
    Ok(connection)
}

async fn open_file(path: &Path) -> Result<SqliteConnection, StoreError> {
    // What is lost with a loss of power is read from the files again.
    open::open_with(path, SqliteSynchronous::Normal, STEPS).await
}

/// Removes the database and what lies beside it. What can't be removed shows when it is opened.
pub(super) async fn remove(path: &Path) {
    let path = path.to_owned();
    let removed = tokio::task::spawn_blocking(move || {
        for side in ["", "-wal", "-shm"] {
            remove_file(&with_suffix(&path, side));
        }
    });
    let _ = removed.await;
}

fn remove_file(path: &Path) {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(path = %path.display(), %error, "can't be removed");
        }
        Ok(()) | Err(_) => {}
    }
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}
