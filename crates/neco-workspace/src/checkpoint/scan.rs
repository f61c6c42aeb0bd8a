//! A look at the workspace: every file that is part of a state becomes an object, unless it is one already.
//!
//! Folders are opened beneath the handle of the one above them and no link is followed, so nothing from
//! outside gets in, whatever is swapped during the walk. A file that vanishes meanwhile is not there; one
//! that can't be read is left out and named.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use gix::ObjectId;
use gix::objs::Kind;
use neco_proto::event::LeftOutWhy;
use neco_safety::path::{is_own_name, remove_abandoned};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::ahead::Ahead;
use super::beside::is_unfinished;
use super::cache::{Cache, Facts, KnownFile, KnownFolder, Look, Whole};
use super::checkpoints::LeftOut;
use super::details::Details;
use super::error::CheckpointError;
use super::leave_out::{Decision, FolderRules, LeaveOut};
use super::system::{Name, names, tells_of_new_names};
use super::tree::{Item, ItemKind, id_of, tree_object};
use super::vault::Vault;

/// Folders in folders beyond which nobody works.
const DEEPEST: usize = 128;

/// Permissions that a new file, or a folder, has by itself.
pub const USUAL: [u32; 4] = [0o644, 0o755, 0o664, 0o775];

/// What a look found.
pub struct Scanned {
    /// Everything, with what is typed and not saved.
    pub tree: ObjectId,
    /// Everything as it is on the disk.
    pub saved: ObjectId,
    /// What the tree can't say.
    pub details: Details,
    /// What is known for the next look.
    pub cache: Cache,
    /// Whether that is something else than before.
    pub is_new: bool,
}

/// Looks at a workspace and keeps what is new.
/// Fails when the workspace itself can't be read, has too many files, or the store can't be written.
pub fn scan<V: Vault>(
    vault: &mut V,
    root: &Path,
    leave: &LeaveOut<'_>,
    known: &Cache,
) -> Result<Scanned, CheckpointError> {
    let failed = |error| CheckpointError::at(root, error);
    let handle = rustix::fs::open(root, FOLDER, Mode::empty()).map_err(failed)?;
    let stat = rustix::fs::fstat(&handle).map_err(failed)?;
    let told_by = tells_of_new_names(&handle).then_some(stat.st_dev);
    let rules = leave.above();
    let (cache, details, look) = (Cache::default(), Details::default(), Look::begin());
    let path = root.as_os_str().as_bytes().to_vec();
    let ahead = Ahead::of(known);
    let (ahead, files, is_new) = (&ahead, 0, false);
    let mut scan = Scan { vault, root, path, leave, known, told_by, ahead, look, cache, details, files, is_new };
    let tree = std::thread::scope(|threads| {
        // Without it the walk only takes longer.
        let helper = (!ahead.is_empty()).then(|| {
            std::thread::Builder::new().name("neco-look".to_owned()).spawn_scoped(threads, || ahead.look(root))
        });
        let tree = scan.folder(handle, &stat, rules, 0);
        ahead.end();
        drop(helper);
        tree
    })?;
    let tree = match tree {
        Some(tree) => tree,
        None => scan.vault.put(Kind::Tree, &[])?,
    };
    let is_new = scan.is_new || scan.cache.folders.len() != known.folders.len();
    Ok(Scanned { tree, saved: tree, details: scan.details, cache: scan.cache, is_new })
}

const ALWAYS: OFlags = OFlags::CLOEXEC.union(OFlags::NOCTTY).union(OFlags::NONBLOCK).union(OFlags::NOFOLLOW);
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

struct Scan<'a, V> {
    vault: &'a mut V,
    root: &'a Path,
    /// Where the walk is.
    path: Vec<u8>,
    leave: &'a LeaveOut<'a>,
    known: &'a Cache,
    /// The file system of the workspace, if a folder's facts tell there whether names came or went.
    told_by: Option<u64>,
    ahead: &'a Ahead<'a>,
    look: Look,
    cache: Cache,
    details: Details,
    files: usize,
    is_new: bool,
}

/// The folder that a walk is in.
struct Here<'h, 'a> {
    handle: BorrowedFd<'h>,
    known: Option<&'a Arc<KnownFolder>>,
    /// Which of the known files were found to be what they were.
    same: &'a [bool],
    rules: Option<Arc<FolderRules>>,
    depth: usize,
}

/// What is part of a state in a folder.
struct Found<'a> {
    items: Vec<(Cow<'a, [u8]>, Item)>,
    files: Vec<Cow<'a, KnownFile>>,
    folders: Vec<Cow<'a, [u8]>>,
    /// Whether everything so far is what it was at the last look.
    is_same: bool,
    /// Whether the system says something else of a file than it did then.
    has_news: bool,
    /// Whether everything so far is part of the state by rules alone.
    is_whole: bool,
}

impl<'a, V: Vault> Scan<'a, V> {
    /// The tree of the folder that the walk is in; nothing when nothing in it is part of a state.
    fn folder(
        &mut self,
        handle: OwnedFd,
        stat: &Stat,
        above: Option<Arc<FolderRules>>,
        depth: usize,
    ) -> Result<Option<ObjectId>, CheckpointError> {
        let facts = (self.told_by == Some(stat.st_dev)).then(|| Facts::from(stat));
        let known = self.known.folders.get(self.below());
        let whole = known.and_then(|known| Some((known, known.whole?)));
        if let Some((known, whole)) = whole.filter(|(_, whole)| facts == Some(whole.facts)) {
            let has_rules = known.position(b".gitignore").is_some();
            let rules = self.leave.enter(self.at(), has_rules, false, above.clone());
            if self.leave.key(rules.as_deref()) == Some(whole.rules) {
                return self.names_as_before(handle.as_fd(), rules, known, depth);
            }
        }
        let failed = |error: Errno| CheckpointError::at(self.at(), error);
        let mut dir = Dir::new(handle).map_err(failed)?;
        let names = names(&mut dir).map_err(failed)?;
        let handle = dir.fd().map_err(failed)?;
        let has = |wanted: &[u8]| names.iter().any(|entry| entry.name == wanted);
        let rules = self.leave.enter(self.at(), has(b".gitignore"), has(b".git"), above);
        let same = self.ahead.reached(self.below());
        let here = Here { handle, known, same, rules, depth };
        let mut found = Found::with_room(names.len(), known.is_some());
        for Name { name, kind } in names {
            let item = self.within(&name, |scan| scan.entry(&here, &name, kind, &mut found))?;
            found.is_whole &= item.is_some();
            found.items.extend(item.map(|item| (Cow::Owned(name), item)));
        }
        let reliable = facts.filter(|facts| found.is_whole && self.look.relies_on(facts));
        let rules = self.leave.key(here.rules.as_deref());
        let whole = reliable.and_then(|facts| Some(Whole { facts, rules: rules? }));
        self.keep(known, found, whole)
    }

    /// The same for a folder that has the names it had, all of which are part of the state: only what they stand for
    /// can be different.
    fn names_as_before(
        &mut self,
        handle: BorrowedFd<'_>,
        rules: Option<Arc<FolderRules>>,
        known: &'a Arc<KnownFolder>,
        depth: usize,
    ) -> Result<Option<ObjectId>, CheckpointError> {
        let same = self.ahead.reached(self.below());
        let here = Here { handle, known: Some(known), same, rules, depth };
        let mut found = Found::with_room(known.files.len() + known.folders.len(), true);
        for (at, file) in known.files.iter().enumerate() {
            let name = file.name.as_slice();
            let item = if here.is_same(at, file) {
                self.count()?;
                if file.kind != ItemKind::Link && !is_usual(file.facts.mode) {
                    self.within(name, |scan| scan.note_mode(file.facts.mode));
                }
                Some(found.keep(file))
            } else {
                self.within(name, |scan| match file.kind {
                    ItemKind::Link => scan.link(&here, name, &mut found),
                    ItemKind::File | ItemKind::Program | ItemKind::Folder => scan.file(&here, name, &mut found),
                })?
            };
            found.items.extend(item.map(|item| (Cow::Borrowed(name), item)));
        }
        for name in &known.folders {
            let item = self.within(name, |scan| scan.enter(&here, name, &mut found))?;
            found.items.extend(item.map(|item| (Cow::Borrowed(name.as_slice()), item)));
        }
        // A file may be too big by now, and a folder hold nothing any more.
        let is_whole = found.items.len() == known.files.len() + known.folders.len();
        self.keep(Some(known), found, known.whole.filter(|_| is_whole))
    }

    /// Does something where a name in the folder of the walk leads.
    fn within<T>(&mut self, name: &[u8], work: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.path.len();
        self.path.push(b'/');
        self.path.extend_from_slice(name);
        let done = work(self);
        self.path.truncate(length);
        done
    }

    /// Keeps the tree of a folder. One in which nothing is different is not made again.
    fn keep(
        &mut self,
        known: Option<&Arc<KnownFolder>>,
        mut found: Found<'_>,
        whole: Option<Whole>,
    ) -> Result<Option<ObjectId>, CheckpointError> {
        if found.items.is_empty() {
            self.is_new |= known.is_some();
            return Ok(None);
        }
        let is_same = |known: &&Arc<KnownFolder>| {
            found.is_same && known.folders.len() == found.folders.len() && known.files.len() == found.files.len()
        };
        let folder = match known.filter(is_same) {
            Some(known) if known.whole == whole && !found.has_news => Arc::clone(known),
            same => {
                let tree = match same {
                    Some(known) => known.tree,
                    None => self.vault.put(Kind::Tree, &tree_object(&mut found.items))?,
                };
                let files = found.files.into_iter().map(Cow::into_owned).collect();
                let folders = found.folders.into_iter().map(Cow::into_owned).collect();
                let folder = KnownFolder { tree, files, folders, whole };
                self.is_new |= known.is_none_or(|known| **known != folder);
                Arc::new(folder)
            }
        };
        let tree = folder.tree;
        self.cache.folders.insert(self.below().to_vec(), folder);
        Ok(Some(tree))
    }

    /// What has a name in a folder, and now is where the walk is.
    fn entry(
        &mut self,
        here: &Here<'_, 'a>,
        name: &[u8],
        kind: FileType,
        found: &mut Found<'a>,
    ) -> Result<Option<Item>, CheckpointError> {
        if self.leave.is_nobodys(self.at(), name) {
            return Ok(None);
        }
        if is_unfinished(name) && kind != FileType::Directory {
            if self.leave.is_cut_short() {
                // It held nothing that is not in a state.
                let _ = rustix::fs::unlinkat(here.handle, name, AtFlags::empty());
            }
            return Ok(None);
        }
        if kind == FileType::RegularFile && is_own_name(name) {
            remove_abandoned(here.handle, OsStr::from_bytes(name));
            return Ok(None);
        }
        let is_folder = kind == FileType::Directory;
        match self.leave.decide(here.rules.as_deref(), self.at(), is_folder) {
            Decision::Part => {}
            Decision::PartAnyhow => found.is_whole = false,
            Decision::LeftOut(why) => {
                self.leave_out(why);
                return Ok(None);
            }
        }
        match kind {
            FileType::Directory => self.enter(here, name, found),
            FileType::RegularFile => self.file(here, name, found),
            FileType::Symlink => self.link(here, name, found),
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => {
                self.leave_out(LeftOutWhy::Other);
                Ok(None)
            }
        }
    }

    fn enter(
        &mut self,
        here: &Here<'_, 'a>,
        name: &[u8],
        found: &mut Found<'a>,
    ) -> Result<Option<Item>, CheckpointError> {
        let opened = rustix::fs::openat(here.handle, name, FOLDER | OFlags::NOFOLLOW, Mode::empty());
        let mut mode = None;
        let tree = match opened {
            Ok(handle) if here.depth < DEEPEST => {
                let stat = rustix::fs::fstat(&handle).map_err(|error| CheckpointError::at(self.at(), error))?;
                mode = Some(stat.st_mode & 0o3777);
                let rules = self.leave.on_the_way(here.rules.as_ref(), self.at());
                self.folder(handle, &stat, rules, here.depth + 1)?
            }
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => None,
            Ok(_) | Err(_) => {
                self.leave_out(LeftOutWhy::Other);
                None
            }
        };
        let Some(id) = tree else { return Ok(None) };
        let unusual = mode.filter(|mode| !is_usual(*mode));
        self.details.folders.extend(unusual.map(|mode| (self.below().to_vec(), mode)));
        found.folders.push(Cow::Owned(name.to_vec()));
        found.is_same &= self.known.folders.get(self.below()).is_some_and(|known| known.tree == id);
        Ok(Some(Item { kind: ItemKind::Folder, id }))
    }

    fn file(
        &mut self,
        here: &Here<'_, 'a>,
        name: &[u8],
        found: &mut Found<'a>,
    ) -> Result<Option<Item>, CheckpointError> {
        let fits = |known: &&KnownFile| known.kind != ItemKind::Link && !self.leave.is_too_big(known.facts.size);
        if let Some(known) = here.found_same(name).filter(fits) {
            self.count()?;
            self.note_mode(known.facts.mode);
            return Ok(Some(found.keep(known)));
        }
        let Ok(stat) = rustix::fs::statat(here.handle, name, AtFlags::SYMLINK_NOFOLLOW) else { return Ok(None) };
        if self.leave.is_too_big(u64::try_from(stat.st_size).unwrap_or(0)) {
            self.leave_out(LeftOutWhy::TooBig);
            return Ok(None);
        }
        self.count()?;
        if let Some(item) = found.known(here, name, Facts::from(&stat)) {
            self.note_mode(stat.st_mode);
            return Ok(Some(item));
        }
        let read = match self.read(here, name) {
            Ok(Some(read)) => read,
            Ok(None) | Err(Errno::NOENT | Errno::LOOP) => return Ok(None),
            Err(_) => {
                self.leave_out(LeftOutWhy::Other);
                return Ok(None);
            }
        };
        if self.leave.is_too_big(read.content.len() as u64) {
            self.leave_out(LeftOutWhy::TooBig);
            return Ok(None);
        }
        self.note_mode(read.facts.mode);
        let kind = if read.runs { ItemKind::Program } else { ItemKind::File };
        let facts = self.look.remembers(read.facts);
        // What was written right before the last look is read once more, and is mostly what it was.
        let is_doubted = |known: &&KnownFile| known.facts == Facts::default() && known.kind == kind;
        if let Some(known) = here.known.and_then(|known| known.file(name)).filter(is_doubted)
            && known.id == id_of(Kind::Blob, &read.content)?
        {
            return Ok(Some(found.renew(known, facts)));
        }
        let id = self.vault.put(Kind::Blob, &read.content)?;
        Ok(Some(found.add(name, facts, Item { kind, id })))
    }

    /// The content of a file; nothing when it is none any more.
    fn read(&self, here: &Here<'_, '_>, name: &[u8]) -> Result<Option<Content>, Errno> {
        let handle = rustix::fs::openat(here.handle, name, OFlags::RDONLY | ALWAYS, Mode::empty())?;
        let stat = rustix::fs::fstat(&handle)?;
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
            return Ok(None);
        }
        let most = u64::try_from(stat.st_size).unwrap_or(0);
        let mut content = Vec::with_capacity(usize::try_from(most).unwrap_or(0).saturating_add(1));
        // A file that grows while it is read ends where it was; the next look sees that it is another.
        let read = File::from(handle).take(most).read_to_end(&mut content);
        read.map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
        Ok(Some(Content { content, facts: Facts::from(&stat), runs: stat.st_mode & 0o111 != 0 }))
    }

    fn link(
        &mut self,
        here: &Here<'_, 'a>,
        name: &[u8],
        found: &mut Found<'a>,
    ) -> Result<Option<Item>, CheckpointError> {
        let Ok(stat) = rustix::fs::statat(here.handle, name, AtFlags::SYMLINK_NOFOLLOW) else { return Ok(None) };
        self.count()?;
        let facts = Facts::from(&stat);
        if let Some(item) = found.known(here, name, facts) {
            return Ok(Some(item));
        }
        let Ok(target) = rustix::fs::readlinkat(here.handle, name, Vec::new()) else { return Ok(None) };
        let id = self.vault.put(Kind::Blob, target.as_bytes())?;
        Ok(Some(found.add(name, self.look.remembers(facts), Item { kind: ItemKind::Link, id })))
    }

    /// Permissions that are others than usual.
    fn note_mode(&mut self, mode: u32) {
        if !is_usual(mode) {
            // Bits that let a file run as somebody else are never given back, so they are not noted.
            self.details.modes.insert(self.below().to_vec(), mode & 0o777);
        }
    }

    fn count(&mut self) -> Result<(), CheckpointError> {
        self.files += 1;
        if self.files > self.leave.max_files() {
            return Err(CheckpointError::TooManyFiles { root: self.root.to_path_buf(), most: self.leave.max_files() });
        }
        Ok(())
    }

    /// Leaves out what the walk is at.
    fn leave_out(&mut self, why: LeftOutWhy) {
        let path = OsStr::from_bytes(self.below()).into();
        self.details.left_out.push(LeftOut { path, why });
    }

    /// Where the walk is.
    fn at(&self) -> &Path {
        Path::new(OsStr::from_bytes(&self.path))
    }

    /// The same, seen from the workspace.
    fn below(&self) -> &[u8] {
        let below = self.path.get(self.root.as_os_str().len()..).unwrap_or_default();
        below.strip_prefix(b"/").unwrap_or(below)
    }
}

impl<'a> Here<'_, 'a> {
    /// Whether a file that was there, at this place among them, is what it was.
    fn is_same(&self, at: usize, file: &KnownFile) -> bool {
        let is_still = |stat: Stat| Facts::from(&stat) == file.facts;
        self.same.get(at) == Some(&true)
            || rustix::fs::statat(self.handle, file.name.as_slice(), AtFlags::SYMLINK_NOFOLLOW).is_ok_and(is_still)
    }

    /// A file that was found to be what it was by who looked ahead.
    fn found_same(&self, name: &[u8]) -> Option<&'a KnownFile> {
        let known = self.known.filter(|_| !self.same.is_empty())?;
        let at = known.position(name)?;
        known.files.get(at).filter(|_| self.same.get(at) == Some(&true))
    }
}

impl<'a> Found<'a> {
    fn with_room(names: usize, is_same: bool) -> Self {
        let (items, files) = (Vec::with_capacity(names), Vec::with_capacity(names));
        Self { items, files, folders: Vec::new(), is_same, has_news: false, is_whole: true }
    }

    /// A file that is what it was at the last look.
    fn known(&mut self, here: &Here<'_, 'a>, name: &[u8], facts: Facts) -> Option<Item> {
        let known = here.known.and_then(|known| known.file(name)).filter(|known| known.facts == facts)?;
        Some(self.keep(known))
    }

    fn keep(&mut self, known: &'a KnownFile) -> Item {
        self.files.push(Cow::Borrowed(known));
        Item { kind: known.kind, id: known.id }
    }

    /// A file that holds what it held, and of which more is known now.
    fn renew(&mut self, known: &KnownFile, facts: Facts) -> Item {
        self.has_news = true;
        self.files.push(Cow::Owned(KnownFile { facts, ..known.clone() }));
        Item { kind: known.kind, id: known.id }
    }

    fn add(&mut self, name: &[u8], facts: Facts, item: Item) -> Item {
        self.is_same = false;
        self.files.push(Cow::Owned(KnownFile { name: name.to_vec(), facts, kind: item.kind, id: item.id }));
        item
    }
}

struct Content {
    content: Vec<u8>,
    facts: Facts,
    runs: bool,
}

/// Whether a new file, or a folder, has such permissions by itself.
fn is_usual(mode: u32) -> bool {
    USUAL.contains(&(mode & 0o777))
}
