//! What of the machine is seen in a box, and how: the plan that bubblewrap and Landlock both follow.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use rustix::fs::Access;
use serde::{Deserialize, Serialize};

use crate::level::{Level, Settings};
use crate::plan::closing::ShutPlaces;
use crate::plan::named::Named;
use crate::plan::names::{OWN_SETTINGS, SECRETS_AT_HOME, SECRETS_OF_THE_SYSTEM, START_UP, START_UP_FOLDERS};
use crate::survey::facts::Facts;
use crate::survey::search::{Found, Identity, identity, is_among, is_repository};
use neco_safety::path::later::{closed_files, closed_folders, skill_folders};
use neco_safety::world::Files;

/// The most settings below the top that are protected: each is a mount of every box.
const MOST_SETTINGS: usize = 200;

/// Folders that a box has of its own.
const OF_BOXES: [&str; 6] = ["/dev", "/proc", "/sys", "/run", "/tmp", "/var/tmp"];

/// How a path is seen in the box. What comes later in this list wins where two are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Seen {
    /// As it is, and changeable.
    Writable,
    ReadOnly,
    /// As an empty folder that can't be changed, although there is nothing on the machine.
    StandIn,
    /// As a small file of ours that can't be changed, where there is nothing otherwise.
    StandInFile,
    /// As a file that can't be read.
    HiddenFile,
    /// As a folder that can't be looked into.
    HiddenFolder,
    /// As a folder with nothing in it but what the box itself puts there.
    Emptied,
    /// A folder that the person chose to work in.
    Root,
}

/// Where the commands of a session work.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Roots {
    /// The folders that are worked in: the workspace and those the person added.
    pub writable: Vec<PathBuf>,
    /// What is seen and not changed, although it lies in a hidden folder or in one that is worked in.
    pub readable: Vec<PathBuf>,
}

impl From<&Files> for Roots {
    fn from(files: &Files) -> Self {
        let writable = files.writable().map(Path::to_path_buf).collect();
        Self { writable, readable: files.read_only().map(Path::to_path_buf).collect() }
    }
}

/// Where things of this machine are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Machine {
    pub(crate) home: Option<PathBuf>,
    /// Those of others, where they can be read.
    pub(crate) other_homes: Vec<PathBuf>,
    /// Folders with what is ours: settings, keys, sessions.
    pub(crate) own: Vec<PathBuf>,
    /// Folders for every box: temporary files, caches.
    pub(crate) given: Vec<PathBuf>,
    /// Folders that every box sees and none changes.
    pub(crate) shown: Vec<PathBuf>,
    /// What stands where nothing is, for other boxes.
    pub(crate) stand_ins: BTreeSet<PathBuf>,
    /// What a person opened to this one command.
    pub(crate) opened: Named,
    /// What rules close, whatever a person opened.
    pub(crate) shut: ShutPlaces,
    /// What becomes of settings that are not there.
    pub(crate) missing: Missing,
}

/// What becomes of settings that a workspace does not have, when a command makes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Missing {
    /// They are put aside at its end.
    #[default]
    PutAside,
    /// They can't be made: others, the person among them, work beside the command, and nobody could tell afterwards
    /// whose they are.
    StandIn,
    /// They stay: a server runs as long as the person works, who would see every stand-in in the folder all the time.
    Left,
}

/// The plan of a box.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Layout {
    /// Every path that is not simply seen and not changed, those above before those below.
    pub(crate) places: Vec<(PathBuf, Seen)>,
    /// Files that git would follow elsewhere, which are taken away again if a command makes them.
    pub(crate) unwanted: Vec<PathBuf>,
    /// Missing settings, which are put aside if a command makes them.
    pub(crate) missing: Vec<PathBuf>,
    /// Folders that must not become repositories by themselves.
    pub(crate) never_bare: Vec<PathBuf>,
    /// Settings that are links, and where they lead: nothing can cover a link, so they are put back.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// Missing folders in which a person lets a command make these files, and no others.
    pub(crate) only: Vec<(PathBuf, Vec<PathBuf>)>,
    /// Missing files that a person lets a command make where nothing else can be made.
    pub(crate) to_be_made: Vec<PathBuf>,
    /// Git folders, and what leads to them, in which all that decides what git runs stays as it is.
    pub(crate) git_folders: BTreeSet<PathBuf>,
    /// What certain places are: a box is not built around others that were put there.
    pub(crate) identities: Vec<(PathBuf, Identity)>,
    /// Hidden files that rules close, of which not even git sees what was added.
    pub(crate) shut_files: BTreeSet<PathBuf>,
}

impl Layout {
    /// The plan for these settings, and for what a look has seen.
    pub(crate) fn new(settings: &Settings, machine: &Machine, roots: &Roots, found: &Found, facts: &Facts) -> Self {
        let mut drawing = Drawing { settings, machine, facts, places: BTreeMap::new(), layout: Self::default() };
        match settings.level {
            Level::WorkspaceWrite => drawing.work_in(roots, found),
            Level::ReadOnly => drawing.look_at(roots),
            Level::Full => return Self::default(),
        }
        for path in roots.readable.iter().filter_map(|path| fs::canonicalize(path).ok()) {
            drawing.keep_in_place(&path);
            drawing.put(path, Seen::ReadOnly);
        }
        for path in machine.given.iter().filter_map(|path| fs::canonicalize(path).ok()) {
            drawing.put(path, Seen::Root);
        }
        for path in machine.shown.iter().filter_map(|path| fs::canonicalize(path).ok()) {
            drawing.put(path, Seen::ReadOnly);
        }
        drawing.hide(found);
        if settings.level == Level::WorkspaceWrite {
            drawing.open_outside();
        }
        drawing.shut();
        let layout = drawing.finish();
        let shut = machine.shut.outermost().filter_map(|path| Some((path.clone(), identity(path)?)));
        let known = found.secrets.iter().chain(&found.repositories).cloned().chain(shut);
        let is_placed = |path: &Path| layout.places.iter().any(|(own, _)| own == path);
        let identities = known.filter(|(path, _)| is_placed(path)).collect();
        Self { identities, ..layout }
    }

    pub(crate) fn seen_as(&self, wanted: &[Seen]) -> impl Iterator<Item = &PathBuf> {
        self.places.iter().filter(move |(_, seen)| wanted.contains(seen)).map(|(path, _)| path)
    }
}

/// A plan that is being drawn.
pub(crate) struct Drawing<'a> {
    settings: &'a Settings,
    pub(crate) machine: &'a Machine,
    /// What was seen, the folders among it in which many names are asked for.
    pub(crate) facts: &'a Facts,
    pub(crate) places: BTreeMap<PathBuf, Seen>,
    /// All of the plan but its places.
    pub(crate) layout: Layout,
}

impl Drawing<'_> {
    pub(crate) fn put(&mut self, path: PathBuf, seen: Seen) {
        let place = self.places.entry(path).or_insert(seen);
        *place = seen.max(*place);
    }

    /// It is seen so, whatever else was wanted.
    pub(crate) fn replace(&mut self, path: &Path, seen: Seen) {
        self.places.insert(path.to_path_buf(), seen);
    }

    pub(crate) fn is_placed(&self, path: &Path) -> bool {
        self.places.contains_key(path)
    }

    /// They are seen wherever they are: a private folder for temporary files must not cover them.
    fn look_at(&mut self, roots: &Roots) {
        let seen = roots.writable.iter().filter_map(|root| fs::canonicalize(root).ok());
        seen.for_each(|root| self.put(root, Seen::ReadOnly));
    }

    fn work_in(&mut self, roots: &Roots, found: &Found) {
        for root in roots.writable.iter().chain(&self.settings.writable) {
            if let Some(root) = fs::canonicalize(root).ok().filter(|root| can_be_worked_in(root)) {
                self.put(root, Seen::Root);
            }
        }
        for root in &roots.writable {
            self.keep_settings(root);
            if let Some(home) = self.machine.home.as_ref().filter(|home| home.starts_with(root)) {
                START_UP.split_whitespace().for_each(|name| self.keep_file(home.join(name)));
                START_UP_FOLDERS.split_whitespace().for_each(|name| self.keep_folder(&home.join(name)));
            }
        }
        self.keep_skills();
        for path in found.settings.iter().take(MOST_SETTINGS) {
            // What a link leads to has a place of its own.
            let is_link = fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink());
            if !is_link && !self.is_opened(path) {
                self.keep_what_is_there(path);
            }
        }
        // The one at the top is known without a search, which can be led astray.
        let at_the_top =
            roots.writable.iter().map(|root| root.join(".git")).filter(|git| is_repository(git, self.facts));
        let repositories: BTreeSet<PathBuf> =
            at_the_top.chain(found.repositories.iter().map(|(path, _)| path.clone())).collect();
        repositories.iter().for_each(|git| self.keep_git(git));
    }

    /// The person's own skills stay as they are, also where the folder that is worked in lies among them: their hooks
    /// run outside of every box.
    fn keep_skills(&mut self) {
        let own = &self.machine.own;
        for folder in skill_folders().into_iter().filter(|folder| !own.iter().any(|own| folder.starts_with(own))) {
            let is_worked_in = |(root, seen): &(&PathBuf, &Seen)| **seen == Seen::Root && root.starts_with(&folder);
            let worked_in: Vec<PathBuf> =
                self.places.iter().filter(is_worked_in).map(|(root, _)| root.clone()).collect();
            worked_in.iter().for_each(|root| self.replace(root, Seen::ReadOnly));
            if self.is_in_root(&folder) {
                match self.is_there(&folder) || self.machine.missing == Missing::PutAside {
                    true => self.keep_if_there(folder),
                    false => self.keep(folder),
                }
            }
        }
    }

    /// Settings stay as they are. Missing ones stay away: a stand-in keeps those from being made that a program
    /// on this machine would follow without a question; others are put aside at the end, so that nothing is
    /// seen of them.
    fn keep_settings(&mut self, root: &Path) {
        let facts = self.facts;
        facts.listed.look_at(root);
        // What is ours is opened to nobody.
        self.keep_closed(root.join(OWN_SETTINGS), Seen::StandIn);
        if let Some(home) = &self.machine.home {
            facts.listed.look_at(home);
        }
        for (name, marks) in closed_folders().filter(|(name, _)| *name != OWN_SETTINGS) {
            let marks = |home: &PathBuf| facts.listed.among(home, marks.split_whitespace());
            let is_used = self.machine.home.iter().flat_map(marks).any(|mark| mark.exists());
            match is_used && self.machine.missing != Missing::Left {
                true => self.keep(root.join(name)),
                false => self.keep_if_there(root.join(name)),
            }
        }
        closed_files().filter(|name| !name.starts_with('*')).for_each(|name| self.keep_if_there(root.join(name)));
    }

    fn keep_if_there(&mut self, path: PathBuf) {
        let missing = self.machine.missing;
        if missing == Missing::StandIn || self.is_there(&path) {
            return self.keep(path);
        }
        if missing == Missing::PutAside && !self.is_opened(&path) {
            self.layout.missing.push(path);
        }
    }

    /// It stays as it is, and stays away if it is not there.
    pub(crate) fn keep(&mut self, path: PathBuf) {
        self.keep_or(path, Seen::StandIn);
    }

    /// The same for what must be a file.
    pub(crate) fn keep_file(&mut self, path: PathBuf) {
        self.keep_or(path, Seen::StandInFile);
    }

    fn keep_or(&mut self, path: PathBuf, stand_in: Seen) {
        if !self.is_opened(&path) {
            self.keep_closed(path, stand_in);
        }
    }

    fn keep_closed(&mut self, path: PathBuf, stand_in: Seen) {
        // What was listed may be gone by now.
        if !self.is_there(&path) || !self.keeps(&path) {
            self.put(path, stand_in);
        }
    }

    /// Whether a person lets the command change this, or all that they let it change in it; then that is seen to.
    fn is_opened(&mut self, path: &Path) -> bool {
        let machine = self.machine;
        let inside: Vec<PathBuf> = machine.opened.changes_below(path).collect();
        let itself = machine.opened.changes(path);
        if !itself && inside.is_empty() {
            return false;
        }
        if !self.is_there(path) {
            self.layout.only.push((path.to_path_buf(), inside));
            return true;
        }
        // A folder is more than a file.
        if itself && fs::symlink_metadata(path).is_ok_and(|found| found.is_file()) {
            return true;
        }
        self.keep_what_is_there(path);
        // A path may read as one in a folder and be none.
        for file in inside.iter().filter_map(|file| in_its_folder(file)) {
            match fs::symlink_metadata(&file) {
                Ok(found) if found.is_file() => self.put(file, Seen::Writable),
                Err(_) => self.layout.to_be_made.push(file),
                Ok(_) => {}
            }
        }
        true
    }

    /// Files outside that a person lets the command change, and nothing beside them. What has a place of its own, or
    /// lies in something that has, is seen as that is; and what is ours is opened to nobody.
    fn open_outside(&mut self) {
        let machine = self.machine;
        let opened: Vec<PathBuf> = machine.opened.changes_below(Path::new("/")).collect();
        for file in opened.iter().filter_map(|file| in_its_folder(file)) {
            let is_ours = machine.own.iter().any(|own| file.starts_with(own));
            let is_of_boxes = OF_BOXES.iter().any(|own| file.starts_with(own));
            let has_place = file.ancestors().any(|above| self.is_placed(above));
            if is_ours || is_of_boxes || has_place || self.layout.to_be_made.contains(&file) {
                continue;
            }
            match fs::symlink_metadata(&file) {
                Ok(found) if found.is_file() => self.put(file, Seen::Writable),
                Err(_) if can_be_made(&file) => self.layout.to_be_made.push(file),
                // Nobody could write there without a box either.
                Ok(_) | Err(_) => {}
            }
        }
    }

    /// Whether something is there that is no stand-in.
    pub(crate) fn is_there(&self, path: &Path) -> bool {
        !self.machine.stand_ins.contains(path) && self.facts.is_there(path)
    }

    fn keep_folder(&mut self, path: &Path) {
        if let Ok(path) = fs::canonicalize(path) {
            self.keep_in_place(&path);
        }
        self.keep_what_is_there(path);
    }

    /// What is not to be changed must not be moved away with the folder that it lies in, and another
    /// put there: the folders between a root and it are places of their own.
    pub(crate) fn keep_in_place(&mut self, path: &Path) {
        let seen = |path: &Path| self.places.get(path).copied();
        let above: Vec<&Path> = path.ancestors().skip(1).take_while(|above| seen(above) != Some(Seen::Root)).collect();
        let in_a_root = path.ancestors().skip(1).any(|above| seen(above) == Some(Seen::Root));
        let is_kept = above.iter().any(|above| seen(above) == Some(Seen::ReadOnly));
        if in_a_root && !is_kept {
            let above: Vec<PathBuf> = above.into_iter().map(Path::to_path_buf).collect();
            above.into_iter().for_each(|above| self.put(above, Seen::Writable));
        }
    }

    /// A link is kept by keeping what it leads to, also if that is not there yet.
    pub(crate) fn keep_what_is_there(&mut self, path: &Path) {
        self.keeps(path);
    }

    /// The same. Whether something is there.
    pub(crate) fn keeps(&mut self, path: &Path) -> bool {
        let link = fs::read_link(path);
        let is_link = link.is_ok();
        if let Ok(text) = link {
            self.layout.links.push((path.to_path_buf(), text.clone()));
            let target = target_of(path, &text).filter(|target| self.is_in_root(target));
            if let Some(missing) = target.filter(|target| !self.is_there(target)) {
                self.put(missing, Seen::StandIn);
            }
        }
        let Ok(path) = fs::canonicalize(path) else { return is_link };
        if !self.machine.stand_ins.contains(&path) {
            self.put(path, Seen::ReadOnly);
        }
        true
    }

    pub(crate) fn is_in_root(&self, path: &Path) -> bool {
        path.ancestors().skip(1).any(|above| self.places.get(above) == Some(&Seen::Root))
    }

    fn hide(&mut self, found: &Found) {
        let machine = self.machine;
        // Of others what can't be looked through can't be read either.
        let others = machine.other_homes.iter().filter(|home| self.facts.listed.look_at(home));
        let at_home = machine
            .home
            .iter()
            .chain(others)
            .flat_map(|home| self.facts.listed.among(home, SECRETS_AT_HOME.split_whitespace()));
        // Nobody else can read these.
        let as_root = rustix::process::geteuid().is_root();
        let of_the_system =
            as_root.then(|| self.facts.listed.among(Path::new("/"), SECRETS_OF_THE_SYSTEM.split_whitespace()));
        let named = at_home.chain(of_the_system.into_iter().flatten());
        let named: Vec<PathBuf> = named.filter(|path| !self.is_readable(path)).collect();
        for path in named.iter().chain(&self.settings.hidden) {
            if self.is_shown(path) {
                continue;
            }
            self.hide_one(path);
            let inside = machine.opened.below(path).filter_map(|path| fs::canonicalize(path).ok());
            inside.collect::<Vec<_>>().into_iter().for_each(|path| self.put(path, Seen::ReadOnly));
        }
        for (path, _) in &found.secrets {
            if !self.is_readable(path) && !self.is_shown(path) {
                // Without another look: if it is elsewhere by now, no box is built.
                self.put(path.clone(), Seen::HiddenFile);
            }
        }
        // What is ours is opened to nobody.
        let own: Vec<&PathBuf> = machine.own.iter().filter(|path| !self.is_readable(path)).collect();
        own.into_iter().for_each(|path| self.hide_one(path));
    }

    /// Whether a person opened what is hidden otherwise.
    fn is_shown(&mut self, path: &Path) -> bool {
        if self.machine.opened.changes(path) {
            return true;
        }
        let reads = self.machine.opened.reads(path);
        if reads && let Ok(path) = fs::canonicalize(path) {
            self.put(path, Seen::ReadOnly);
        }
        reads
    }

    fn hide_one(&mut self, path: &Path) {
        let listed = self.facts.listed.kind(path).filter(|kind| kind.is_dir() || kind.is_file());
        let Ok(path) = fs::canonicalize(path) else { return };
        let is_folder = match listed {
            Some(kind) => kind.is_dir(),
            None => match fs::metadata(&path) {
                Ok(found) => found.is_dir(),
                Err(_) => return,
            },
        };
        if path.parent().is_some() {
            self.put(path, if is_folder { Seen::HiddenFolder } else { Seen::HiddenFile });
        }
    }

    fn is_readable(&self, path: &Path) -> bool {
        is_among(path, &self.settings.readable)
    }

    fn finish(mut self) -> Layout {
        let needed: Vec<PathBuf> =
            self.places.iter().filter(|(_, seen)| !is_hidden(**seen)).map(|(path, _)| path.clone()).collect();
        for (path, seen) in &mut self.places {
            let holds_needed = needed.iter().any(|inner| inner != path && inner.starts_with(path));
            if *seen == Seen::HiddenFolder && holds_needed {
                *seen = Seen::Emptied;
            }
        }
        // What lies in a hidden folder is hidden with it, unless a root leads there.
        let emptied: Vec<PathBuf> =
            self.places.iter().filter(|(_, seen)| **seen == Seen::HiddenFolder).map(|(path, _)| path.clone()).collect();
        let mut places: Vec<(PathBuf, Seen)> = self.places.into_iter().collect();
        places.retain(|(path, _)| !emptied.iter().any(|folder| folder != path && path.starts_with(folder)));
        places.sort_by_key(|(path, _)| path.components().count());
        Layout { places, ..self.layout }
    }
}

/// Whether commands can work in a folder inside a box: not in one that a box has to have of its own, or that holds
/// such.
pub fn can_be_worked_in(folder: &Path) -> bool {
    let own = ["/dev", "/proc", "/sys"];
    folder.parent().is_some() && !own.iter().any(|own| folder.starts_with(own)) && folder != Path::new("/run")
}

/// A path of something in a folder that is there, with no link on the way to it.
fn in_its_folder(path: &Path) -> Option<PathBuf> {
    let folder = fs::canonicalize(path.parent()?).ok().filter(|folder| folder.is_dir())?;
    Some(folder.join(path.file_name()?))
}

/// Whether the person can make a file where nothing is.
fn can_be_made(path: &Path) -> bool {
    let wanted = Access::WRITE_OK | Access::EXEC_OK;
    path.parent().is_some_and(|folder| rustix::fs::access(folder, wanted).is_ok())
}

/// Where a link leads, whether or not there is something.
fn target_of(link: &Path, text: &Path) -> Option<PathBuf> {
    let target = link.parent()?.join(text);
    let folder = fs::canonicalize(target.parent()?).ok()?;
    Some(folder.join(target.file_name()?))
}

fn is_hidden(seen: Seen) -> bool {
    match seen {
        Seen::HiddenFile | Seen::HiddenFolder | Seen::Emptied => true,
        Seen::Writable | Seen::ReadOnly | Seen::StandIn | Seen::StandInFile | Seen::Root => false,
    }
}

#[cfg(test)]
#[path = "layout_tests.rs"]
mod tests;
