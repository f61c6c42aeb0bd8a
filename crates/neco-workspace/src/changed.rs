//! What differs from what git last saw: read from its index and the facts of the files, without a process
//! and without reading a single file of the tree.
//!
//! A file whose size or time is another than in the index counts as changed. That is how git itself decides
//! what to look at, so nothing is missed; a file that was only touched is named too.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use gix::index::decode::Options;
use gix::index::entry::{Flags, Stage};
use gix::index::{Entry, State};

use crate::git;
use crate::small_file::{self, Links};

/// An index that is larger belongs to a repository where looking takes too long.
const MOST_BYTES: u64 = 512 * 1024;
const MOST_ENTRIES: usize = 4000;
/// An index that is larger is none.
const MOST_TRACKED_BYTES: u64 = 256 * 1024 * 1024;

/// Files that differ from what git last saw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedFiles {
    /// From the top of the working tree, in git's order.
    pub paths: Vec<String>,
}

/// What differs in the repository that `folder` lies in; nothing when there is none, when it is large, or
/// when its index is none that is understood.
pub fn changed_files(folder: &Path) -> Option<ChangedFiles> {
    let (root, git) = git::repository_of(folder)?;
    let index = index_of(&git, MOST_BYTES).filter(|index| index.entries().len() <= MOST_ENTRIES)?;
    let changed = |entry: &&Entry| is_watched(entry) && differs(entry, &root.join(path_of(entry, &index)));
    let name = |entry: &Entry| entry.path(&index).to_string();
    let mut paths: Vec<String> = index.entries().iter().filter(changed).map(name).collect();
    paths.dedup();
    Some(ChangedFiles { paths })
}

/// A file that the repository which `folder` lies in tracks and that is `wanted`, where its working tree has it; the index
/// itself where nobody can tell what is in it.
pub fn tracked_file(folder: &Path, wanted: impl Fn(&Path) -> bool) -> Option<PathBuf> {
    let (root, git) = git::repository_of(folder)?;
    let index = git.join("index");
    fs::symlink_metadata(&index).ok()?;
    let Some(state) = index_of(&git, MOST_TRACKED_BYTES) else { return Some(index) };
    state.entries().iter().map(|entry| root.join(path_of(entry, &state))).find(|path| wanted(path))
}

/// The paths of a repository's index, sorted by their bytes and seen from the top of the working tree.
pub(crate) fn tracked(git: &Path) -> Option<Vec<Vec<u8>>> {
    let index = index_of(git, MOST_TRACKED_BYTES)?;
    Some(index.entries().iter().map(|entry| entry.path(&index).to_vec()).collect())
}

/// Reads the index of a git folder; nothing when it is longer than `most`, damaged, or keeps its entries in another file.
///
/// Its bytes are copied and not mapped: whoever cuts a mapped file short ends the program that reads it.
fn index_of(git: &Path, most: u64) -> Option<State> {
    let bytes = small_file::read(&git.join("index"), most, Links::Refused)?;
    read_index(&bytes, git::object_hash(git))
}

fn read_index(bytes: &[u8], hash: gix::hash::Kind) -> Option<State> {
    // With several threads a table in the file says where entries begin, and a wrong one is a panic.
    let options = Options { thread_limit: Some(1), ..Options::default() };
    // The time is only handed through.
    let (state, _) = State::from_bytes(bytes, State::new(hash).timestamp(), hash, options).ok()?;
    state.link().is_none().then_some(state)
}

/// Whether an entry is a file of its own, and not a submodule or one that is not checked out.
fn is_watched(entry: &Entry) -> bool {
    let skipped = entry.flags.intersects(Flags::SKIP_WORKTREE | Flags::ASSUME_VALID);
    !skipped && matches!(kind_of(entry.mode.bits()), 0o100_000 | 0o120_000)
}

fn differs(entry: &Entry, path: &Path) -> bool {
    let Ok(now) = fs::symlink_metadata(path) else { return true };
    let then = &entry.stat;
    let same_kind = kind_of(now.mode()) == kind_of(entry.mode.bits());
    let same_size = now.size() & u64::from(u32::MAX) == u64::from(then.size);
    // Some systems keep no part of a second; then both are 0 in the index.
    let same_part = then.mtime.nsecs == 0 || now.mtime_nsec() == i64::from(then.mtime.nsecs);
    let is_open = entry.stage() != Stage::Unconflicted;
    is_open || !same_kind || !same_size || now.mtime() != i64::from(then.mtime.secs) || !same_part
}

/// What a file is: its mode without who may do what.
fn kind_of(mode: u32) -> u32 {
    mode & 0o170_000
}

fn path_of<'a>(entry: &Entry, index: &'a State) -> &'a Path {
    Path::new(std::ffi::OsStr::from_bytes(entry.path(index)))
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
        for (format, version) in [("sha1", "2"), ("sha1", "4"), ("sha256", "2"), ("sha256", "4")] {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path();
            git(path, &["init", "-q", &format!("--object-format={format}")]);
            git(path, &["config", "index.version", version]);
            fs::create_dir_all(path.join("src/deep")).unwrap();
            for name in ["a.txt", "src/b.rs", "src/deep/c.rs", "src/deep/d.rs", "ä.md"] {
                fs::write(path.join(name), "one\n").unwrap();
            }
            git(path, &["add", "."]);
            assert_eq!(changed(path), Vec::<String>::new(), "{format}, version {version}");
            fs::write(path.join("src/deep/c.rs"), "one and more\n").unwrap();
            fs::remove_file(path.join("ä.md")).unwrap();
            fs::write(path.join("new.txt"), "not known to git\n").unwrap();
            assert_eq!(changed(&path.join("src")), ["src/deep/c.rs", "ä.md"], "{format}, version {version}");
        }
    }

    #[test]
    fn no_index_is_nothing_known() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(changed_files(folder.path()), None);
        git(folder.path(), &["init", "-q"]);
        assert_eq!(changed_files(folder.path()), None);
    }

    #[test]
    fn what_is_tracked_is_known_in_worktrees_of_either_format() {
        for format in ["sha1", "sha256"] {
            let folder = tempfile::tempdir().unwrap();
            let (path, side) = (folder.path().join("main"), folder.path().join("side"));
            git(folder.path(), &["init", "-q", &format!("--object-format={format}"), "main"]);
            fs::write(path.join("a.txt"), "one\n").unwrap();
            git(&path, &["add", "."]);
            git(&path, &["-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "x"]);
            git(&path, &["worktree", "add", "-q", side.to_str().unwrap()]);
            for folder in [&path, &side] {
                let found = tracked_file(folder, |path| path.ends_with("a.txt"));
                assert_eq!(found, Some(folder.join("a.txt")), "{format}");
                assert_eq!(changed(folder), Vec::<String>::new(), "{format}");
            }
        }
    }

    #[test]
    fn an_index_that_is_kept_in_parts_is_not_understood() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        git(path, &["init", "-q"]);
        fs::write(path.join("a.txt"), "one\n").unwrap();
        git(path, &["add", "."]);
        git(path, &["update-index", "--split-index"]);
        assert_eq!(changed_files(path), None);
        assert_eq!(tracked_file(path, |_| false), Some(path.join(".git/index")));
    }

    proptest! {
        #[test]
        fn any_bytes_are_no_harm(version in 2u8..5, count in 0u8..9, rest in prop::collection::vec(any::<u8>(), 0..400)) {
            let head = [b"DIRC".as_slice(), &[0, 0, 0, version, 0, 0, 0, count], &rest].concat();
            for hash in [gix::hash::Kind::Sha1, gix::hash::Kind::Sha256] {
                let _ = read_index(&head, hash);
            }
        }
    }
}
