//! What a process that was killed left inside a store, and that would be in the way of the next one.
//!
//! Locks of git are files that are there: nobody removes those of a process that is gone. Whoever holds the
//! store's own lock, which the system lets go of by itself, knows that nobody else is at work in it, so
//! such files are nobody's.

use std::fs;
use std::path::Path;

/// How the name of a lock of git ends.
const LOCK: &str = ".lock";

/// How the name of a file begins that was about to be moved into place.
const UNFINISHED: &str = ".tmp";

/// Folders in folders of names, beyond which nothing of ours lies.
const DEEPEST: usize = 8;

/// Removes the locks of a git folder: those of its names and of its own files. Objects have none.
pub fn remove_locks(git: &Path) {
    remove(git, 0, &|name| name.ends_with(LOCK));
}

/// Removes files in these folders, not below them, that never came to be what they should.
pub fn remove_unfinished<'a>(folders: impl IntoIterator<Item = &'a Path>) {
    for folder in folders {
        remove(folder, DEEPEST, &|name| name.starts_with(UNFINISHED));
    }
}

/// What can't be removed is told by whoever it is in the way of.
fn remove(folder: &Path, depth: usize, is_left: &dyn Fn(&str) -> bool) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let (name, Ok(kind)) = (entry.file_name(), entry.file_type()) else { continue };
        let name = name.to_string_lossy();
        if kind.is_dir() && depth < DEEPEST && name != "objects" {
            remove(&entry.path(), depth + 1, is_left);
        } else if kind.is_file() && is_left(&name) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_and_unfinished_files_go_and_everything_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        for name in ["refs/jj/keep", "refs/heads", "objects/ab"] {
            fs::create_dir_all(at(name)).unwrap();
        }
        let gone =
            ["refs/jj/keep/abc.lock", "packed-refs.lock", "HEAD.lock", "refs/heads/.tmpAbCdEf", "objects/.tmpXyz123"];
        let stays = ["refs/jj/keep/abc", "HEAD", "refs/heads/checkpoints", "objects/ab/cd.lock", "lock"];
        for name in gone.iter().chain(&stays) {
            fs::write(at(name), "").unwrap();
        }
        remove_locks(folder.path());
        remove_unfinished([at("objects").as_path(), at("refs/heads").as_path()]);
        assert!(gone.iter().all(|name| !at(name).exists()));
        assert!(stays.iter().all(|name| at(name).exists()));
    }
}
