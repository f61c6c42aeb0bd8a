//! Watches over the folders of a session from before a command to after it: what is there when nothing runs is the
//! person's; what is there after a command and was not before is looked at as the command's.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

use super::git_check::{Aftermath, folders_of, mend};
use super::git_index::repositories_in;
use super::hands::Hands;
use super::linked_git::gitdir_of;
use super::search::{Found, MOST_SECRETS, Search};
use super::traces::{Note, NoteKind};
use crate::path::open_without_links;

/// A larger index is not read.
const MOST_INDEX: u64 = 256 * 1024 * 1024;

/// Repositories that are entered from others; more are not followed.
const MOST_ENTERED: usize = 2000;

/// What watches over the folders of a session.
#[derive(Debug)]
pub(super) struct Watch {
    roots: Vec<PathBuf>,
    hands: Vec<Hands>,
    searches: Vec<Search>,
    /// Whether commands write at all.
    writes: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// Boxes that are there now.
    boxes: usize,
    /// Git folders, and what leads to them, that were there when no box was, and that every box protects.
    persons: HashSet<Birth>,
    /// Those that no box protects, with the state of what decides what git runs in them.
    open: HashMap<PathBuf, Vec<Stamp>>,
    /// Where those are.
    places: Vec<PathBuf>,
    /// Hands for git folders outside of the roots.
    outside: Vec<Hands>,
    /// What could not be put aside.
    left: Vec<PathBuf>,
    /// The repositories that an index names, as long as it does not change.
    indexes: HashMap<PathBuf, (Stamp, Vec<PathBuf>)>,
}

/// What changes whenever a file is written anew.
type Stamp = (u64, i64, i64, u64);

/// What tells a folder from another that later has its number.
type Birth = (u64, u64, Option<SystemTime>);

/// One box that is watched; ends with it.
#[derive(Debug)]
pub(super) struct Watched {
    watch: Arc<Watch>,
    over: bool,
}

impl Watch {
    /// For folders that commands work in, and whether they write to them; what is `readable` is no secret.
    ///
    /// # Errors
    /// When one of them can't be opened.
    pub(super) fn new(roots: &[PathBuf], writes: bool, readable: &[PathBuf]) -> io::Result<Self> {
        Ok(Self {
            roots: roots.to_vec(),
            hands: roots.iter().map(|root| Hands::open(root)).collect::<io::Result<_>>()?,
            searches: roots.iter().map(|root| Search::new(root.clone(), readable.to_vec())).collect(),
            writes,
            state: Mutex::default(),
        })
    }

    /// Begins to watch one more box, and says what is there.
    ///
    /// # Errors
    /// When something is there that no command must find.
    pub(super) fn begin(self: &Arc<Self>) -> io::Result<(Found, Watched)> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.left.retain(|path| fs::symlink_metadata(path).is_ok());
        if let Some(path) = state.left.first() {
            let words = "a command made what it must not make, and it could not be put aside: no other command runs \
                         until it is gone";
            return Err(io::Error::other(format!("{}: {words}", path.display())));
        }
        let found = self.all(Search::found);
        if found.too_many_secrets {
            let words = format!(
                "more than {MOST_SECRETS} files look like secrets, which is more than can be hidden: remove those that \
                 are none, or name them in sandbox.readable"
            );
            return Err(io::Error::other(words));
        }
        if state.boxes == 0 && self.writes {
            self.trust(&mut state, &found);
        }
        state.boxes += 1;
        Ok((found, Watched { watch: Arc::clone(self), over: false }))
    }

    /// Whether a repository was there when nothing ran.
    pub(super) fn is_persons(&self, dot_git: &Path) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        birth(dot_git).is_some_and(|own| state.persons.contains(&own))
    }

    /// What is known without a look.
    pub(super) fn remembered(&self) -> Found {
        self.all(Search::remembered)
    }

    /// Hands that reach a path.
    pub(super) fn hands_for(&self, path: &Path) -> Option<&Hands> {
        self.hands.iter().filter(|hands| hands.reach(path)).max_by_key(|hands| hands.depth())
    }

    fn all(&self, look: impl Fn(&Search) -> Found) -> Found {
        let mut all = Found::default();
        for found in self.searches.iter().map(look) {
            all.secrets.extend(found.secrets);
            all.repositories.extend(found.repositories);
            all.bare.extend(found.bare);
            all.others.extend(found.others);
            all.too_many_secrets |= found.too_many_secrets;
        }
        all
    }

    /// What is there while nothing runs is the person's, or was looked at.
    fn trust(&self, state: &mut State, found: &Found) {
        let protected: HashSet<&PathBuf> = found.repositories.iter().map(|(path, _)| path).collect();
        let (mut outside, mut kept, mut open) = (Vec::new(), Vec::new(), found.bare.clone());
        for (dot_git, folders) in self.repositories(state, found) {
            outside.extend(folders.iter().filter(|folder| self.hands_for(folder).is_none()).cloned());
            let is_protected =
                protected.contains(&dot_git) || self.roots.iter().any(|root| root.join(".git") == dot_git);
            let places = if is_protected { &mut kept } else { &mut open };
            places.push(dot_git);
            places.extend(folders);
        }
        state.persons = kept.iter().filter_map(|place| birth(place)).collect();
        state.open = open.iter().map(|place| (place.clone(), deciding(place))).collect();
        state.places = [kept, open].concat();
        state.outside = outside.iter().filter_map(|folder| Hands::open(folder).ok()).collect();
    }

    /// Every repository, with the git folders that it uses: those that were found, and those that git enters
    /// from them wherever they are.
    fn repositories(&self, state: &mut State, found: &Found) -> Vec<(PathBuf, Vec<PathBuf>)> {
        let at_the_top = self.roots.iter().map(|root| root.join(".git"));
        let below = found.repositories.iter().map(|(path, _)| path.clone());
        let mut waiting: Vec<PathBuf> = at_the_top.chain(below).chain(found.others.iter().cloned()).collect();
        let mut seen = BTreeSet::new();
        let mut all = Vec::new();
        while let Some(dot_git) = waiting.pop() {
            if seen.len() > MOST_ENTERED || fs::symlink_metadata(&dot_git).is_err() || !seen.insert(dot_git.clone()) {
                continue;
            }
            waiting.extend(state.entered_from(&dot_git));
            let folders = folders_of(&dot_git);
            all.push((dot_git, folders));
        }
        all
    }

    /// What is known to be the person's, for whoever comes after this process.
    pub(super) fn notes(&self) -> Vec<Note> {
        if !self.writes {
            return Vec::new();
        }
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let roots = self.roots.iter().map(|path| Note { kind: NoteKind::Root, path: path.clone() });
        let known = state.places.iter().map(|path| Note { kind: NoteKind::Known, path: path.clone() });
        roots.chain(known).collect()
    }

    /// Looks at what a command made whose process was killed; these git folders were there before.
    pub(super) fn sweep(&self, known: impl Iterator<Item = PathBuf>, aftermath: &mut Aftermath) {
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            state.persons.extend(known.filter_map(|path| birth(&path)));
        }
        let found = self.end();
        aftermath.taken.extend(found.taken);
        aftermath.left.extend(found.left);
    }

    /// Looks at what a command made, and ends watching its box.
    fn end(&self) -> Aftermath {
        let mut aftermath = Aftermath::default();
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.boxes = state.boxes.saturating_sub(1);
        if !self.writes {
            return aftermath;
        }
        let found = self.all(Search::found);
        let repositories = self.repositories(&mut state, &found);
        for dot_git in repositories.iter().map(|(dot_git, _)| dot_git).filter(|dot_git| state.is_commands(dot_git)) {
            if fs::symlink_metadata(dot_git).is_ok_and(|found| found.is_symlink()) {
                match self.hands_for(dot_git) {
                    Some(hands) => aftermath.note(dot_git, hands.put_aside(dot_git, "refused")),
                    None => aftermath.left.push(dot_git.clone()),
                }
            }
        }
        let folders: BTreeSet<&PathBuf> =
            repositories.iter().flat_map(|(_, folders)| folders).chain(&found.bare).collect();
        for folder in folders.into_iter().filter(|folder| state.is_commands(folder)) {
            let outside = state.outside.iter().find(|hands| hands.reach(folder));
            // What no hands reach no command could change.
            if let Some(hands) = self.hands_for(folder).or(outside) {
                mend(folder, hands, &mut aftermath);
            }
        }
        aftermath
    }
}

impl State {
    /// Whether a git folder, or what leads to one, is not as it was when nothing ran.
    fn is_commands(&self, path: &Path) -> bool {
        let Some(birth) = birth(path) else { return false };
        !self.persons.contains(&birth) && self.open.get(path).is_none_or(|before| *before != deciding(path))
    }

    /// What git enters from a repository, as its index says.
    fn entered_from(&mut self, dot_git: &Path) -> Vec<PathBuf> {
        let Some(top) = dot_git.parent() else { return Vec::new() };
        let own = if dot_git.is_dir() { Some(dot_git.to_path_buf()) } else { gitdir_of(dot_git) };
        let Some(own) = own else { return Vec::new() };
        let index = own.join("index");
        let Some(now) = stamp(&index) else { return Vec::new() };
        if let Some((_, entered)) = self.indexes.get(&index).filter(|(stamp, _)| *stamp == now) {
            return entered.clone();
        }
        let mut names = names_in(&index);
        // One that shares most of its entries with others keeps those beside.
        for entry in fs::read_dir(&own).into_iter().flatten().flatten() {
            if entry.file_name().as_bytes().starts_with(b"sharedindex.") {
                names.extend(names_in(&entry.path()));
            }
        }
        let path = |name: Vec<u8>| top.join(PathBuf::from(OsString::from_vec(name))).join(".git");
        let entered: Vec<PathBuf> = names.into_iter().map(path).collect();
        self.indexes.insert(index, (now, entered.clone()));
        entered
    }
}

fn names_in(index: &Path) -> Vec<Vec<u8>> {
    let Ok(file) = open_without_links(index) else { return Vec::new() };
    let mut bytes = Vec::new();
    let is_file = file.metadata().is_ok_and(|found| found.is_file());
    if !is_file || file.take(MOST_INDEX).read_to_end(&mut bytes).is_err() {
        return Vec::new();
    }
    repositories_in(&bytes).unwrap_or_else(|| {
        tracing::warn!(index = %index.display(), "the index of a repository can't be read, and neither can git");
        Vec::new()
    })
}

impl Watched {
    /// Looks at what the command made.
    pub(super) fn end(mut self) -> Aftermath {
        self.over = true;
        self.watch.end()
    }

    /// No other command runs until these are gone.
    pub(super) fn hold_up(watch: &Watch, left: &[PathBuf]) {
        watch.state.lock().unwrap_or_else(PoisonError::into_inner).left.extend_from_slice(left);
    }

    /// What it watches with.
    pub(super) fn watch(&self) -> &Arc<Watch> {
        &self.watch
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        if !self.over {
            self.watch.end();
        }
    }
}

fn birth(path: &Path) -> Option<Birth> {
    fs::symlink_metadata(path).ok().map(|found| (found.dev(), found.ino(), found.created().ok()))
}

/// The state of all that decides what git runs in a folder.
fn deciding(git: &Path) -> Vec<Stamp> {
    let hooks = git.join("hooks");
    let inside: BTreeSet<PathBuf> =
        fs::read_dir(&hooks).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    let files = ["config", "config.worktree", "commondir"].map(|name| git.join(name));
    let link = fs::symlink_metadata(git).is_ok_and(|found| found.is_symlink()).then(|| git.to_path_buf());
    files.iter().chain([&hooks]).chain(&inside).chain(&link).filter_map(|path| stamp(path)).collect()
}

fn stamp(path: &Path) -> Option<Stamp> {
    let found = fs::symlink_metadata(path).ok()?;
    Some((found.ino(), found.ctime(), found.ctime_nsec(), found.len()))
}
