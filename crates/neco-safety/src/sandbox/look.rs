//! A look through a folder for what commands must not read or change, which costs little when little has changed:
//! a folder is read again only when the system says that something was made, removed or renamed in it.

use std::collections::{HashMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs::{self, FileType, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::names::{is_secret_variables, may_be_private_key};
use crate::path::open_without_links;

/// How far a look goes.
#[derive(Clone, Copy)]
pub(super) struct Limits {
    /// A command waits for most looks.
    pub(super) time: Duration,
    /// Entries that are read.
    pub(super) entries: usize,
    /// Whether folders that programs made are looked into as well.
    pub(super) everywhere: bool,
}

/// Folders that are made by programs and hold what was downloaded or built.
const NOT_SEARCHED: &[&str] =
    &["node_modules", "target", ".venv", "venv", "__pycache__", "dist", "build", ".next", ".tox", ".cache", ".gradle"];

/// A change within so short a time after another may leave no trace.
const UNSETTLED: Duration = Duration::from_millis(100);

/// Where links lead that stand in for no secret: what they lead to is everybody's.
const OF_THE_SYSTEM: &[&str] =
    &["/etc", "/usr", "/bin", "/sbin", "/lib", "/opt", "/proc", "/sys", "/dev", "/run", "/nix"];

/// What a look found in all.
#[derive(Debug, Default)]
pub(super) struct Sights {
    /// Files with secrets.
    pub(super) secrets: Vec<PathBuf>,
    /// Everything called `.git`.
    pub(super) repositories: Vec<PathBuf>,
    /// Folders that git would take for a repository by themselves.
    pub(super) bare: Vec<PathBuf>,
}

/// What is known of a folder and all below it.
#[derive(Debug)]
pub(super) struct Look {
    root: PathBuf,
    folders: HashMap<PathBuf, Folder>,
}

#[derive(Debug)]
struct Folder {
    /// Nothing where a later change could look the same.
    stamp: Option<Stamp>,
    below: Vec<OsString>,
    secrets: Vec<OsString>,
    /// Files that hold a private key or not: what they hold decides.
    keys: Vec<(OsString, Option<Stamp>, bool)>,
    repository: bool,
    bare: bool,
}

/// What changes with every change.
type Stamp = (u64, u64, i64, i64);

impl Look {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root, folders: HashMap::new() }
    }

    /// Looks, level by level: what is near the top is found even where not everything can be looked at. Whether
    /// everything was.
    pub(super) fn again(&mut self, limits: Limits) -> bool {
        let begun = Instant::now();
        let mut known = std::mem::take(&mut self.folders);
        let mut waiting = VecDeque::from([self.root.clone()]);
        let mut entries = 0;
        while let Some(path) = waiting.pop_front() {
            if entries > limits.entries || begun.elapsed() > limits.time {
                // What was known of the rest still is.
                self.folders.extend(known);
                return false;
            }
            let Ok(found) = fs::symlink_metadata(&path) else { continue };
            if !found.is_dir() {
                continue;
            }
            let now = stamp(&found);
            let folder = match known.remove(&path) {
                Some(folder) if folder.stamp == Some(now) => folder,
                Some(_) | None => {
                    let folder = self.read(&path, &found);
                    entries += folder.1;
                    folder.0
                }
            };
            let enter = |name: &&OsString| limits.everywhere || !NOT_SEARCHED.iter().any(|own| *name == own);
            waiting.extend(folder.below.iter().filter(enter).map(|name| path.join(name)));
            self.folders.insert(path, folder);
        }
        true
    }

    /// What is there.
    pub(super) fn sights(&mut self) -> Sights {
        let mut sights = Sights::default();
        for (path, folder) in &mut self.folders {
            sights.secrets.extend(folder.secrets.iter().map(|name| path.join(name)));
            for (name, known, holds) in &mut folder.keys {
                let file = path.join(&*name);
                let now = fs::metadata(&file).ok().map(|found| stamp(&found));
                if *known != now {
                    (*known, *holds) = (now, holds_private_key(&file));
                }
                sights.secrets.extend(holds.then_some(file));
            }
            sights.repositories.extend(folder.repository.then(|| path.join(".git")));
            sights.bare.extend(folder.bare.then(|| path.clone()));
        }
        sights.secrets.sort();
        sights.repositories.sort();
        sights.bare.sort();
        sights
    }

    /// A folder, and how many entries it has.
    fn read(&self, path: &Path, found: &Metadata) -> (Folder, usize) {
        let age = SystemTime::now().duration_since(changed(found)).unwrap_or_default();
        let mut folder = Folder {
            stamp: (age > UNSETTLED).then(|| stamp(found)),
            below: Vec::new(),
            secrets: Vec::new(),
            keys: Vec::new(),
            repository: false,
            bare: false,
        };
        let mut parts = Parts::default();
        let mut count = 0;
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            count += 1;
            let Ok(kind) = entry.file_type() else { continue };
            let name = entry.file_name();
            parts.see(&name, kind);
            if name == ".git" {
                folder.repository = true;
            } else if kind.is_dir() {
                folder.below.push(name);
            } else {
                self.file(path, name, kind, &mut folder);
            }
        }
        folder.bare = parts.are_a_repository();
        (folder, count)
    }

    fn file(&self, folder: &Path, name: OsString, kind: FileType, into: &mut Folder) {
        let Some(text) = name.to_str() else { return };
        let path = folder.join(&name);
        let may_hold = kind.is_file() || kind.is_symlink() && leads_to_a_persons_file(&path);
        if !may_hold {
            return;
        }
        if is_secret_variables(text) {
            into.secrets.push(name);
        } else if may_be_private_key(path.strip_prefix(&self.root).unwrap_or(&path), text) {
            let now = fs::metadata(&path).ok().map(|found| stamp(&found));
            into.keys.push((name, now, holds_private_key(&path)));
        }
    }
}

/// What makes a folder a repository by itself.
#[derive(Default)]
struct Parts {
    head: bool,
    objects: bool,
    refs: bool,
    elsewhere: bool,
}

impl Parts {
    fn see(&mut self, name: &OsStr, kind: FileType) {
        let may_be_folder = kind.is_dir() || kind.is_symlink();
        match name.to_str() {
            Some("HEAD") => self.head = true,
            Some("objects") => self.objects |= may_be_folder,
            Some("refs") => self.refs |= may_be_folder,
            Some("commondir") => self.elsewhere = true,
            Some(_) | None => {}
        }
    }

    fn are_a_repository(&self) -> bool {
        self.head && (self.elsewhere || (self.objects && self.refs))
    }
}

fn stamp(found: &Metadata) -> Stamp {
    (found.dev(), found.ino(), found.ctime(), found.ctime_nsec())
}

fn changed(found: &Metadata) -> SystemTime {
    let seconds = Duration::from_secs(u64::try_from(found.ctime()).unwrap_or_default());
    let rest = Duration::from_nanos(u64::try_from(found.ctime_nsec()).unwrap_or_default());
    SystemTime::UNIX_EPOCH + seconds + rest
}

/// A secret may lie elsewhere and be linked to; what belongs to the system is none.
fn leads_to_a_persons_file(link: &Path) -> bool {
    let Ok(target) = fs::canonicalize(link) else { return false };
    target.is_file() && !OF_THE_SYSTEM.iter().any(|own| target.starts_with(own))
}

/// Certificates end like keys do; only what is a key, or can't be read as text, counts.
fn holds_private_key(path: &Path) -> bool {
    // A link was looked at before: what it leads to is read.
    let Ok(path) = fs::canonicalize(path) else { return false };
    let Ok(file) = open_without_links(&path) else { return true };
    let mut start = Vec::new();
    if file.take(8192).read_to_end(&mut start).is_err() {
        return true;
    }
    match std::str::from_utf8(&start) {
        Ok(text) => text.contains("PRIVATE KEY") || text.contains("PuTTY-User-Key"),
        Err(_) => true,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const ALL: Limits = Limits { time: Duration::from_secs(20), entries: usize::MAX, everywhere: false };

    fn write(folder: &Path, path: &str, text: &str) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[test]
    fn secrets_and_repositories_are_found_and_the_rest_is_not() {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in [
            (".env", "A=1"),
            ("app/.env.local", "A=1"),
            ("app/.env.example", "A="),
            ("app/prodvars", "A=1"),
            ("node_modules/x/.env", "A=1"),
            ("certs/ca.pem", "-----BEGIN CERTIFICATE-----"),
            ("certs/server.pem", "-----BEGIN RSA PRIVATE KEY-----"),
            ("sub/.git/config", ""),
            ("lib.git/HEAD", ""),
            ("lib.git/objects/x", ""),
            ("lib.git/refs/x", ""),
            ("half/HEAD", ""),
            ("apart/HEAD", ""),
            ("apart/commondir", ""),
        ] {
            write(folder.path(), path, text);
        }
        let at = |path: &str| folder.path().join(path);
        symlink("/etc/passwd", at(".env.system")).unwrap();
        symlink("app/prodvars", at(".env.link")).unwrap();
        let mut look = Look::new(folder.path().to_path_buf());
        assert!(look.again(ALL));
        let sights = look.sights();
        assert_eq!(sights.secrets, [at(".env"), at(".env.link"), at("app/.env.local"), at("certs/server.pem")]);
        assert_eq!(sights.repositories, [at("sub/.git")]);
        assert_eq!(sights.bare, [at("apart"), at("lib.git")]);
        assert!(look.again(Limits { everywhere: true, ..ALL }));
        assert!(look.sights().secrets.contains(&at("node_modules/x/.env")));
    }

    #[test]
    fn every_change_is_seen_and_what_did_not_change_is_not_read_again() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        write(folder.path(), "a/b/.env", "x");
        write(folder.path(), "a/b/x.key", "nothing");
        let mut look = Look::new(folder.path().to_path_buf());
        look.again(ALL);
        assert_eq!(look.sights().secrets, [at("a/b/.env")]);
        fs::rename(at("a/b"), at("c")).unwrap();
        write(folder.path(), "c/x.key", "-----BEGIN PRIVATE KEY-----");
        write(folder.path(), "c/new/.git/HEAD", "");
        look.again(ALL);
        let sights = look.sights();
        assert_eq!((sights.secrets, sights.repositories), (vec![at("c/.env"), at("c/x.key")], vec![at("c/new/.git")]));
        while !look.folders.values().all(|folder| folder.stamp.is_some()) {
            std::thread::sleep(Duration::from_millis(5));
            look.again(ALL);
        }
        // Nothing has to be read, so nothing may be.
        assert!(look.again(Limits { entries: 0, ..ALL }));
        fs::remove_dir_all(at("c")).unwrap();
        assert!(look.again(Limits { entries: 5, ..ALL }) && look.sights().secrets.is_empty());
    }

    #[test]
    fn a_look_that_was_cut_short_goes_on_where_it_ended() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..50 {
            write(folder.path(), &format!("{number}/sub/.env"), "x");
        }
        let mut look = Look::new(folder.path().to_path_buf());
        let mut rounds = 0;
        while !look.again(Limits { entries: 60, ..ALL }) {
            rounds += 1;
            assert!(rounds < 200, "it never ends");
            std::thread::sleep(UNSETTLED / 10);
        }
        assert!(rounds > 0 && look.sights().secrets.len() == 50);
    }
}
