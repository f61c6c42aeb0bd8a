//! Opens the database file.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{SqliteAutoVacuum, SqliteConnectOptions, SqliteSynchronous};
use sqlx::{ConnectOptions, SqliteConnection};

use super::{failure, migrate};
use crate::error::StoreError;
use crate::private;

/// How long another process may hold the write lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Opens the database for writing; makes it, and the folders above it, when it is not there.
pub(super) async fn open(path: &Path) -> Result<SqliteConnection, StoreError> {
    // FULL: with anything less a loss of power can undo a commit that was answered.
    open_with(path, SqliteSynchronous::Full, migrate::STEPS).await
}

/// The same for any database of ours.
pub(crate) async fn open_with(
    path: &Path,
    synchronous: SqliteSynchronous,
    steps: &'static [&'static str],
) -> Result<SqliteConnection, StoreError> {
    let file = path.to_owned();
    let is_new = tokio::task::spawn_blocking(move || create_file(&file))
        .await
        .map_err(io::Error::other)
        .flatten()
        .map_err(|error| StoreError::Write(failure::with_path(path, &error)))?;
    let connected = connect_to_write(path, synchronous, is_new).await;
    let mut connection = connected.map_err(|error| failure::reading(path, &error))?;
    migrate::bring_up_to_date(&mut connection, path, steps).await?;
    Ok(connection)
}

/// A connection that writes to a database that is there.
pub(super) async fn connect_writer(path: &Path) -> Result<SqliteConnection, sqlx::Error> {
    connect_to_write(path, SqliteSynchronous::Full, false).await
}

async fn connect_to_write(
    path: &Path,
    synchronous: SqliteSynchronous,
    is_new: bool,
) -> Result<SqliteConnection, sqlx::Error> {
    // What is removed is overwritten, not only forgotten.
    let options = options(path).synchronous(synchronous).pragma("secure_delete", "ON");
    let options = match synchronous {
        // The sessions themselves. Their room can be given back without writing all of them anew, and what waits in
        // the write-ahead log fits into what is kept for a full disk.
        SqliteSynchronous::Full => {
            // Said of one that is there already, it would be written each time.
            let options = if is_new { options.auto_vacuum(SqliteAutoVacuum::Incremental) } else { options };
            options.pragma("wal_autocheckpoint", "200").pragma("journal_size_limit", "1048576")
        }
        SqliteSynchronous::Off | SqliteSynchronous::Normal | SqliteSynchronous::Extra => {
            options.pragma("journal_size_limit", "4194304")
        }
    };
    options.connect().await
}

/// A connection that reads a database that is there.
pub(super) async fn connect_reader(path: &Path) -> Result<SqliteConnection, sqlx::Error> {
    options(path).read_only(true).connect().await
}

fn options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .busy_timeout(BUSY_TIMEOUT)
        // In KiB when negative: a session is written once and read once, a large cache gains nothing.
        .pragma("cache_size", "-1000")
        .disable_statement_logging()
}

/// Makes an empty file, which SQLite takes for a new database, so that its permissions are right
/// from the start. SQLite gives its side files the same ones. Whether it is empty.
fn create_file(path: &PathBuf) -> io::Result<bool> {
    if let Ok(file) = std::fs::metadata(path) {
        return Ok(file.len() == 0);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    folder.map(private::create_dir_durably).transpose()?;
    match private::file_options().write(true).create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(true),
        other => other?,
    };
    // Without this a loss of power can take the name of the file, and with it what was answered since.
    folder.map_or(Ok(()), private::sync_dir)?;
    Ok(true)
}
