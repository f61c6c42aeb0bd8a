//! A look through a folder for what commands must not read or change, which costs little when little has changed:
//! a folder is read again only when the system says that something was made, removed or renamed in it. Of many folders
//! the system is asked to tell what changes, so that none has to be asked about.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use rustix::fs::FileType;

use crate::after::hands::{is_aside, name_before};
use crate::after::known::{UNSETTLED, changed};
use crate::git::linked::is_git_name;
use crate::plan::names::{is_secret_variables, may_be_private_key};
use crate::survey::news::{Changed, News};
use crate::survey::unreadable;
use neco_safety::path::later::{acts_later, is_closed, later};
use neco_safety::path::open_without_links;

/// How far a look goes.
#[derive(Clone, Copy)]
pub(crate) struct Limits {
    /// A command waits for most looks.
    pub(crate) time: Duration,
    /// Entries that are read.
    pub(crate) entries: usize,
    /// Whether folders that programs made are looked into as well.
    pub(crate) everywhere: bool,
}

/// Folders that are made by programs and hold what was downloaded or built: whether one of them is a repository is
/// looked at, what is in their folders is not.
const NOT_SEARCHED: &[&str] =
    &["node_modules", "target", ".venv", "venv", "__pycache__", "dist", "build", ".next", ".tox", ".cache", ".gradle"];

/// So many folders are asked about each time.
const FEW: usize = 200;

/// Where links lead that stand in for no secret: what they lead to is everybody's.
const OF_THE_SYSTEM: &[&str] =
    &["/etc", "/usr", "/bin", "/sbin", "/lib", "/opt", "/proc", "/sys", "/dev", "/run", "/nix"];

/// What a look found in all.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sights {
    pub(crate) secrets: Vec<PathBuf>,
    /// Everything called `.git`, in letters of any size.
    pub(crate) repositories: Vec<PathBuf>,
    /// Folders that git would take for a repository by themselves.
    pub(crate) bare: Vec<PathBuf>,
    /// What decides what agents and editors do, below the top.
    pub(crate) settings: Vec<PathBuf>,
    pub(crate) acting: Vec<PathBuf>,
    /// Whether there is something that was put aside.
    pub(crate) put_aside: bool,
}

/// What is known of a folder and all below it.
#[derive(Debug)]
pub(crate) struct Look {
    root: PathBuf,
    folders: HashMap<PathBuf, Folder>,
    /// Those of them in which there is something to see.
    telling: BTreeSet<PathBuf>,
    news: Following,
    few: usize,
}

/// Whether the system tells of changes.
#[derive(Debug)]
enum Following {
    /// There is too little to look at.
    NotYet,
    Yes(News),
    /// It does not tell of everything here.
    Never,
}

#[derive(Debug, Default)]
struct Folder {
    identity: (u64, u64),
    /// Nothing where a later change could look the same.
    stamp: Option<Stamp>,
    below: Vec<OsString>,
    secrets: Vec<OsString>,
    /// Files that hold a private key or not: what they hold decides.
    keys: Vec<(OsString, Option<Stamp>, bool)>,
    settings: Vec<OsString>,
    acting: Vec<OsString>,
    repositories: Vec<OsString>,
    bare: bool,
    /// Whether something was put aside in it.
    aside: bool,
    /// Whether nothing was looked at but whether it is a repository.
    shallow: bool,
}

/// What changes with every change: which file or folder it is, and when it last changed.
pub(crate) type Stamp = (u64, u64, i64, i64);

impl Look {
    pub(crate) fn new(root: PathBuf) -> Self {
        Self { root, folders: HashMap::new(), telling: BTreeSet::new(), news: Following::NotYet, few: FEW }
    }

    /// Looks at what may have changed. Whether all that may have was looked at.
    pub(crate) fn again(&mut self, limits: Limits) -> bool {
        let changed = match &mut self.news {
            Following::Yes(news) => news.changed(),
            Following::NotYet | Following::Never => Changed::Anything,
        };
        match changed {
            Changed::Only(folders) => self.at_some(folders, limits),
            Changed::Anything => {
                self.through(limits) && {
                    self.follow_from_now_on(limits);
                    true
                }
            }
        }
    }

    /// Looks through everything, level by level: what is near the top is found even where not everything can be looked
    /// at. Whether everything was.
    fn through(&mut self, limits: Limits) -> bool {
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
            let Some(found) = self.followed(&path) else { continue };
            let now = stamp(&found);
            let shallow = self.is_shallow(&path, limits);
            let folder = match known.remove(&path) {
                Some(folder) if folder.stamp == Some(now) && folder.shallow == shallow => folder,
                Some(_) | None => {
                    let folder = self.read(&path, &found, shallow);
                    entries += folder.1;
                    folder.0
                }
            };
            waiting.extend(folder.below.iter().map(|name| path.join(name)));
            self.keep(path, folder);
        }
        self.telling.retain(|path| self.folders.contains_key(path));
        true
    }

    /// Looks at folders in which something changed, and at what is new below them.
    fn at_some(&mut self, changed: BTreeSet<PathBuf>, limits: Limits) -> bool {
        let begun = Instant::now();
        let mut waiting = VecDeque::from_iter(changed);
        let mut entries = 0;
        while let Some(path) = waiting.pop_front() {
            if entries > limits.entries || begun.elapsed() > limits.time {
                if let Following::Yes(news) = &mut self.news {
                    news.lose_track();
                }
                return false;
            }
            let Some(found) = self.followed(&path) else {
                self.forget(&path);
                continue;
            };
            let (folder, count) = self.read(&path, &found, self.is_shallow(&path, limits));
            entries += count;
            let before = self.folders.remove(&path).map(|folder| folder.below).unwrap_or_default();
            let there: BTreeSet<&OsString> = folder.below.iter().collect();
            before.iter().filter(|name| !there.contains(name)).for_each(|name| self.forget(&path.join(name)));
            for below in folder.below.iter().map(|name| path.join(name)) {
                let is_known = self.folders.get(&below).is_some_and(|known| known.is_still(&below));
                if !is_known {
                    waiting.push_back(below);
                }
            }
            self.keep(path, folder);
        }
        true
    }

    /// A folder, which is followed from now on where everything is. Nothing if there is none.
    fn followed(&mut self, path: &Path) -> Option<Metadata> {
        let folder = || fs::symlink_metadata(path).ok().filter(Metadata::is_dir);
        if let Following::Yes(news) = &mut self.news {
            let device = folder()?.dev();
            if news.follow(path, device).is_err() {
                self.news = Following::Never;
            }
        }
        folder()
    }

    /// Asks to be told of changes where there is much to look at.
    fn follow_from_now_on(&mut self, limits: Limits) {
        match &mut self.news {
            Following::Yes(news) => news.all_are_followed(),
            Following::NotYet if self.folders.len() > self.few && !limits.everywhere => {
                let device = fs::metadata(&self.root).map(|found| found.dev()).unwrap_or_default();
                self.news = News::new(&self.root, device).map_or(Following::Never, Following::Yes);
            }
            Following::NotYet | Following::Never => {}
        }
    }

    fn keep(&mut self, path: PathBuf, folder: Folder) {
        if folder.is_telling() {
            self.telling.insert(path.clone());
        } else {
            self.telling.remove(&path);
        }
        self.folders.insert(path, folder);
    }

    /// A folder that is gone, with all below it.
    fn forget(&mut self, path: &Path) {
        let mut gone = vec![path.to_path_buf()];
        while let Some(path) = gone.pop() {
            self.telling.remove(&path);
            if let Some(folder) = self.folders.remove(&path) {
                gone.extend(folder.below.iter().map(|name| path.join(name)));
            }
        }
    }

    pub(crate) fn sights(&mut self) -> Sights {
        let mut sights = Sights::default();
        for path in &self.telling {
            let Some(folder) = self.folders.get_mut(path) else { continue };
            sights.secrets.extend(folder.secrets.iter().map(|name| path.join(name)));
            for (name, known, holds) in &mut folder.keys {
                let file = path.join(&*name);
                let now = fs::metadata(&file).ok().map(|found| stamp(&found));
                if *known != now {
                    (*known, *holds) = (now, holds_private_key(&file));
                }
                sights.secrets.extend(holds.then_some(file));
            }
            sights.repositories.extend(folder.repositories.iter().map(|name| path.join(name)));
            sights.bare.extend(folder.bare.then(|| path.clone()));
            sights.put_aside |= folder.aside;
            sights.settings.extend(folder.settings.iter().map(|name| path.join(name)));
            sights.acting.extend(folder.acting.iter().map(|name| path.join(name)));
        }
        sights.secrets.sort();
        sights.repositories.sort();
        sights.bare.sort();
        sights.settings.sort();
        sights
    }

    /// Whether of a folder nothing counts but whether it is a repository.
    fn is_shallow(&self, path: &Path, limits: Limits) -> bool {
        let is_apart = |name: &OsStr| NOT_SEARCHED.iter().any(|own| name == *own);
        !limits.everywhere && path != self.root && path.file_name().is_some_and(is_apart)
    }

    /// A folder, and how many entries it has.
    fn read(&self, path: &Path, found: &Metadata, shallow: bool) -> (Folder, usize) {
        let (identity, stamp) = ((found.dev(), found.ino()), settled(found));
        let mut folder = Folder { identity, stamp, shallow, ..Folder::default() };
        let mut parts = Parts::default();
        let acts = later(&self.root, path).is_some();
        let mut count = 0;
        // What can't be read even so is another's: no command made it.
        let entries = unreadable::entries(path).unwrap_or_else(|error| {
            tracing::debug!(folder = %path.display(), %error, "a folder can't be looked through");
            Vec::new()
        });
        for unreadable::Entry { name, kind } in entries {
            count += 1;
            parts.see(&name, kind);
            folder.aside |= is_aside(&name);
            if is_git_name(&name) {
                folder.repositories.push(name);
                continue;
            }
            if shallow {
                continue;
            }
            if path != self.root && is_closed(&name) {
                folder.settings.push(name.clone());
            }
            if kind.is_dir() {
                folder.below.push(name);
            } else {
                if acts_later(&self.root, path, &name, acts) {
                    folder.acting.push(name.clone());
                }
                self.file(path, name, kind, &mut folder);
            }
        }
        folder.bare = parts.head && (parts.elsewhere || (parts.objects && parts.refs));
        (folder, count)
    }

    fn file(&self, folder: &Path, name: OsString, kind: FileType, into: &mut Folder) {
        let Some(text) = name.to_str() else { return };
        let path = folder.join(&name);
        let may_hold = kind.is_file() || kind.is_symlink() && leads_to_a_persons_file(&path);
        if !may_hold {
            return;
        }
        // Of what was put aside the name counts that it had.
        let before = name_before(&name).and_then(OsStr::to_str).unwrap_or(text);
        if is_secret_variables(text) || is_secret_variables(before) {
            into.secrets.push(name);
        } else if may_be_private_key(path.strip_prefix(&self.root).unwrap_or(&path), before) {
            let now = fs::metadata(&path).ok().map(|found| stamp(&found));
            into.keys.push((name, now, holds_private_key(&path)));
        }
    }
}

impl Folder {
    /// Whether there is something to see in it.
    fn is_telling(&self) -> bool {
        let has_secrets = !self.secrets.is_empty() || !self.keys.is_empty();
        let has_files = has_secrets || !self.settings.is_empty() || !self.acting.is_empty();
        has_files || !self.repositories.is_empty() || self.bare || self.aside
    }

    /// Whether what is there is what was read. Whoever follows it hears of all later changes.
    fn is_still(&self, path: &Path) -> bool {
        fs::symlink_metadata(path).is_ok_and(|found| self.identity == (found.dev(), found.ino()))
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
        // There are disks on which the size of letters is no difference.
        let is = |own: &str| name.eq_ignore_ascii_case(own);
        self.head |= is("HEAD");
        self.objects |= may_be_folder && is("objects");
        self.refs |= may_be_folder && is("refs");
        self.elsewhere |= is("commondir");
    }
}

pub(crate) fn stamp(found: &Metadata) -> Stamp {
    (found.dev(), found.ino(), found.ctime(), found.ctime_nsec())
}

/// The same; nothing where a later change could look the same.
pub(crate) fn settled(found: &Metadata) -> Option<Stamp> {
    let age = SystemTime::now().duration_since(changed(found)).unwrap_or_default();
    (age > UNSETTLED).then(|| stamp(found))
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
#[path = "look_tests.rs"]
mod tests;
