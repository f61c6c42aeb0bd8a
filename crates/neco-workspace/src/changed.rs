//! What differs from what git last saw: read from its index and the facts of the files, without a process
//! and without reading a single file of the tree.
//!
//! A file whose size or time is another than in the index counts as changed. That is how git itself decides
//! what to look at, so nothing is missed; a file that was only touched is named too.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::git;
use crate::small_file::{self, Links};

/// An index that is larger belongs to a repository where looking takes too long.
const MOST_BYTES: u64 = 512 * 1024;
const MOST_ENTRIES: usize = 4000;
/// An index that is larger is none.
const MOST_TRACKED_BYTES: u64 = 256 * 1024 * 1024;

/// Marks that a file is not to be looked at.
const EXTENDED: u16 = 0x4000;
const ASSUME_VALID: u16 = 0x8000;
const SKIP_WORKTREE: u16 = 0x4000;
/// Bytes of an entry before its object's id, and of the id.
const FACTS: usize = 40;
const ID: usize = 20;

/// Files that differ from what git last saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedFiles {
    /// From the top of the working tree, in git's order.
    pub paths: Vec<String>,
}

/// What differs in the repository that `folder` lies in; nothing when there is none, when it is large, or
/// when its index is none that is understood.
#[must_use]
pub fn changed_files(folder: &Path) -> Option<ChangedFiles> {
    let (root, git) = git::repository_of(folder)?;
    let index = small_file::read(&git.join("index"), MOST_BYTES, Links::Refused)?;
    let entries = entries(&index, MOST_ENTRIES)?;
    let differs = |entry: &Entry| entry.watched && entry.differs(&root.join(std::ffi::OsStr::from_bytes(&entry.path)));
    let name = |entry: &Entry| String::from_utf8_lossy(&entry.path).into_owned();
    let mut paths: Vec<String> = entries.iter().filter(|entry| differs(entry)).map(name).collect();
    paths.dedup();
    Some(ChangedFiles { paths })
}

/// A file that the repository which `folder` lies in tracks and that is `wanted`, where its working tree has it; the index
/// itself where nobody can tell what is in it.
#[must_use]
pub fn tracked_file(folder: &Path, wanted: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let (root, git) = git::repository_of(folder)?;
    let index = git.join("index");
    fs::symlink_metadata(&index).ok()?;
    let Some(paths) = tracked(&git) else { return Some(index) };
    paths.iter().map(|path| root.join(std::ffi::OsStr::from_bytes(path))).find(|path| wanted(path))
}

/// A file in the index.
struct Entry {
    path: Vec<u8>,
    seconds: u32,
    nanoseconds: u32,
    mode: u32,
    size: u32,
    /// Whether it is a file of its own, and not a submodule or one that is not checked out.
    watched: bool,
    /// Whether a merge left it open.
    open: bool,
}

impl Entry {
    fn differs(&self, path: &Path) -> bool {
        let Ok(now) = fs::symlink_metadata(path) else { return true };
        let same_kind = now.mode() & 0o170_000 == self.mode & 0o170_000;
        let same_size = now.size() & u64::from(u32::MAX) == u64::from(self.size);
        // Some systems keep no part of a second; then both are 0 in the index.
        let same_part = self.nanoseconds == 0 || now.mtime_nsec() == i64::from(self.nanoseconds);
        self.open || !same_kind || !same_size || now.mtime() != i64::from(self.seconds) || !same_part
    }
}

/// The paths of a repository's index, sorted by their bytes and seen from the top of the working tree.
pub(crate) fn tracked(git: &Path) -> Option<Vec<Vec<u8>>> {
    let index = small_file::read(&git.join("index"), MOST_TRACKED_BYTES, Links::Refused)?;
    Some(entries(&index, usize::MAX)?.into_iter().map(|entry| entry.path).collect())
}

fn entries(index: &[u8], most: usize) -> Option<Vec<Entry>> {
    let (version, count) = (number(index, 4)?, number(index, 8)? as usize);
    if index.get(..4)? != b"DIRC" || !(2..=4).contains(&version) || count > most {
        return None;
    }
    let (mut at, mut found) = (12, Vec::with_capacity(count.min(MOST_ENTRIES)));
    let mut before: Vec<u8> = Vec::new();
    for _ in 0..count {
        let flags = u16::from_be_bytes(index.get(at + FACTS + ID..at + FACTS + ID + 2)?.try_into().ok()?);
        let mut name_at = at + FACTS + ID + 2;
        let mut skipped = false;
        if version > 2 && flags & EXTENDED != 0 {
            let more = u16::from_be_bytes(index.get(name_at..name_at + 2)?.try_into().ok()?);
            skipped = more & SKIP_WORKTREE != 0;
            name_at += 2;
        }
        let (path, next) = if version == 4 { shared_name(index, name_at, &before)? } else { name(index, at, name_at)? };
        let mode = number(index, at + 24)?;
        found.push(Entry {
            seconds: number(index, at + 8)?,
            nanoseconds: number(index, at + 12)?,
            mode,
            size: number(index, at + 36)?,
            watched: !skipped && flags & ASSUME_VALID == 0 && matches!(mode & 0o170_000, 0o100_000 | 0o120_000),
            open: flags & 0x3000 != 0,
            path: path.clone(),
        });
        before = path;
        at = next;
    }
    Some(found)
}

/// A name that ends with zeros up to a multiple of eight bytes.
fn name(index: &[u8], entry: usize, at: usize) -> Option<(Vec<u8>, usize)> {
    let length = index.get(at..)?.iter().position(|byte| *byte == 0)?;
    let name = index.get(at..at + length)?.to_vec();
    Some((name, entry + (at + length - entry) / 8 * 8 + 8))
}

/// A name that begins like the one before it.
fn shared_name(index: &[u8], mut at: usize, before: &[u8]) -> Option<(Vec<u8>, usize)> {
    let mut byte = *index.get(at)?;
    let mut drop = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        at += 1;
        byte = *index.get(at)?;
        drop = drop.checked_add(1)?.checked_mul(128)?.checked_add(usize::from(byte & 0x7f))?;
    }
    at += 1;
    let kept = before.get(..before.len().checked_sub(drop)?)?;
    let length = index.get(at..)?.iter().position(|byte| *byte == 0)?;
    let name = [kept, index.get(at..at + length)?].concat();
    Some((name, at + length + 1))
}

fn number(index: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_be_bytes(index.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    fn git(folder: &Path, arguments: &[&str]) {
        let done = Command::new("git").arg("-C").arg(folder).args(arguments).output().unwrap();
        assert!(done.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    }

    fn changed(folder: &Path) -> Vec<String> {
        changed_files(folder).unwrap().paths
    }

    #[test]
    fn what_git_itself_would_look_at_is_named() {
        for version in ["2", "4"] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path();
            git(path, &["init", "-q"]);
            git(path, &["config", "index.version", version]);
            fs::create_dir_all(path.join("src/deep")).unwrap();
            for name in ["a.txt", "src/b.rs", "src/deep/c.rs", "src/deep/d.rs", "ä.md"] {
                fs::write(path.join(name), "one\n").unwrap();
            }
            git(path, &["add", "."]);
            assert_eq!(changed(path), Vec::<String>::new(), "version {version}");
            fs::write(path.join("src/deep/c.rs"), "one and more\n").unwrap();
            fs::remove_file(path.join("ä.md")).unwrap();
            fs::write(path.join("new.txt"), "not known to git\n").unwrap();
            assert_eq!(changed(&path.join("src")), ["src/deep/c.rs", "ä.md"], "version {version}");
        }
    }

    #[test]
    fn no_index_is_nothing_known() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(changed_files(folder.path()), None);
        git(folder.path(), &["init", "-q"]);
        assert_eq!(changed_files(folder.path()), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_no_harm(version in 2u8..5, count in 0u8..9, rest in prop::collection::vec(any::<u8>(), 0..400)) {
            let head = [b"DIRC".as_slice(), &[0, 0, 0, version, 0, 0, 0, count], &rest].concat();
            let _ = entries(&head, MOST_ENTRIES);
        }
    }
}
