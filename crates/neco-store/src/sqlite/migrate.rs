//! Brings the tables of a database up to date. Forward only; one transaction a step.

use std::path::Path;
use std::time::Duration;

use sqlx::{AssertSqlSafe, SqliteConnection};

use super::failure;
use crate::error::StoreError;

/// Step `n` leads from version `n` to `n + 1`. A step that was released is never changed.
pub(super) const STEPS: &[&str] =
    &[include_str!("migrations/0001_sessions_and_events.sql"), include_str!("migrations/0002_forks_and_blobs.sql")];

/// "Neco" in ASCII, as the first step sets it.
const APPLICATION_ID: i64 = 0x4e65_636f;

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
