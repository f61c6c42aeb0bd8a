//! What rules close to commands, found on the disk: the places of a box that hide it, or keep it as it is.
//!
//! Rules that name a place need no look. For others the folders that commands work in are looked through before every
//! command; a folder is read again only when something was made, removed or renamed in it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use std::{fs, io};

use crate::after::hands::name_before;
use crate::after::known::{Stamp, unsettled_for};
use crate::git::linked::is_git_name;
use crate::plan::hard_links::other_names;
use crate::survey::unreadable;
use neco_safety::policy::{Closed, PathPattern, Sayings};

/// The most places that rules close: each is a mount of every box.
const MOST_PLACES: usize = 2000;

/// How much is looked through for what rules close, and how long.
const MOST_ENTRIES: usize = 1_000_000;
const PATIENCE: Duration = Duration::from_secs(10);

/// A name that nothing has: what closes it in a folder closes everything there.
const ANY_NAME: &str = "\u{1}";

/// What is closed of a place and all below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Shut {
    pub(crate) reading: bool,
    /// It stays as it is.
    pub(crate) changing: bool,
}

/// What rules close on this machine now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShutPlaces {
    /// Where what is closed is another than in the folder above.
    pub(crate) places: BTreeMap<PathBuf, Shut>,
    /// What is not there and must not be made.
    pub(crate) missing: Vec<PathBuf>,
}

impl ShutPlaces {
    /// Those that lie in nothing that is hidden.
    pub(crate) fn outermost(&self) -> impl Iterator<Item = &PathBuf> {
        let is_hidden = |path: &Path| self.places.get(path).is_some_and(|shut| shut.reading);
        self.places.keys().filter(move |path| !path.ancestors().skip(1).any(is_hidden))
    }
}

/// What rules close to the commands of one agent.
#[derive(Debug)]
pub(crate) struct Closing {
    closed: Closed,
    /// The folders that commands work in.
    roots: Vec<PathBuf>,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    folders: HashMap<PathBuf, Folder>,
    /// Other names of files among these places, as they were found when the places were these.
    linked: Option<(BTreeMap<PathBuf, Shut>, BTreeMap<PathBuf, Shut>)>,
}

/// What is known of a folder.
#[derive(Debug)]
struct Folder {
    /// Nothing where a later change could look the same.
    stamp: Option<Stamp>,
    /// What is closed of the folder itself.
    within: Shut,
    below: Vec<(OsString, Shut)>,
    found: Vec<(OsString, Shut)>,
}

impl Closing {
    /// For commands that work in these folders; nothing where nothing is closed to them.
    pub(crate) fn new(closed: &Closed, roots: &[PathBuf]) -> Option<Self> {
        let roots = roots.iter().filter_map(|root| fs::canonicalize(root).ok()).collect();
        (!closed.is_open_to_commands()).then(|| Self { closed: closed.clone(), roots, state: Mutex::default() })
    }

    /// What is closed now. Touches the disk.
    /// Fails when it can't be said, or is more than a box can hold.
    pub(crate) fn places(&self) -> io::Result<ShutPlaces> {
        let found = self.found()?;
        if found.places.len() > MOST_PLACES {
            let words = format!(
                "rules close more than {MOST_PLACES} files one by one, which is more than a sandbox can hide: name the \
                 folders that they are in"
            );
            return Err(io::Error::other(words));
        }
        Ok(found)
    }

    fn found(&self) -> io::Result<ShutPlaces> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let mut found = self.named();
        self.look(&mut state.folders, &mut found.places)?;
        let known = state.linked.take().filter(|(places, _)| *places == found.places);
        let linked = match known {
            Some((_, linked)) => linked,
            None => other_names(&found.places, &self.roots)?,
        };
        state.linked = Some((found.places.clone(), linked.clone()));
        found.places.extend(linked);
        Ok(found)
    }

    /// The folders that commands work in.
    pub(crate) fn roots(&self) -> &[PathBuf] {
        &self.roots
    }

    /// What is there now of what must not be made, and was not there before.
    pub(crate) fn made_since(&self, before: &ShutPlaces) -> io::Result<Vec<PathBuf>> {
        let now = self.found()?.places.into_iter().filter(|(_, shut)| shut.changing);
        let was_there: BTreeSet<&PathBuf> = before.places.keys().collect();
        let is_inside = |path: &Path| path.ancestors().skip(1).any(|above| was_there.contains(&above.to_path_buf()));
        Ok(now.map(|(path, _)| path).filter(|path| !was_there.contains(path) && !is_inside(path)).collect())
    }

    fn shut(&self, path: &Path) -> Shut {
        let before = || path.file_name().and_then(name_before).map(|name| path.with_file_name(name));
        let reads = &self.closed.reads;
        let reading = reads.close(path) || before().is_some_and(|before| reads.close(&before));
        Shut { reading, changing: self.closed.changes.close(path) }
    }

    /// What rules name by one place.
    fn named(&self) -> ShutPlaces {
        let mut found = ShutPlaces::default();
        let (reads, changes) = (&self.closed.reads, &self.closed.changes);
        let bases = |patterns: &mut dyn Iterator<Item = &PathPattern>| -> BTreeSet<PathBuf> {
            patterns.filter_map(PathPattern::base).map(Path::to_path_buf).collect()
        };
        let closing = bases(&mut reads.closing().chain(changes.closing()));
        let opening = bases(&mut reads.opening().chain(changes.opening()));
        for base in closing.iter().chain(&opening) {
            let below = self.shut(&base.join(ANY_NAME));
            let itself = self.shut(base);
            // What a rule opens is opened with all that is in it; what one closes is closed so.
            let shut = match closing.contains(base) {
                true => Shut { reading: itself.reading || below.reading, changing: itself.changing || below.changing },
                false if base.is_dir() => below,
                false => itself,
            };
            // A link stands for what it leads to.
            match fs::canonicalize(base) {
                Ok(path) => drop(found.places.insert(path, shut)),
                Err(_) if shut.changing => found.missing.push(would_be(base)),
                Err(_) => {}
            }
        }
        found
    }

    /// The folders that are looked through for what is closed by patterns.
    fn looked_through(&self) -> BTreeSet<PathBuf> {
        let (reads, changes) = (&self.closed.reads, &self.closed.changes);
        let all = [reads, changes].into_iter().flat_map(|sayings| sayings.closing().chain(sayings.opening()));
        let starts = all.filter(|pattern| pattern.base().is_none()).flat_map(PathPattern::starts);
        let mut folders = BTreeSet::new();
        for start in starts {
            let roots: Vec<&PathBuf> = self.roots.iter().filter(|root| root.starts_with(&start)).collect();
            match roots.is_empty() {
                // What begins above the folders that commands work in is looked for in these alone.
                false => folders.extend(roots.into_iter().cloned()),
                true => folders.extend(fs::canonicalize(start)),
            }
        }
        let all = folders.clone();
        folders.retain(|folder| !all.iter().any(|other| other != folder && folder.starts_with(other)));
        folders
    }

    /// Looks through folders; what did not change is not read again.
    fn look(&self, folders: &mut HashMap<PathBuf, Folder>, found: &mut BTreeMap<PathBuf, Shut>) -> io::Result<()> {
        let begun = Instant::now();
        let opens = self.closed.reads.opening().chain(self.closed.changes.opening()).next().is_some();
        let mut known = std::mem::take(folders);
        let mut waiting: Vec<(PathBuf, Shut)> =
            self.looked_through().into_iter().map(|start| (start, Shut::default())).collect();
        let mut entries = 0;
        while let Some((path, within)) = waiting.pop() {
            if entries > MOST_ENTRIES || begun.elapsed() > PATIENCE {
                let words = "there is too much to look through for what rules close, so nothing is run: name in the \
                             rules the folders that are meant";
                return Err(io::Error::other(words));
            }
            let now = match fs::symlink_metadata(&path) {
                Ok(found) if found.is_dir() => found,
                Ok(_) => continue,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(unseen(&path, &error)),
            };
            let now = (now.ino(), now.ctime(), now.ctime_nsec(), now.len());
            let is_as_it_was = |folder: &Folder| folder.within == within && folder.stamp == Some(now);
            let folder = match known.remove(&path).filter(is_as_it_was) {
                Some(folder) => folder,
                None => {
                    let (count, folder) = self.read(&path, within, now)?;
                    entries += count;
                    folder
                }
            };
            found.extend(folder.found.iter().map(|(name, shut)| (path.join(name), *shut)));
            let is_whole = |shut: &Shut| shut.reading && shut.changing && !opens;
            let below = folder.below.iter().filter(|(_, shut)| !is_whole(shut));
            waiting.extend(below.map(|(name, shut)| (path.join(name), *shut)));
            folders.insert(path, folder);
        }
        Ok(())
    }

    /// A folder, and how many entries it has.
    fn read(&self, path: &Path, within: Shut, now: Stamp) -> io::Result<(usize, Folder)> {
        let stamp = unsettled_for(now).is_none().then_some(now);
        let mut folder = Folder { stamp, within, below: Vec::new(), found: Vec::new() };
        let entries = unreadable::entries(path).map_err(|error| unseen(path, &error))?;
        let count = entries.len();
        // Paths are closed as they are when every link is followed: a link is none of its own.
        for unreadable::Entry { name, kind } in entries.into_iter().filter(|entry| !entry.kind.is_symlink()) {
            let shut = self.below(&path.join(&name), within);
            if shut != within {
                folder.found.push((name.clone(), shut));
            }
            // What git keeps is git's own.
            if kind.is_dir() && !is_git_name(&name) {
                folder.below.push((name, shut));
            }
        }
        Ok((count, folder))
    }

    /// What is closed of something in a folder: what the folder is, unless a rule opens it.
    fn below(&self, path: &Path, within: Shut) -> Shut {
        let own = self.shut(path);
        let still = |sayings: &Sayings, within: bool, own: bool| {
            own || within && !sayings.opening().any(|pattern| pattern.fits(path))
        };
        Shut {
            reading: still(&self.closed.reads, within.reading, own.reading),
            changing: still(&self.closed.changes, within.changing, own.changing),
        }
    }
}

/// Why nothing is run where something can't be looked at: it may hold what rules close.
pub(crate) fn unseen(path: &Path, error: &io::Error) -> io::Error {
    let words = "it can't be looked through for what rules close, so nothing is run: make it readable, or remove it";
    io::Error::new(error.kind(), format!("{}: {words} ({error})", path.display()))
}

/// Where something would be that is not there: what leads to it is followed.
fn would_be(path: &Path) -> PathBuf {
    let path = match (fs::read_link(path), path.parent()) {
        (Ok(text), Some(folder)) => folder.join(text),
        (_, _) => path.to_path_buf(),
    };
    let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
    folder.zip(path.file_name()).map_or_else(|| path.clone(), |(folder, name)| folder.join(name))
}

#[cfg(test)]
#[path = "closing_tests.rs"]
mod tests;
