//! Looks through a workspace for what commands must not read or change: files with secrets, and the
//! git folders of repositories inside it.

use std::collections::VecDeque;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::names::{is_secret_variables, may_be_private_key};
use crate::path::open_without_links;

/// The most entries that are looked at.
const MOST_ENTRIES: usize = 40_000;

/// The most time the first look may take: a command waits for it.
const MOST_TIME: Duration = Duration::from_millis(250);

/// How long what was found counts.
const FRESH: Duration = Duration::from_secs(10);

/// The most that is found; a workspace with more is no workspace.
const MOST_FOUND: usize = 500;

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
    /// Whether something may have been missed.
    pub(super) incomplete: bool,
}

/// What was found, and when.
type Known = (Instant, Arc<Found>);

/// Looks through one workspace, and again when what it knows is old.
#[derive(Debug)]
pub(super) struct Search {
    root: PathBuf,
    known: Arc<Mutex<Option<Known>>>,
}

impl Search {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root, known: Arc::default() }
    }

    /// What is in the workspace. The first look is waited for; later ones happen beside.
    pub(super) fn found(&self) -> Arc<Found> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match &mut *known {
            Some((when, found)) => {
                let found = Arc::clone(found);
                if when.elapsed() > FRESH {
                    *when = Instant::now();
                    self.look_again();
                }
                found
            }
            empty @ None => {
                let found = Arc::new(look(&self.root, MOST_TIME));
                if found.incomplete {
                    tracing::warn!(root = %self.root.display(), "too much to look through for files with secrets");
                }
                *empty = Some((Instant::now(), Arc::clone(&found)));
                found
            }
        }
    }

    fn look_again(&self) {
        let (root, known) = (self.root.clone(), Arc::clone(&self.known));
        let thread = std::thread::Builder::new().name("neco-search".to_owned());
        let started = thread.spawn(move || {
            let found = Arc::new(look(&root, MOST_TIME * 8));
            *known.lock().unwrap_or_else(PoisonError::into_inner) = Some((Instant::now(), found));
        });
        if let Err(error) = started {
            tracing::warn!(%error, "the workspace was not looked through again");
        }
    }
}

/// Level by level: what is near the top is found even where not everything can be looked at.
fn look(root: &Path, most_time: Duration) -> Found {
    let begun = Instant::now();
    let mut found = Found::default();
    let mut waiting = VecDeque::from([root.to_path_buf()]);
    let mut seen = 0;
    while let Some(folder) = waiting.pop_front() {
        let Ok(entries) = fs::read_dir(&folder) else { continue };
        for entry in entries.flatten() {
            seen += 1;
            let total = found.secrets.len() + found.repositories.len();
            if seen > MOST_ENTRIES || total >= MOST_FOUND || begun.elapsed() > most_time {
                found.incomplete = true;
                return found;
            }
            let (Ok(kind), name) = (entry.file_type(), entry.file_name()) else { continue };
            let Some(name) = name.to_str() else { continue };
            let path = entry.path();
            if name == ".git" {
                found.repositories.push(path);
            } else if kind.is_dir() {
                if !NOT_SEARCHED.contains(&name) {
                    waiting.push_back(path);
                }
            } else if !kind.is_symlink() && is_secret(root, &path, name) {
                found.secrets.push(path);
            }
        }
    }
    found
}

fn is_secret(root: &Path, path: &Path, name: &str) -> bool {
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

    #[test]
    fn secrets_and_repositories_are_found_and_the_rest_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(".env", "A=1");
        write("app/.env.local", "A=1");
        write("app/.env.example", "A=");
        write("node_modules/x/.env", "A=1");
        write("certs/ca.pem", "-----BEGIN CERTIFICATE-----");
        write("certs/server.pem", "-----BEGIN RSA PRIVATE KEY-----");
        write("sub/.git/config", "");
        std::os::unix::fs::symlink("/etc/passwd", folder.path().join(".env.link")).unwrap();
        let mut found = look(folder.path(), Duration::from_secs(20));
        found.secrets.sort();
        let at = |path: &str| folder.path().join(path);
        assert_eq!(found.secrets, [at(".env"), at("app/.env.local"), at("certs/server.pem")]);
        assert_eq!((found.repositories, found.incomplete), (vec![at("sub/.git")], false));
    }

    #[test]
    fn what_is_known_is_looked_at_again_when_it_is_old() {
        let folder = tempfile::tempdir().unwrap();
        let search = Search::new(folder.path().to_path_buf());
        assert_eq!(*search.found(), Found::default());
        fs::write(folder.path().join(".env"), "").unwrap();
        assert_eq!(*search.found(), Found::default(), "still fresh");
        let old = Instant::now().checked_sub(FRESH * 2).unwrap();
        search.known.lock().unwrap().as_mut().unwrap().0 = old;
        let begun = Instant::now();
        while search.found().secrets.is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(20), "never looked again");
            std::thread::sleep(Duration::from_millis(2));
        }
    }
}
