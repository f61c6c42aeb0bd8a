//! Opens the database file.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{SqliteAutoVacuum, SqliteConnectOptions, SqliteSynchronous};
use sqlx::{AssertSqlSafe, ConnectOptions, SqliteConnection};

use super::failure;
use crate::error::StoreError;
use crate::private;

/// How long another process may hold the write lock.
const BUSY_TIMEOUT: Duration = Duration::from_secs(10);

/// Opens the database for writing; makes it, and the folders above it, when it is not there.
pub(super) async fn open(path: &Path) -> Result<SqliteConnection, StoreError> {
    // FULL: with anything less a loss of power can undo a commit that was answered.
    open_with(path, SqliteSynchronous::Full, STEPS).await
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
    bring_up_to_date(&mut connection, path, steps).await?;
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

/// Step `n` leads from version `n` to `n + 1`. A step that was released is never changed.
pub(super) const STEPS: &[&str] = &[
    include_str!("migrations/0001_sessions_and_events.sql"),
    include_str!("migrations/0002_forks_and_blobs.sql"),
    include_str!("migrations/0003_messages.sql"),
];

/// "Neco" in ASCII, as the first step sets it.
pub(super) const APPLICATION_ID: i64 = 0x4e65_636f;

const BUSY_ATTEMPTS: u32 = 500;
const BUSY_PAUSE: Duration = Duration::from_millis(10);

/// What a database says about itself.
struct Header {
    version: i64,
    application: i64,
    tables: i64,
}

/// Makes sure that the database is ours and has the tables that all `steps` make; writes only when it
/// is older.
pub(crate) async fn bring_up_to_date(
    connection: &mut SqliteConnection,
    path: &Path,
    steps: &'static [&'static str],
) -> Result<(), StoreError> {
    let header = read_header(connection).await.map_err(|error| failure::reading(path, &error))?;
    let is_new = header.version == 0 && header.tables == 0;
    if !is_new && header.application != APPLICATION_ID {
        return Err(StoreError::Foreign { path: path.display().to_string() });
    }
    let done = usize::try_from(header.version).unwrap_or(usize::MAX);
    if done > steps.len() {
        return Err(StoreError::TooNew { path: path.display().to_string() });
    }
    if done < steps.len() {
        migrate(connection, steps).await.map_err(|error| failure::writing(path, &error))?;
    }
    Ok(())
}

async fn read_header(connection: &mut SqliteConnection) -> Result<Header, sqlx::Error> {
    let (version, application, tables) = sql!(
        query_as.fetch_one(connection),
        "SELECT (SELECT user_version FROM pragma_user_version),
                (SELECT application_id FROM pragma_application_id),
                (SELECT count(*) FROM sqlite_schema)"
    )?;
    Ok(Header { version, application, tables })
}

async fn migrate(connection: &mut SqliteConnection, steps: &'static [&'static str]) -> Result<(), sqlx::Error> {
    use_write_ahead_log(connection).await?;
    for (version, step) in (1i64..).zip(steps) {
        sql!(query.execute(&mut *connection), "BEGIN IMMEDIATE")?;
        // Another process may have been faster; the lock is held now, so this answer stays true.
        if read_header(connection).await?.version < version {
            sqlx::raw_sql(*step).execute(&mut *connection).await?;
            let mark = format!("PRAGMA user_version = {version}");
            sqlx::raw_sql(AssertSqlSafe(mark)).execute(&mut *connection).await?;
        }
        sql!(query.execute(&mut *connection), "COMMIT")?;
    }
    Ok(())
}

/// The mode is kept in the file, so it is set only once. SQLite does not wait for the lock that
/// this takes, however long its busy timeout is.
async fn use_write_ahead_log(connection: &mut SqliteConnection) -> Result<(), sqlx::Error> {
    let mut attempt = 0;
    loop {
        match sql!(query.execute(&mut *connection), "PRAGMA journal_mode = WAL") {
            Err(error) if failure::is_busy(&error) && attempt < BUSY_ATTEMPTS => attempt += 1,
            other => return other.map(drop),
        }
        tokio::time::sleep(BUSY_PAUSE).await;
    }
}
