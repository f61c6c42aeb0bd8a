//! Rules of Landlock for boxes that have no walls, kept ready: everything but what is hidden is hundreds of rules, and
//! from one command to the next they stay the same.

use std::os::fd::OwnedFd;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fs, io};

use crate::linux::landlock::{self, Rules};
use crate::survey::look::{Stamp, settled, stamp};

/// What a box without walls lets through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Open {
    /// What is not seen.
    pub(crate) holes: Vec<PathBuf>,
    /// What lies in a hole and is seen all the same.
    pub(crate) shown: Vec<PathBuf>,
    /// What can be changed.
    pub(crate) writable: Vec<PathBuf>,
    /// Devices that can be written to.
    pub(crate) devices: Vec<PathBuf>,
    /// Whether TCP connections are refused.
    pub(crate) no_tcp: bool,
}

/// The rules of the last box.
#[derive(Debug, Default)]
pub(crate) struct ReadyRules(Mutex<Option<Ready>>);

#[derive(Debug)]
struct Ready {
    open: Open,
    /// Folders whose entries have rules of their own, and what else has, of which counts only which it is: rules hold
    /// for what is there, not for names.
    made_of: Vec<(PathBuf, Option<Stamp>)>,
    rules: Arc<OwnedFd>,
}

impl ReadyRules {
    /// Rules for this, made anew only if something is not as it was.
    /// Fails when the kernel enforces none of it.
    pub(crate) fn of(&self, open: Open) -> io::Result<Arc<OwnedFd>> {
        let mut ready = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ready) = ready.as_ref().filter(|ready| ready.open == open && ready.holds()) {
            return Ok(Arc::clone(&ready.rules));
        }
        let made = Ready::make(open)?;
        let rules = Arc::clone(&made.rules);
        *ready = Some(made).filter(|made| made.made_of.iter().all(|(_, stamp)| stamp.is_some()));
        Ok(rules)
    }
}

impl Ready {
    fn make(open: Open) -> io::Result<Self> {
        // Before anything is looked at: what changes meanwhile is another state.
        let first = all_but(Path::new("/"), &open.holes);
        let single = open.shown.iter().chain(&open.writable).map(|path| (path.clone(), identity(path)));
        let made_of: Vec<_> = first
            .looked_into
            .iter()
            .map(|path| (path.clone(), fs::metadata(path).ok().and_then(|found| settled(&found))))
            .chain(single)
            .collect();
        let carved = all_but(Path::new("/"), &open.holes);
        let rules = landlock::prepared(&Rules {
            readable: carved.allowed.into_iter().chain(open.shown.iter().cloned()).collect(),
            writable: open.writable.clone(),
            devices: open.devices.clone(),
            no_tcp: open.no_tcp,
        })?;
        Ok(Self { open, made_of, rules: Arc::new(rules) })
    }

    fn holds(&self) -> bool {
        let is_single = |path: &PathBuf| self.open.shown.contains(path) || self.open.writable.contains(path);
        self.made_of.iter().all(|(path, before)| {
            let now = if is_single(path) { identity(path) } else { fs::metadata(path).ok().map(|found| stamp(&found)) };
            now == *before
        })
    }
}

fn identity(path: &Path) -> Option<Stamp> {
    // What is not there has no rule, and must still not be there.
    Some(fs::metadata(path).map_or((0, 0, 0, 0), |found| (found.dev(), found.ino(), 0, 0)))
}

/// Of folders with more entries, and something hidden in them, the rest is not seen.
const MOST_ENTRIES: usize = 50_000;

/// What is left of a folder.
#[derive(Debug, Default, PartialEq, Eq)]
struct Carved {
    /// The largest files and folders that have none of the holes in them.
    allowed: Vec<PathBuf>,
    /// The folders that were looked into for that: as long as they stay as they are, so does the rest.
    looked_into: Vec<PathBuf>,
}

/// All below `root` but the `holes`.
fn all_but(root: &Path, holes: &[PathBuf]) -> Carved {
    let mut carved = Carved::default();
    carve(root, holes, &mut carved);
    carved
}

fn carve(path: &Path, holes: &[PathBuf], carved: &mut Carved) {
    if holes.iter().any(|hole| path.starts_with(hole)) {
        return;
    }
    if !holes.iter().any(|hole| hole.starts_with(path)) {
        carved.allowed.push(path.to_path_buf());
        return;
    }
    carved.looked_into.push(path.to_path_buf());
    let Ok(entries) = fs::read_dir(path) else { return };
    for (number, entry) in entries.flatten().enumerate() {
        if number >= MOST_ENTRIES {
            tracing::warn!(folder = %path.display(), "too many files beside hidden ones: commands don't see all of them");
            return;
        }
        // What a link leads to has a place of its own.
        if entry.file_type().is_ok_and(|kind| !kind.is_symlink()) {
            carve(&entry.path(), holes, carved);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_are_made_once_and_anew_when_what_they_are_about_is_another() {
        if landlock::version() == 0 {
            return;
        }
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| fs::canonicalize(folder.path()).unwrap().join(name);
        for name in ["hidden", "beside", "work"] {
            fs::create_dir(at(name)).unwrap();
        }
        let open = || Open {
            holes: vec![at("hidden")],
            shown: vec![at("hidden/shown")],
            writable: vec![at("work")],
            devices: Vec::new(),
            no_tcp: false,
        };
        let ready = ReadyRules::default();
        let last = || ready.of(open()).unwrap();
        assert!(!Arc::ptr_eq(&last(), &last()), "the folder changed just now");
        let until_settled = || {
            while !Arc::ptr_eq(&last(), &last()) {
                std::thread::sleep(std::time::Duration::from_millis(10));
            }
            last()
        };
        let first = until_settled();
        fs::write(at("work/file"), "").unwrap();
        assert!(Arc::ptr_eq(&first, &last()), "what is in it is open, whatever that is");
        fs::write(at("new"), "").unwrap();
        assert!(!Arc::ptr_eq(&first, &last()), "what is new has no rule yet");
        let second = until_settled();
        fs::create_dir(at("hidden/shown")).unwrap();
        assert!(!Arc::ptr_eq(&second, &last()));
        let third = until_settled();
        assert!(!Arc::ptr_eq(&third, &ready.of(Open { no_tcp: true, ..open() }).unwrap()));
    }

    #[test]
    fn holes_are_left_out_and_everything_beside_them_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        for path in ["a/b/secret", "a/c", "d"] {
            fs::create_dir_all(at(path)).unwrap();
        }
        fs::write(at("a/b/file"), "").unwrap();
        std::os::unix::fs::symlink("/etc", at("a/link")).unwrap();
        let mut carved = all_but(folder.path(), &[at("a/b/secret")]);
        carved.allowed.sort();
        assert_eq!(carved.allowed, [at("a/b/file"), at("a/c"), at("d")]);
        assert_eq!(carved.looked_into, [at(""), at("a"), at("a/b")]);
        assert_eq!(all_but(folder.path(), &[]).allowed, [folder.path()]);
        assert_eq!(all_but(folder.path(), &[folder.path().to_path_buf()]), Carved::default());
    }
}
