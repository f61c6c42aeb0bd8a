//! What is known of a workspace that commands must not read or change: files with secrets, and repositories.
//!
//! A command can make a workspace too large to look through, and move things about. So what was once found stays
//! known until it is gone for good: it is held by a descriptor, which tells where it is now. What is new never
//! pushes out what is known.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::{CWD, Mode, OFlags, fstat, openat};

use crate::git::linked::is_git_name;
use crate::survey::facts::Facts;
use crate::survey::look::{Limits, Look};

const FIRST: Limits = Limits { time: Duration::from_millis(250), entries: 40_000, everywhere: false };
const LATER: Limits = Limits { time: Duration::from_secs(2), entries: 400_000, everywhere: false };
/// After a command, so that nothing of it is missed.
const WHOLE: Limits = Limits { time: Duration::from_secs(10), entries: usize::MAX, everywhere: false };
/// For what is known to be there, somewhere.
const THOROUGH: Limits = Limits { time: Duration::from_secs(10), entries: usize::MAX, everywhere: true };

/// The most files with secrets: each is a mount of every box.
pub(crate) const MOST_SECRETS: usize = 2000;

/// The most repositories that are protected; others are looked at after every command.
const MOST_REPOSITORIES: usize = 300;

/// How many things are held by a descriptor.
const MOST_HELD: usize = 200;

/// The device and the number of a file.
pub(crate) type Identity = (u64, u64);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) secrets: Vec<(PathBuf, Identity)>,
    /// Git folders and what leads to them, at the top and below.
    pub(crate) repositories: Vec<(PathBuf, Identity)>,
    /// Folders that git would take for a repository by themselves.
    pub(crate) bare: Vec<PathBuf>,
    /// Repositories beyond those that are protected, and what is called like one and is none yet.
    pub(crate) others: Vec<PathBuf>,
    /// What decides what agents and editors do, below the top.
    pub(crate) settings: Vec<PathBuf>,
    pub(crate) acting: Vec<PathBuf>,
    /// Whether there is something that was put aside after a command.
    pub(crate) put_aside: bool,
    /// Whether there are more secrets than can be hidden.
    pub(crate) too_many_secrets: bool,
    /// Whether something was not looked at.
    pub(crate) in_part: bool,
}

/// Looks through one workspace, and again before and after every command.
#[derive(Debug)]
pub(crate) struct Search {
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
struct State {
    root: PathBuf,
    readable: Vec<PathBuf>,
    look: Look,
    /// Whether a thread looks further.
    busy: bool,
    secrets: Things,
    repositories: Things,
    found: Found,
}

#[derive(Debug)]
struct Things {
    most: usize,
    /// What tells where it is now, of each; nothing where too much is held already. One that is moved to the place of
    /// another does not push it out: the other may be elsewhere by now.
    held: BTreeMap<(PathBuf, Identity), Option<OwnedFd>>,
}

impl Search {
    /// For a workspace; what is `readable`, by its path or its name, is no secret.
    pub(crate) fn new(root: PathBuf, readable: Vec<PathBuf>) -> Self {
        Self::with_room(root, readable, MOST_SECRETS, MOST_REPOSITORIES)
    }

    fn with_room(root: PathBuf, readable: Vec<PathBuf>, most_secrets: usize, most_repositories: usize) -> Self {
        let things = |most: usize| Things { most, held: BTreeMap::new() };
        let state = State {
            look: Look::new(root.clone()),
            root,
            readable,
            busy: false,
            secrets: things(most_secrets),
            repositories: things(most_repositories),
            found: Found::default(),
        };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    /// What is in the workspace now. What takes too long is looked at beside.
    pub(crate) fn found(&self, facts: &Facts) -> Found {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let in_part = !state.look.again(FIRST);
        state.take_in(in_part, facts);
        if in_part && !std::mem::replace(&mut state.busy, true) {
            self.look_further();
        }
        state.found.clone()
    }

    /// The same, however long it takes, within reason.
    pub(crate) fn found_wholly(&self, facts: &Facts) -> Found {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let in_part = !state.look.again(WHOLE);
        state.take_in(in_part, facts);
        state.found.clone()
    }

    /// What is known without a look.
    pub(crate) fn remembered(&self) -> Found {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).found.clone()
    }

    fn look_further(&self) {
        let state = Arc::clone(&self.state);
        let thread = std::thread::Builder::new().name("neco-search".to_owned());
        let started = thread.spawn(move || {
            let root = state.lock().unwrap_or_else(PoisonError::into_inner).root.clone();
            // Apart, so that nobody waits for it.
            let mut look = Look::new(root);
            // Where there is much, the second look has the system tell of changes from then on.
            let complete = look.again(LATER) && look.again(LATER);
            let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
            if !complete {
                tracing::warn!(root = %state.root.display(), "too much to look through: what was not found is not protected");
            }
            state.busy = false;
            // A command that ended meanwhile has had everything looked at.
            if state.found.in_part {
                state.look = look;
                state.take_in(!complete, &Facts::default());
            }
        });
        if let Err(error) = started {
            tracing::warn!(%error, "the workspace was not looked through further");
        }
    }
}

impl State {
    fn take_in(&mut self, in_part: bool, facts: &Facts) {
        let mut sights = self.look.sights();
        let is_readable = |path: &Path| is_among(path, &self.readable);
        sights.secrets.retain(|path| !is_readable(path));
        let more_secrets = self.secrets.follow(&self.root, facts).add(sights.secrets, facts);
        let is_whole = |path: &PathBuf| is_repository(path, facts);
        let (whole, half): (Vec<_>, Vec<_>) = sights.repositories.into_iter().partition(is_whole);
        let mut others = self.repositories.follow(&self.root, facts).add(whole, facts);
        // One with nothing in it does nothing.
        others.extend(
            half.into_iter().filter(|path| !fs::read_dir(path).is_ok_and(|mut inside| inside.next().is_none())),
        );
        self.found = Found {
            secrets: self.secrets.listed(),
            repositories: self.repositories.listed(),
            bare: sights.bare,
            others,
            settings: sights.settings,
            acting: sights.acting,
            put_aside: sights.put_aside,
            too_many_secrets: !more_secrets.is_empty(),
            in_part,
        };
    }
}

impl Things {
    fn listed(&self) -> Vec<(PathBuf, Identity)> {
        self.held.keys().cloned().collect()
    }

    /// Adds what is new; gives what there is no room for.
    fn add(&mut self, paths: Vec<PathBuf>, facts: &Facts) -> Vec<PathBuf> {
        let mut left = Vec::new();
        let mut handles = self.held.values().flatten().count();
        for path in paths {
            // A link stands for what it leads to; what is called `.git` is meant itself.
            let path = match path.file_name() {
                Some(name) if !is_git_name(name) => fs::canonicalize(&path).unwrap_or(path),
                Some(_) | None => path,
            };
            let Some(identity) = facts.identity(&path) else { continue };
            let is_full = self.held.len() >= self.most;
            match self.held.entry((path, identity)) {
                Entry::Occupied(_) => {}
                Entry::Vacant(vacant) if is_full => left.push(vacant.into_key().0),
                Entry::Vacant(vacant) => {
                    let handle = (handles < MOST_HELD).then(|| hold(&vacant.key().0, identity)).flatten();
                    handles += usize::from(handle.is_some());
                    vacant.insert(handle);
                }
            }
        }
        left
    }

    /// What is not where it was may have been moved, with the folder that it is in, to be out of sight.
    fn follow(&mut self, root: &Path, facts: &Facts) -> &mut Self {
        let is_gone = |(path, known): &(PathBuf, Identity)| facts.identity(path) != Some(*known);
        let gone: Vec<(PathBuf, Identity)> = self.held.keys().filter(|own| is_gone(own)).cloned().collect();
        let mut lost = BTreeSet::new();
        for own in gone {
            let (_, identity) = own;
            match self.held.remove(&own).flatten() {
                Some(handle) => {
                    if let Some(now) = place_of(&handle).filter(|now| now.starts_with(root)) {
                        self.held.insert((now, identity), Some(handle));
                    }
                }
                None => drop(lost.insert(identity)),
            }
        }
        lost.retain(|lost| !self.held.iter().any(|((_, identity), handle)| identity == lost && handle.is_some()));
        if !lost.is_empty() {
            self.find(root, &lost);
        }
        self
    }

    fn find(&mut self, root: &Path, lost: &BTreeSet<Identity>) {
        let mut look = Look::new(root.to_path_buf());
        look.again(THOROUGH);
        let sights = look.sights();
        for path in sights.secrets.into_iter().chain(sights.repositories) {
            if let Some(identity) = identity(&path).filter(|own| lost.contains(own)) {
                self.held.entry((path, identity)).or_default();
            }
        }
    }
}

/// Whether a path is one of these or below one, or has the name of one.
pub(crate) fn is_among(path: &Path, allowed: &[PathBuf]) -> bool {
    let names = |allowed: &PathBuf| path.file_name() == Some(allowed.as_os_str());
    allowed.iter().any(|allowed| path.starts_with(allowed) || names(allowed))
}

/// Whether something called `.git` can be a repository: a folder without a `HEAD` is none to git, until someone makes
/// one of it with all that is in it already.
pub(crate) fn is_repository(dot_git: &Path, facts: &Facts) -> bool {
    match facts.of(dot_git) {
        Some(found) if found.is_dir() => {
            facts.listed.look_at(dot_git);
            facts.is_there(&dot_git.join("HEAD"))
        }
        Some(_) => true,
        None => false,
    }
}

/// A descriptor of what is at a place, if that is still what was seen there.
fn hold(path: &Path, seen: Identity) -> Option<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = openat(CWD, path, flags, Mode::empty()).ok()?;
    let found = fstat(&handle).ok()?;
    ((found.st_dev, found.st_ino) == seen).then_some(handle)
}

/// Where something is now; nothing when it is gone.
fn place_of(handle: &OwnedFd) -> Option<PathBuf> {
    if fstat(handle).ok()?.st_nlink == 0 {
        return None;
    }
    let path = fs::read_link(format!("/proc/self/fd/{}", handle.as_raw_fd())).ok()?;
    // A name of it is gone, and another it has.
    (!path.as_os_str().as_bytes().ends_with(b" (deleted)")).then_some(path)
}

pub(crate) fn identity(path: &Path) -> Option<Identity> {
    fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, path: &str, text: &str) {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn paths(things: &[(PathBuf, Identity)]) -> Vec<PathBuf> {
        things.iter().map(|(path, _)| path.clone()).collect()
    }

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir_in(fs::canonicalize(std::env::temp_dir()).unwrap()).unwrap()
    }

    #[test]
    fn what_is_new_is_found_at_the_next_look_also_behind_a_link() {
        let folder = folder();
        let search = Search::new(folder.path().to_path_buf(), Vec::new());
        assert_eq!(search.found(&Facts::default()), Found::default());
        write(folder.path(), "conf/.env", "");
        write(folder.path(), "conf/prodvars", "");
        std::os::unix::fs::symlink("conf/prodvars", folder.path().join(".env")).unwrap();
        let found = search.found(&Facts::default());
        assert_eq!(paths(&found.secrets), ["conf/.env", "conf/prodvars"].map(|path| folder.path().join(path)));
        assert_eq!(search.remembered(), found);
    }

    #[test]
    fn a_flood_hides_nothing_that_was_known_and_is_told() {
        let folder = folder();
        let at = |path: &str| folder.path().join(path);
        write(folder.path(), "conf/.env", "A=1");
        write(folder.path(), "conf/sub/.git/HEAD", "");
        let search = Search::with_room(folder.path().to_path_buf(), vec![".env.test".into()], 20, 10);
        search.found(&Facts::default());
        for number in 0..50 {
            write(folder.path(), &format!("d{number}/.env.test"), "");
        }
        assert!(!search.found(&Facts::default()).too_many_secrets, "what is readable is none");
        for number in 0..20 {
            write(folder.path(), &format!("d{number}/.env"), "");
        }
        for number in 0..10 {
            write(folder.path(), &format!("d{number}/.git/HEAD"), "");
            fs::create_dir_all(at(&format!("decoy{number}/.git"))).unwrap();
        }
        fs::create_dir_all(at("zz/y/x/target")).unwrap();
        fs::rename(at("conf"), at("zz/y/x/target/conf")).unwrap();
        let found = search.found(&Facts::default());
        assert!(paths(&found.secrets).contains(&at("zz/y/x/target/conf/.env")) && found.too_many_secrets);
        assert!(paths(&found.repositories).contains(&at("zz/y/x/target/conf/sub/.git")));
        assert_eq!(found.others.len(), 1, "one more than are protected");
        write(folder.path(), "decoy0/.git/hooks/pre-commit", "");
        assert_eq!(search.found(&Facts::default()).others.len(), 2, "and what can become one");
    }

    #[test]
    fn what_was_moved_away_is_known_where_it_is_also_behind_a_decoy() {
        let folder = folder();
        let at = |path: &str| folder.path().join(path);
        write(folder.path(), "sub/.git/HEAD", "");
        write(folder.path(), "sub/.env", "A=1");
        let search = Search::new(folder.path().to_path_buf(), Vec::new());
        search.found(&Facts::default());
        fs::create_dir(at("build")).unwrap();
        fs::rename(at("sub"), at("build/sub")).unwrap();
        write(folder.path(), "sub/.git/HEAD", "");
        write(folder.path(), "sub/.env", "decoy");
        let found = search.found(&Facts::default());
        assert_eq!(paths(&found.repositories), [at("build/sub/.git"), at("sub/.git")]);
        assert_eq!(paths(&found.secrets), [at("build/sub/.env"), at("sub/.env")]);
        fs::remove_dir_all(at("build")).unwrap();
        let found = search.found(&Facts::default());
        assert_eq!((paths(&found.repositories), paths(&found.secrets)), (vec![at("sub/.git")], vec![at("sub/.env")]));
    }

    #[test]
    fn what_is_exchanged_without_pause_is_never_forgotten() {
        let folder = folder();
        let at = |path: &str| folder.path().join(path);
        write(folder.path(), "conf/.env", "secret");
        write(folder.path(), "dec/other", "");
        let search = Search::new(folder.path().to_path_buf(), Vec::new());
        let own = search.found(&Facts::default()).secrets[0].1;
        for _ in 0..100 {
            let (conf, dec) = (at("conf"), at("dec"));
            rustix::fs::renameat_with(CWD, &conf, CWD, &dec, rustix::fs::RenameFlags::EXCHANGE).unwrap();
            assert!(search.found(&Facts::default()).secrets.iter().any(|(_, identity)| *identity == own));
        }
    }

    #[test]
    fn what_is_held_stays_so_whatever_else_is_lost_or_comes_to_its_place() {
        let folder = folder();
        let at = |path: &str| folder.path().join(path);
        write(folder.path(), "conf/.env", "secret");
        write(folder.path(), "dec/.env", "decoy");
        let mut things = Things { most: 10, held: BTreeMap::new() };
        things.add(vec![at("conf/.env"), at("dec/.env")], &Facts::default());
        let [conf, dec] = ["conf/.env", "dec/.env"].map(|path| identity(&at(path)).unwrap());
        // Seen elsewhere between two moves, when no more could be held.
        things.held.insert((at("gone/.env"), conf), None);
        things.follow(folder.path(), &Facts::default());
        assert!(things.held.values().all(Option::is_some) && things.held.len() == 2);
        // The decoy is moved, and comes back while the other is being followed.
        let handle = things.held.remove(&(at("dec/.env"), dec)).unwrap();
        things.held.insert((at("gone/.env"), dec), handle);
        fs::rename(at("conf/.env"), at("kept")).unwrap();
        fs::rename(at("dec/.env"), at("conf/.env")).unwrap();
        things.follow(folder.path(), &Facts::default());
        assert_eq!(things.listed(), [(at("conf/.env"), dec), (at("kept"), conf)]);
    }
}
