//! What a process that was killed left inside a store, and that would be in the way of the next one.
//!
//! Locks of git are files that are there: nobody removes those of a process that is gone. Whoever holds the
//! store's own lock, which the system lets go of by itself, knows that nobody else is at work in it, so
//! such files are nobody's.

use std::fs;
use std::path::Path;
use std::time::Duration;

/// How the name of a lock of git ends.
const LOCK: &str = ".lock";

/// How the name of a file begins that was about to be moved into place.
const UNFINISHED: &str = ".tmp";

/// How long a file must lie there untouched until its writer counts as gone.
const ABANDONED: Duration = Duration::from_secs(60);

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

/// Whether a name is that of a file which a tool of a process that is gone was writing: it never came to its
/// place. `age` is how long nobody touched it; another machine may have the folder open, too.
#[must_use]
pub fn is_abandoned(name: &[u8], age: Duration) -> bool {
    let own = name.strip_prefix(b".neco-").and_then(|rest| rest.strip_suffix(b".tmp"));
    let Some(own) = own.and_then(|own| std::str::from_utf8(own).ok()) else { return false };
    let parts: Vec<&str> = own.split('-').collect();
    let [process, count, time] = parts.as_slice() else { return false };
    let is_hex = |part: &str| !part.is_empty() && part.chars().all(|letter| letter.is_ascii_hexdigit());
    let is_one = process.parse::<u32>().is_ok() && count.parse::<u32>().is_ok() && is_hex(time);
    is_one && age > ABANDONED && !Path::new("/proc").join(process).exists()
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

    #[test]
    fn only_what_a_dead_process_was_writing_is_abandoned() {
        let (old, young) = (Duration::from_secs(3600), Duration::from_secs(1));
        let dead = b".neco-4194999-3-18ff2a.tmp";
        assert!(is_abandoned(dead, old) && !is_abandoned(dead, young));
        let mine = format!(".neco-{}-0-18ff2a.tmp", std::process::id());
        assert!(!is_abandoned(mine.as_bytes(), old));
        for name in [".neco-notes.tmp", ".neco-1-2-3-4.tmp", ".neco-4194999-3-18ff2a", "neco-4194999-3-18ff2a.tmp"] {
            assert!(!is_abandoned(name.as_bytes(), old), "{name}");
        }
    }
}
