//! What changed in a folder since the index last saw it.
//!
//! A file whose time and size are as they were is not read. One that was written in the moment it was
//! read may have been written again since with neither changing, so it is read once more; its hash
//! tells whether it is another.

use std::collections::HashMap;
use std::io;

use neco_safety::policy::Telling;
use neco_store::recall::{FileStamp, NewRecord, Record};
use sha2::{Digest, Sha256};

use super::entry::Entry;
use super::folder::{Folder, Listed, stem_of};
use super::frontmatter::{self, Around};

/// How exact the times of a file system may be.
const COARSE_NS: i64 = 2_000_000_000;

/// Characters of the content that are searched.
const SEARCHED: usize = 64 * 1024;

/// What changed in a folder.
#[derive(Debug, Default)]
pub struct Changes {
    /// Files that are new or say something else.
    pub changed: Vec<NewRecord>,
    /// Files that are not there any more.
    pub gone: Vec<String>,
}

/// Compares a folder with what is known of it. A folder that can't be looked at has no files, and what a rule closes
/// to reading is none.
pub fn scan(folder: &Folder, known: Vec<(String, FileStamp)>, now_ns: i64, telling: &Telling) -> Changes {
    let listed = folder.list().unwrap_or_else(|error| {
        tracing::warn!(folder = %folder.path().display(), %error, "entries of the memory can't be read");
        Vec::new()
    });
    let mut known: HashMap<String, FileStamp> = known.into_iter().collect();
    let mut changes = Changes::default();
    let path = folder.path();
    for file in listed.into_iter().filter(|file| telling.refuses_path(&path.join(&file.name)).is_none()) {
        let before = known.remove(&file.name);
        if before.as_ref().is_some_and(|before| is_same(before, &file)) {
            continue;
        }
        changes.changed.push(record_of(folder, &file, now_ns));
    }
    changes.gone = known.into_keys().collect();
    changes.gone.sort();
    changes
}

/// A file read into an entry.
pub fn read_entry(folder: &Folder, name: &str, modified_ms: i64) -> io::Result<(Entry, Vec<String>)> {
    let bytes = folder.read(name)?;
    Ok(entry_of(folder, name, text_of(&bytes).map_err(io::Error::other)?, modified_ms))
}

/// The text of a file; the words say why there is none.
fn text_of(bytes: &[u8]) -> Result<&str, &'static str> {
    let text = std::str::from_utf8(bytes).ok().filter(|text| !text.contains('\0')).ok_or("it is no UTF-8 text")?;
    if text.trim().is_empty() { Err("it is empty") } else { Ok(text) }
}

fn entry_of(folder: &Folder, name: &str, text: &str, modified_ms: i64) -> (Entry, Vec<String>) {
    let around = Around { stem: stem_of(name), scope: folder.scope, modified_ms };
    let (entry, troubles) = frontmatter::read(text, around);
    (entry, troubles.iter().map(|trouble| format!("{name}:{trouble}")).collect())
}

fn is_same(before: &FileStamp, now: &Listed) -> bool {
    let settled = before.read_ns.saturating_sub(before.modified_ns) > COARSE_NS;
    settled && before.modified_ns == now.modified_ns && before.size == now.size
}

fn record_of(folder: &Folder, file: &Listed, now_ns: i64) -> NewRecord {
    let place = folder.path().display().to_string();
    let mut stamp = FileStamp { modified_ns: file.modified_ns, size: file.size, hash: Vec::new(), read_ns: now_ns };
    let bytes = match folder.read(&file.name) {
        Ok(bytes) => bytes,
        Err(error) => return unreadable(place, file, stamp, &error.to_string()),
    };
    stamp.hash = Sha256::digest(&bytes).to_vec();
    let text = match text_of(&bytes) {
        Ok(text) => text,
        Err(why) => return unreadable(place, file, stamp, why),
    };
    let (entry, troubles) = entry_of(folder, &file.name, text, file.modified_ns / 1_000_000);
    let record = Record {
        folder: place,
        file: file.name.clone(),
        stamp,
        id: entry.id,
        title: entry.title,
        summary: entry.summary,
        topic: entry.category.topic().to_owned(),
        category: entry.category.name().to_owned(),
        tags: entry.tags,
        source: entry.source,
        reach: entry.reach,
        created_ms: entry.created_ms,
        trouble: troubles.join("\n"),
        uses: 0,
        last_ms: 0,
    };
    NewRecord { record, body: entry.content.chars().take(SEARCHED).collect() }
}

/// A file that can't be read is listed, so that a person sees it, and never found.
fn unreadable(folder: String, file: &Listed, stamp: FileStamp, error: &str) -> NewRecord {
    let stem = stem_of(&file.name).to_owned();
    let trouble = format!("{}: {error}", file.name);
    let created_ms = file.modified_ns / 1_000_000;
    let record = Record { folder, file: file.name.clone(), stamp, id: stem, trouble, created_ms, ..Record::default() };
    NewRecord { record, body: String::new() }
}
