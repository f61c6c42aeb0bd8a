//! The index: what changed goes in, entries and their text scores come out.

use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use sqlx::sqlite::SqliteRow;
use sqlx::{Connection, FromRow as _, Row, SqliteConnection};
use tokio::sync::{MappedMutexGuard, Mutex, MutexGuard};

use super::open;
use super::segment::{query_of, words_of};
use crate::error::StoreError;
use crate::sqlite::failure;

/// A hit in the title counts most, then tags and summary, then the text.
const SEARCH: &str = "SELECT folder, file, -bm25(words, 6.0, 3.0, 4.0, 1.0) AS score
    FROM words JOIN entries ON entries.key = words.rowid
    WHERE words MATCH ? AND folder IN (SELECT value FROM json_each(?))
    ORDER BY score DESC, folder, file LIMIT ?";

/// Most entries that a search scores.
const MOST_HITS: i64 = 500;

/// How often something is tried again.
const MOST_TRIES: u32 = 2;

/// Why the index did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the index of the memory failed: {0}")]
pub struct IndexError(String);

impl From<sqlx::Error> for IndexError {
    fn from(error: sqlx::Error) -> Self {
        Self(error.to_string())
    }
}

impl From<StoreError> for IndexError {
    fn from(error: StoreError) -> Self {
        Self(error.to_string())
    }
}

/// The index of all folders of the memory that this person has.
pub struct MemoryIndex {
    path: PathBuf,
    connection: Mutex<Option<SqliteConnection>>,
    opened: AtomicU64,
}

/// Runs something on the connection until it succeeds, or fails after all that helps was done.
macro_rules! tried {
    ($index:expr, $connection:ident, $run:expr) => {{
        let mut tries = 0;
        loop {
            let mut $connection = $index.open().await?;
            match $run.await {
                Ok(outcome) => return Ok(outcome),
                Err(error) => $index.recover($connection, error, &mut tries).await?,
            }
        }
    }};
}

impl MemoryIndex {
    /// The index in the file `path`, which is opened when it is first needed.
    pub fn new(path: PathBuf) -> Self {
        Self { path, connection: Mutex::new(None), opened: AtomicU64::new(0) }
    }

    /// How often it was opened: what was known before may be gone after another opening.
    pub fn times_opened(&self) -> u64 {
        self.opened.load(Ordering::Relaxed)
    }

    /// What is known of the files of a folder, by name.
    /// Fails when SQLite fails even after the index was made anew.
    pub async fn files(&self, folder: &str) -> Result<Vec<(String, FileStamp)>, IndexError> {
        tried!(self, connection, read_files(&mut connection, folder))
    }

    /// Takes in what changed in a folder: new and changed files, and those that are gone.
    /// Fails as [`MemoryIndex::files`].
    pub async fn apply(&self, folder: &str, changed: &[NewRecord], gone: &[String]) -> Result<(), IndexError> {
        if changed.is_empty() && gone.is_empty() {
            return Ok(());
        }
        tried!(self, connection, write(&mut connection, folder, changed, gone))
    }

    /// Every entry of these folders, in the order of the folders and of the files' names.
    /// Fails as [`MemoryIndex::files`].
    pub async fn entries(&self, folders: &[String]) -> Result<Vec<Record>, IndexError> {
        tried!(self, connection, read_entries(&mut connection, folders))
    }

    /// How well entries fit a question, by folder and file; only those that fit at all, the best first.
    /// More is better; only the relation of two scores of one search means something.
    /// Fails as [`MemoryIndex::files`].
    pub async fn scores(&self, folders: &[String], question: &str) -> Result<Vec<((String, String), f64)>, IndexError> {
        let Some(query) = query_of(question) else { return Ok(Vec::new()) };
        tried!(self, connection, read_scores(&mut connection, folders, &query))
    }

    /// Counts that an entry was of use.
    /// Fails as [`MemoryIndex::files`].
    pub async fn count_use(&self, folder: &str, id: &str, now_ms: i64) -> Result<(), IndexError> {
        tried!(self, connection, write_use(&mut connection, folder, id, now_ms))
    }

    /// Closes the file, if it is open; whoever comes next opens it again.
    pub async fn close(&self) {
        if let Some(connection) = self.connection.lock().await.take()
            && let Err(error) = connection.close().await
        {
            tracing::warn!(%error, "the index of the memory is not closed");
        }
    }

    /// The connection, opened when it is not.
    async fn open(&self) -> Result<MappedMutexGuard<'_, SqliteConnection>, IndexError> {
        let mut slot = self.connection.lock().await;
        if slot.is_none() {
            self.opened.fetch_add(1, Ordering::Relaxed);
            *slot = Some(open::open_or_make(&self.path).await?);
        }
        MutexGuard::try_map(slot, Option::as_mut).map_err(|_| IndexError("it is not open".to_owned()))
    }

    /// After a failure everything is tried again with a fresh connection, a damaged file is removed
    /// before that; what fails again and again is told.
    async fn recover(
        &self,
        connection: MappedMutexGuard<'_, SqliteConnection>,
        error: sqlx::Error,
        tries: &mut u32,
    ) -> Result<(), IndexError> {
        drop(connection);
        *tries += 1;
        *self.connection.lock().await = None;
        if *tries > MOST_TRIES {
            return Err(error.into());
        }
        tracing::warn!(%error, "the index of the memory is opened again");
        if failure::is_damage(&error) {
            open::remove(&self.path).await;
        }
        Ok(())
    }
}

async fn read_files(connection: &mut SqliteConnection, folder: &str) -> Result<Vec<(String, FileStamp)>, sqlx::Error> {
    let rows = sql!(
        query.fetch_all(connection),
        "SELECT file, modified_ns, size, hash, read_ns FROM entries WHERE folder = ? ORDER BY file",
        (folder)
    )?;
    rows.iter().map(|row| Ok((row.try_get("file")?, FileStamp::from_row(row)?))).collect()
}

async fn read_entries(connection: &mut SqliteConnection, folders: &[String]) -> Result<Vec<Record>, sqlx::Error> {
    let mut all = Vec::new();
    for folder in folders {
        let rows = sql!(
            query.fetch_all(&mut *connection),
            "SELECT entries.*, coalesce(uses.uses, 0) AS uses, coalesce(uses.last_ms, 0) AS last_ms
             FROM entries LEFT JOIN uses USING (folder, id) WHERE folder = ? ORDER BY file",
            (folder)
        )?;
        for row in &rows {
            all.push(record_of(row)?);
        }
    }
    Ok(all)
}

async fn read_scores(
    connection: &mut SqliteConnection,
    folders: &[String],
    query: &str,
) -> Result<Vec<((String, String), f64)>, sqlx::Error> {
    let rows =
        sql!(query.fetch_all(connection), SEARCH, (query, serde_json::Value::from(folders).to_string(), MOST_HITS))?;
    rows.iter().map(|row| Ok(((row.try_get("folder")?, row.try_get("file")?), row.try_get("score")?))).collect()
}

async fn write_use(connection: &mut SqliteConnection, folder: &str, id: &str, now_ms: i64) -> Result<(), sqlx::Error> {
    let counted = sqlx::query(
        "INSERT INTO uses (folder, id, uses, last_ms) VALUES (?, ?, 1, ?) ON CONFLICT (folder, id)
         DO UPDATE SET uses = uses + 1, last_ms = max(last_ms, excluded.last_ms)",
    );
    counted.bind(folder).bind(id).bind(now_ms).execute(connection).await.map(drop)
}

async fn write(
    connection: &mut SqliteConnection,
    folder: &str,
    changed: &[NewRecord],
    gone: &[String],
) -> Result<(), sqlx::Error> {
    // Rolled back when it is dropped: whoever asks may be cancelled in the middle of it.
    let mut transaction = connection.begin_with("BEGIN IMMEDIATE").await?;
    write_rows(&mut transaction, folder, changed, gone).await?;
    transaction.commit().await
}

async fn write_rows(
    connection: &mut SqliteConnection,
    folder: &str,
    changed: &[NewRecord],
    gone: &[String],
) -> Result<(), sqlx::Error> {
    for file in gone.iter().chain(changed.iter().map(|new| &new.record.file)) {
        sql!(
            query.execute(&mut *connection),
            "DELETE FROM words WHERE rowid IN (SELECT key FROM entries WHERE folder = ? AND file = ?)",
            (folder, file)
        )?;
        sql!(query.execute(&mut *connection), "DELETE FROM entries WHERE folder = ? AND file = ?", (folder, file))?;
    }
    for new in changed {
        insert(connection, folder, new).await?;
    }
    Ok(())
}

async fn insert(connection: &mut SqliteConnection, folder: &str, new: &NewRecord) -> Result<(), sqlx::Error> {
    let Record { file, stamp, id, title, summary, category, topic, tags, source, reach, created_ms, trouble, .. } =
        &new.record;
    let tags = tags.join("\n");
    let inserted = sql!(
        query.execute(&mut *connection),
        "INSERT INTO entries (folder, file, modified_ns, size, hash, read_ns, id, title, summary, category, topic,
            tags, source, reach, created_ms, trouble) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            folder,
            file,
            stamp.modified_ns,
            stamp.size,
            &stamp.hash,
            stamp.read_ns,
            id,
            title,
            summary,
            category,
            topic,
            &tags,
            source,
            reach,
            created_ms,
            trouble
        )
    )?;
    sql!(
        query.execute(&mut *connection),
        "INSERT INTO words (rowid, title, summary, tags, body) VALUES (?, ?, ?, ?, ?)",
        (
            inserted.last_insert_rowid(),
            words_of(title),
            words_of(summary),
            words_of(&format!("{tags}\n{topic}")),
            words_of(&new.body)
        )
    )?;
    Ok(())
}

from_row!(FileStamp { modified_ns, size, hash, read_ns });

fn record_of(row: &SqliteRow) -> Result<Record, sqlx::Error> {
    let tags: String = row.try_get("tags")?;
    let stamp = FileStamp::from_row(row)?;
    Ok(Record {
        folder: row.try_get("folder")?,
        file: row.try_get("file")?,
        stamp,
        id: row.try_get("id")?,
        title: row.try_get("title")?,
        summary: row.try_get("summary")?,
        category: row.try_get("category")?,
        topic: row.try_get("topic")?,
        tags: tags.lines().map(str::to_owned).collect(),
        source: row.try_get("source")?,
        reach: row.try_get("reach")?,
        created_ms: row.try_get("created_ms")?,
        trouble: row.try_get("trouble")?,
        uses: row.try_get("uses")?,
        last_ms: row.try_get("last_ms")?,
    })
}

/// What tells one state of a file from another.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileStamp {
    /// When it was last written, in nanoseconds since 1970.
    pub modified_ns: i64,
    /// Its bytes.
    pub size: i64,
    /// A hash of its content.
    pub hash: Vec<u8>,
    /// When it was read: a file that was written in the same moment may have been written again since.
    pub read_ns: i64,
}

/// An entry of the memory, as the index has it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Record {
    /// The folder of its file.
    pub folder: String,
    /// The file's name in the folder.
    pub file: String,
    /// The file's state when it was read.
    pub stamp: FileStamp,
    /// The id that the file says.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// The same in a sentence or two.
    pub summary: String,
    /// Its kind.
    pub category: String,
    /// What a solution is about; else empty.
    pub topic: String,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// Who wrote it.
    pub source: String,
    /// The folder that it is about; empty when it is not about one.
    pub reach: String,
    /// When it was made, in milliseconds since 1970.
    pub created_ms: i64,
    /// What is wrong with its file; empty when nothing is.
    pub trouble: String,
    /// How often it was of use.
    pub uses: i64,
    /// When it last was, in milliseconds since 1970; 0 for never.
    pub last_ms: i64,
}

/// An entry for the index.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NewRecord {
    /// What it says; its counts of use are not looked at.
    pub record: Record,
    /// The text that is only searched.
    pub body: String,
}
