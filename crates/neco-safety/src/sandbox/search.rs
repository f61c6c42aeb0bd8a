//! Looks through a workspace for what commands must not read or change: files with secrets, and the
//! git folders of repositories inside it.
//!
//! A command can make a workspace too large to look through. So the two are looked for apart, what was
//! once found stays known until it is gone, and what was moved away is looked for before anything runs.

use std::collections::{BTreeMap, VecDeque};
use std::ffi::OsStr;
use std::fs::{self, FileType};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::names::{is_secret_variables, may_be_private_key};
use crate::path::open_without_links;

/// How far a look goes.
#[derive(Clone, Copy)]
struct Limits {
    /// A command waits for most looks.
    time: Duration,
    entries: usize,
    /// Whether folders that programs made are looked into as well.
    everywhere: bool,
}

const FIRST: Limits = Limits { time: Duration::from_millis(250), entries: 40_000, everywhere: false };
const LATER: Limits = Limits { time: Duration::from_secs(2), entries: 400_000, everywhere: false };
/// For what is known to be there, somewhere.
const THOROUGH: Limits = Limits { time: Duration::from_secs(10), entries: usize::MAX, everywhere: true };

/// How long what was found counts.
const FRESH: Duration = Duration::from_secs(10);

/// The most that is known of each kind; a workspace with more is no workspace.
const MOST_FOUND: usize = 300;

/// Folders that are made by programs and hold what was downloaded or built.
const NOT_SEARCHED: &[&str] =
    &["node_modules", "target", ".venv", "venv", "__pycache__", "dist", "build", ".next", ".tox", ".cache", ".gradle"];

/// What was found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Found {
    /// Files with secrets.
    pub(super) secrets: Vec<PathBuf>,
    /// Git folders, at the top and below.
    pub(super) repositories: Vec<PathBuf>,
}

/// Looks through one workspace, and again when what it knows is old.
#[derive(Debug)]
pub(super) struct Search {
    root: PathBuf,
    known: Arc<Mutex<Option<Known>>>,
}

/// What was found, and when.
#[derive(Debug)]
struct Known {
    when: Instant,
    secrets: Things,
    repositories: Things,
}

/// Things by their place, with what tells them from others that are put there instead.
#[derive(Clone, Debug, Default)]
struct Things(BTreeMap<PathBuf, Identity>);

/// The device and the number of a file.
type Identity = (u64, u64);

#[derive(Clone, Copy)]
enum Kind {
    Secrets,
    Repositories,
}

impl Search {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root, known: Arc::default() }
    }

    /// What is in the workspace. The first look is waited for, and one for what was moved; others happen beside.
    pub(super) fn found(&self) -> Found {
        let mut guard = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let known = guard.get_or_insert_with(|| Known {
            when: Instant::now(),
            secrets: look(&self.root, Kind::Secrets, FIRST),
            repositories: look(&self.root, Kind::Repositories, FIRST),
        });
        find_moved(&self.root, Kind::Secrets, &mut known.secrets);
        find_moved(&self.root, Kind::Repositories, &mut known.repositories);
        if known.when.elapsed() > FRESH {
            known.when = Instant::now();
            self.look_again();
        }
        known.found()
    }

    /// What is known without a look.
    pub(super) fn remembered(&self) -> Found {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.as_ref().map(Known::found).unwrap_or_default()
    }

    fn look_again(&self) {
        let (root, known) = (self.root.clone(), Arc::clone(&self.known));
        let thread = std::thread::Builder::new().name("neco-search".to_owned());
        let started = thread.spawn(move || {
            let secrets = look(&root, Kind::Secrets, LATER);
            let repositories = look(&root, Kind::Repositories, LATER);
            let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = &mut *known {
                known.secrets.add(secrets);
                known.repositories.add(repositories);
                known.when = Instant::now();
            }
        });
        if let Err(error) = started {
            tracing::warn!(%error, "the workspace was not looked through again");
        }
    }
}

impl Known {
    fn found(&self) -> Found {
        let paths = |things: &Things| things.0.keys().cloned().collect();
        Found { secrets: paths(&self.secrets), repositories: paths(&self.repositories) }
    }
}

impl Things {
    /// What is known comes first: what is new can't push it out.
    fn add(&mut self, new: Self) {
        for (path, identity) in new.0 {
            if self.0.len() < MOST_FOUND || self.0.contains_key(&path) {
                // What is at a known place may be a decoy: the known one is still to be found.
                self.0.entry(path).or_insert(identity);
            } else {
                tracing::warn!(path = %path.display(), "there is more to protect than is kept in mind");
                return;
            }
        }
    }

    fn holds(&self, identity: Identity) -> bool {
        self.0.values().any(|own| *own == identity)
    }
}

/// Something that is not where it was may have been moved, with the folder it is in, to be out of sight.
fn find_moved(root: &Path, kind: Kind, things: &mut Things) {
    let moved: Vec<(PathBuf, Identity)> =
        things.0.iter().filter(|(path, own)| identity(path) != Some(**own)).map(|(p, i)| (p.clone(), *i)).collect();
    if moved.is_empty() {
        return;
    }
    things.0.retain(|path, _| moved.iter().all(|(gone, _)| gone != path));
    things.add(look(root, kind, FIRST));
    if moved.iter().all(|(_, identity)| things.holds(*identity)) {
        return;
    }
    let limits = match kind {
        // Editors put a new file in the place of an old one, which then is nowhere.
        Kind::Secrets => Limits { time: LATER.time, ..THOROUGH },
        Kind::Repositories => THOROUGH,
    };
    let mut again = look(root, kind, limits);
    again.0.retain(|_, identity| moved.iter().any(|(_, gone)| gone == identity));
    things.add(again);
}

/// Level by level: what is near the top is found even where not everything can be looked at.
fn look(root: &Path, kind: Kind, limits: Limits) -> Things {
    let mut things = Things::default();
    let complete = walk(root, limits, |path, name, file_type| {
        let wanted = match kind {
            Kind::Repositories => name == ".git",
            Kind::Secrets => file_type.is_file() && is_secret(root, path, name),
        };
        if let Some(identity) = wanted.then(|| identity(path)).flatten() {
            things.0.insert(path.to_path_buf(), identity);
        }
        things.0.len() < MOST_FOUND || limits.everywhere
    });
    if !complete {
        let what = match kind {
            Kind::Secrets => "files with secrets",
            Kind::Repositories => "repositories",
        };
        tracing::warn!(root = %root.display(), what, "too much to look through: what was not found is not protected");
    }
    things
}

/// Shows every entry until there is no time or no wish for more. Whether everything was shown.
fn walk(root: &Path, limits: Limits, mut show: impl FnMut(&Path, &OsStr, FileType) -> bool) -> bool {
    let begun = Instant::now();
    let mut waiting = VecDeque::from([root.to_path_buf()]);
    let mut seen = 0;
    while let Some(folder) = waiting.pop_front() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            let (Ok(kind), name, path) = (entry.file_type(), entry.file_name(), entry.path()) else { continue };
            if seen > limits.entries || begun.elapsed() > limits.time || !show(&path, &name, kind) {
                return false;
            }
            let made_by_programs = NOT_SEARCHED.iter().any(|own| name == *own) && !limits.everywhere;
            if kind.is_dir() && name != ".git" && !made_by_programs {
                waiting.push_back(path);
            }
        }
    }
    true
}

fn identity(path: &Path) -> Option<Identity> {
    fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

fn is_secret(root: &Path, path: &Path, name: &OsStr) -> bool {
    let Some(name) = name.to_str() else { return false };
    is_secret_variables(name)
        || (may_be_private_key(path.strip_prefix(root).unwrap_or(path), name) && holds_private_key(path))
}

/// Certificates end like keys do; only what is a key, or can't be read as text, counts.
fn holds_private_key(path: &Path) -> bool {
    let Ok(file) = open_without_links(path) else { return true };
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
    use super::*;

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
            ("node_modules/x/.env", "A=1"),
            ("certs/ca.pem", "-----BEGIN CERTIFICATE-----"),
            ("certs/server.pem", "-----BEGIN RSA PRIVATE KEY-----"),
            ("sub/.git/config", ""),
        ] {
            write(folder.path(), path, text);
        }
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join(".env.link")).unwrap();
        let found = Search::new(folder.path().to_path_buf()).found();
        let at = |path: &str| folder.path().join(path);
        assert_eq!(found.secrets, [at(".env"), at("app/.env.local"), at("certs/server.pem")]);
        assert_eq!(found.repositories, [at("sub/.git")]);
    }

    #[test]
    fn what_is_known_is_looked_at_again_when_it_is_old() {
        let folder = tempfile::tempdir().unwrap();
        let search = Search::new(folder.path().to_path_buf());
        assert_eq!(search.found(), Found::default());
        fs::write(folder.path().join(".env"), "").unwrap();
        assert_eq!(search.found(), Found::default(), "still fresh");
        let old = Instant::now().checked_sub(FRESH * 2).unwrap();
        search.known.lock().unwrap().as_mut().unwrap().when = old;
        let begun = Instant::now();
        while search.found().secrets.is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(20), "never looked again");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    #[test]
    fn a_flood_hides_nothing_that_was_known_and_no_repository() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "sub/.git/config", "");
        write(folder.path(), "sub/.env", "A=1");
        let search = Search::new(folder.path().to_path_buf());
        let before = search.found();
        for number in 0..MOST_FOUND * 2 {
            fs::write(folder.path().join(format!(".env.{number}")), "").unwrap();
        }
        let mut known = search.known.lock().unwrap();
        let known = known.as_mut().unwrap();
        known.secrets.add(look(folder.path(), Kind::Secrets, LATER));
        known.repositories.add(look(folder.path(), Kind::Repositories, LATER));
        let after = known.found();
        assert_eq!(after.repositories, before.repositories);
        assert!(after.secrets.contains(&folder.path().join("sub/.env")) && after.secrets.len() == MOST_FOUND);
        assert_eq!(look(folder.path(), Kind::Repositories, FIRST).0.len(), 1, "looked for apart");
    }

    #[test]
    fn what_was_moved_away_is_found_before_anything_runs_also_behind_a_decoy() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path);
        write(folder.path(), "sub/.git/config", "");
        write(folder.path(), "sub/.env", "A=1");
        let search = Search::new(folder.path().to_path_buf());
        search.found();
        fs::create_dir(at("build")).unwrap();
        fs::rename(at("sub"), at("build/sub")).unwrap();
        write(folder.path(), "sub/.git/config", "");
        let found = search.found();
        assert_eq!(found.repositories, [at("build/sub/.git"), at("sub/.git")]);
        assert_eq!(found.secrets, [at("build/sub/.env")]);
        fs::remove_dir_all(at("build")).unwrap();
        let found = search.found();
        assert_eq!((found.repositories, found.secrets), (vec![at("sub/.git")], Vec::new()), "gone is gone");
    }
}
