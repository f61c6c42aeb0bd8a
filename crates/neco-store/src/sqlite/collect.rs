//! Collects what the pages of a damaged database hold into a sound one, from which it is taken over.
//!
//! Rows are known by their shape: the ids of sessions have 16 bytes, hashes 32. Only what belongs to one of the three
//! tables that matter is taken; the rest follows from them.

use std::io;
use std::path::{Path, PathBuf};

use sqlx::SqliteConnection;
use tokio::sync::mpsc::{self, Sender};

use super::cells::{self, Value};
use super::pages::Pages;
use super::{blob, failure};
use crate::error::StoreError;

/// Pages whose rows are read ahead; rows can be long.
const AHEAD: usize = 2;
/// Values of a session, and of one of the first version.
const SESSION: usize = 13;
const FIRST_SESSION: usize = 6;
/// Values of a session that are taken over; its messages are counted again.
const TAKEN_OVER: usize = 12;
/// Bytes of the id of a session.
const ID: usize = 16;

/// A row of ours.
enum Row {
    Session(Vec<Value>),
    Event(Vec<Value>),
    Blob(Vec<Value>),
}

/// Puts everything that the pages of `damaged` hold into the database `found` at `path`.
pub(super) async fn collect(damaged: &Path, found: &mut SqliteConnection, path: &Path) -> Result<(), StoreError> {
    let failed = |error: sqlx::Error| failure::writing(path, &error);
    let (sender, mut pages) = mpsc::channel(AHEAD);
    let from = damaged.to_owned();
    let read = tokio::task::spawn_blocking(move || read_all(from, &sender));
    sql!(query.execute(&mut *found), "BEGIN IMMEDIATE").map_err(failed)?;
    while let Some(rows) = pages.recv().await {
        for row in rows {
            match put(found, row).await {
                // What is no row of ours after all is left out; without room there would be no end of that.
                Err(error) if error.as_database_error().is_some() && !failure::is_full(&failure::plain(&error)) => {
                    tracing::debug!(reason = failure::plain(&error), "a row of the damaged store is left out");
                }
                other => other.map_err(failed)?,
            }
        }
    }
    sql!(query.execute(found), "COMMIT").map_err(failed)?;
    let read = read.await.map_err(io::Error::other).flatten();
    read.map_err(|error| StoreError::Read(failure::with_path(damaged, &error)))
}

fn read_all(damaged: PathBuf, sender: &Sender<Vec<Row>>) -> io::Result<()> {
    let pages = Pages::open(&damaged)?;
    for number in (1..=pages.count).filter(|number| pages.is_used(*number)) {
        let Some(cells) = cells::read(&pages, number) else { continue };
        let is_numbered = cells.is_numbered;
        let rows: Vec<Row> = cells.rows.into_iter().filter_map(|values| row_of(values, is_numbered)).collect();
        // Nobody who waits for more has found a reason to stop, and says it.
        if !rows.is_empty() && sender.blocking_send(rows).is_err() {
            break;
        }
    }
    Ok(())
}

/// What a row is, by its shape.
fn row_of(values: Vec<Value>, is_numbered: bool) -> Option<Row> {
    use Value::{Bytes, Null, Number, Text};
    match values.as_slice() {
        [Null, Bytes(hash), Number(size), Number(packing), Bytes(content)] if is_numbered => {
            blob::is_sound(hash, *size, *packing, content).then_some(Row::Blob(values))
        }
        [Bytes(id), Number(seq), Text(_), Text(body)] if !is_numbered && id.len() == ID && *seq > 0 => {
            // Where a page was cut off, the rest of it reads as zeros.
            let is_whole = body.starts_with('{') && body.ends_with('}') && !body.contains('\0');
            is_whole.then_some(Row::Event(values))
        }
        [Bytes(id), Text(cwd), Text(title), Number(_), Number(_), Number(last), newer @ ..]
            if !is_numbered && id.len() == ID && *last >= 0 && !cwd.contains('\0') && !title.contains('\0') =>
        {
            let is_whole = values.len() <= SESSION && newer.iter().zip(FIRST_SESSION..).all(fits);
            is_whole.then_some(Row::Session(values))
        }
        _ => None,
    }
}

/// Whether a value can stand in its column of a session: who made the title, the folder, the parent, its last event,
/// whether it was removed, whether it was opened for single requests alone, and its messages.
fn fits((value, column): (&Value, usize)) -> bool {
    match (column, value) {
        (6..=12, Value::Null) | (6 | 7, Value::Text(_)) => true,
        (8, Value::Bytes(parent)) => parent.len() == ID,
        (9..=12, Value::Number(number)) => *number >= 0,
        _ => false,
    }
}

/// What is there twice is there as it was last.
async fn put(found: &mut SqliteConnection, row: Row) -> Result<(), sqlx::Error> {
    let (sql, values, columns) = match row {
        Row::Session(values) => (
            "INSERT INTO sessions (id, cwd, title, created_ms, updated_ms, last_seq, title_by, folder, parent_id,
                parent_seq, is_removed, is_single)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, coalesce(?, 0), coalesce(?, 0), coalesce(?, 0))
                ON CONFLICT (id) DO UPDATE SET cwd = excluded.cwd, title = excluded.title,
                updated_ms = excluded.updated_ms, last_seq = excluded.last_seq, title_by = excluded.title_by,
                folder = excluded.folder, parent_id = excluded.parent_id, parent_seq = excluded.parent_seq,
                is_removed = excluded.is_removed, is_single = excluded.is_single WHERE excluded.last_seq > last_seq",
            values,
            TAKEN_OVER,
        ),
        Row::Event(values) => {
            ("INSERT INTO events (session_id, seq, kind, body) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING", values, 4)
        }
        Row::Blob(values) => (
            "INSERT INTO blobs (id, hash, size, packing, content) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
            values,
            5,
        ),
    };
    let mut query = sqlx::query(sql);
    for value in values.into_iter().chain(std::iter::repeat(Value::Null)).take(columns) {
        query = match value {
            Value::Null => query.bind(None::<i64>),
            Value::Number(number) => query.bind(number),
            Value::Bytes(bytes) => query.bind(bytes),
            Value::Text(text) => query.bind(text),
        };
    }
    query.execute(found).await.map(drop)
}
