//! Looks at the workspace: which files there are, and which may have changed since they were indexed.

use std::borrow::Cow;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use ignore::{DirEntry, WalkState};
use neco_safety::Located;
use neco_safety::path::sensitive::{is_sensitive_file, is_sensitive_folder};

use super::manifest::{FileEntry, FileStamp, Manifest, in_order};
use super::store::{IndexError, Watch};
use crate::rules::Rules;
use crate::walk::{Scope, is_wanted, walker_by};

/// How much of a folder is indexed.
const SCOPE: Scope = Scope::Visible;

/// A file that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Seen {
    /// From the root.
    pub(super) path: PathBuf,
    pub(super) stamp: FileStamp,
    /// Whether it has other names too, under which it can be changed.
    pub(super) has_other_names: bool,
}

/// Who is told of every folder before it is looked into.
pub(super) trait OnFolder: Sync {
    /// A folder that is about to be looked into.
    fn folder(&self, path: &Path);
}

/// Someone who does not want to know.
pub(super) struct Incurious;

impl OnFolder for Incurious {
    fn folder(&self, _: &Path) {}
}

/// What is to be done.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Files that are new or may have changed.
    pub(super) read: Vec<Seen>,
    /// Files that are gone.
    pub(super) gone: Vec<PathBuf>,
}

impl Changes {
    /// Whether nothing is to be done.
    pub(super) fn is_empty(&self) -> bool {
        self.read.is_empty() && self.gone.is_empty()
    }
}

/// All files of a folder that are indexed, by path: what git ignores, hidden and sensitive names are
/// left out, and no link is followed.
pub(super) fn scan(
    root: &Located,
    rules: &Arc<Rules>,
    on_folder: &dyn OnFolder,
    watch: &dyn Watch,
) -> Result<Vec<Seen>, IndexError> {
    let found: Mutex<Vec<Vec<Seen>>> = Mutex::default();
    let walker = walker_by(root.path(), Some(Arc::clone(rules)), SCOPE).threads(threads()).build_parallel();
    walker.run(|| {
        let mut batch = Batch { seen: Vec::new(), found: &found };
        Box::new(move |entry| {
            if watch.is_cancelled() {
                return WalkState::Quit;
            }
            let Ok(entry) = entry else { return WalkState::Continue };
            let Some(kind) = entry.file_type() else { return WalkState::Continue };
            if kind.is_dir() {
                if entry.depth() > 0 && is_sensitive_folder(entry.path()).is_some() {
                    return WalkState::Skip;
                }
                on_folder.folder(entry.path());
            } else if kind.is_file() && is_sensitive_file(entry.path()).is_none() {
                batch.seen.extend(see(&entry, root));
            }
            WalkState::Continue
        })
    });
    if watch.is_cancelled() {
        return Err(IndexError::Cancelled);
    }
    let mut seen = found.into_inner().unwrap_or_else(PoisonError::into_inner).concat();
    seen.sort_unstable_by(|a, b| in_order(&a.path, &b.path));
    Ok(seen)
}

/// Whether something in a folder that was looked into is of any interest.
pub(super) fn is_indexed(path: &Path, is_folder: bool, rules: &Rules) -> bool {
    let closed = if is_folder { is_sensitive_folder(path) } else { is_sensitive_file(path) };
    closed.is_none() && is_wanted(path, is_folder, Some(rules), SCOPE)
}

/// A file as it is now, or the path of one that is not there.
pub(super) fn look_at(root: &Located, path: PathBuf) -> Result<Seen, PathBuf> {
    match std::fs::symlink_metadata(root.path().join(&path)) {
        Ok(facts) if facts.is_file() => Ok(Seen::of(path, &facts)),
        Ok(_) | Err(_) => Err(path),
    }
}

/// How many threads work at the same time.
pub(super) fn threads() -> usize {
    std::thread::available_parallelism().map_or(1, |number| number.get().min(8))
}

/// What one thread has seen; handed over when the thread is done.
struct Batch<'a> {
    seen: Vec<Seen>,
    found: &'a Mutex<Vec<Vec<Seen>>>,
}

impl Drop for Batch<'_> {
    fn drop(&mut self) {
        let seen = std::mem::take(&mut self.seen);
        self.found.lock().unwrap_or_else(PoisonError::into_inner).push(seen);
    }
}

fn see(entry: &DirEntry, root: &Located) -> Option<Seen> {
    let path = entry.path().strip_prefix(root.path()).ok()?.to_path_buf();
    Some(Seen::of(path, &entry.metadata().ok()?))
}

impl Seen {
    fn of(path: PathBuf, facts: &std::fs::Metadata) -> Self {
        Self { path, stamp: FileStamp::of(facts), has_other_names: facts.nlink() > 1 }
    }
}

impl FileStamp {
    /// The stamp of what was looked at.
    pub(super) fn of(facts: &std::fs::Metadata) -> Self {
        let time = |seconds: i64, rest: i64| seconds.saturating_mul(1_000_000_000).saturating_add(rest);
        Self {
            size: facts.len(),
            modified: time(facts.mtime(), facts.mtime_nsec()),
            changed: time(facts.ctime(), facts.ctime_nsec()),
        }
    }
}

/// What has to be done for the index to fit what was seen; both are in order.
pub(super) fn compare(manifest: &Manifest, seen: Vec<Seen>) -> Changes {
    let mut changes = Changes::default();
    let mut known = manifest.files.iter().peekable();
    for one in seen {
        while let Some(gone) = known.next_if(|entry| in_order(&entry.path, &one.path).is_lt()) {
            changes.gone.push(gone.path.clone());
        }
        let entry = known.next_if(|entry| entry.path.as_os_str() == one.path.as_os_str());
        if !entry.is_some_and(|entry| is_unchanged(entry, &one)) {
            changes.read.push(one);
        }
    }
    changes.gone.extend(known.map(|entry| entry.path.clone()));
    changes
}

/// What has to be done for the index to fit these files, each of which is or is no longer there.
pub(super) fn compare_these(manifest: &Manifest, files: impl Iterator<Item = Result<Seen, PathBuf>>) -> Changes {
    let mut changes = Changes::default();
    for file in files {
        match file {
            Ok(seen) if manifest.file(&seen.path).is_some_and(|entry| is_unchanged(entry, &seen)) => {}
            Ok(seen) => changes.read.push(seen),
            Err(path) if manifest.file(&path).is_some() => changes.gone.push(path),
            Err(_) => {}
        }
    }
    changes
}

fn is_unchanged(entry: &FileEntry, seen: &Seen) -> bool {
    entry.settled && entry.stamp == seen.stamp
}

/// Files that are larger are data, whatever their name says.
pub(super) const MOST_BYTES: u64 = 1 << 20;
/// Where a zero byte makes a file no text.
const LOOKED_AT: usize = 8192;

/// Reads a file below the root; nothing when it is too large or no regular file. The stamp is that
/// of what was opened, from before it was read.
pub(super) fn read(root: &Located, path: &Path) -> io::Result<(FileStamp, Option<Vec<u8>>)> {
    let file = root.open_below(&root.path().join(path))?;
    let facts = file.metadata()?;
    let stamp = FileStamp::of(&facts);
    if !facts.is_file() || facts.len() > MOST_BYTES {
        return Ok((stamp, None));
    }
    let mut bytes = Vec::with_capacity(facts.len() as usize + 1);
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    let fits = bytes.len() as u64 <= MOST_BYTES;
    Ok((stamp, fits.then_some(bytes)))
}

/// The text that bytes stand for; nothing when they are no text.
pub(super) fn decode(bytes: &[u8]) -> Option<Cow<'_, str>> {
    let wide = |convert: fn([u8; 2]) -> u16| {
        let units = bytes.get(2..).unwrap_or_default().chunks_exact(2);
        let units = units.map(|pair| <[u8; 2]>::try_from(pair).map_or(0, convert));
        char::decode_utf16(units).map(|letter| letter.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>()
    };
    match bytes {
        [0xff, 0xfe, ..] => Some(wide(u16::from_le_bytes).into()),
        [0xfe, 0xff, ..] => Some(wide(u16::from_be_bytes).into()),
        _ if memchr::memchr(0, bytes.get(..LOOKED_AT).unwrap_or(bytes)).is_some() => None,
        _ => Some(String::from_utf8_lossy(bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_told_from_the_rest() {
        assert_eq!(decode(b"plain").as_deref(), Some("plain"));
        assert_eq!(decode("\u{feff}marked".as_bytes()).as_deref(), Some("marked"));
        assert_eq!(decode(b"\xff\xfea\0\n\0").as_deref(), Some("a\n"));
        assert_eq!(decode(b"\xfe\xff\0a").as_deref(), Some("a"));
        assert_eq!(decode(b"caf\xe9").as_deref(), Some("caf\u{fffd}"));
        assert_eq!(decode(b"a\0b"), None);
    }
}
