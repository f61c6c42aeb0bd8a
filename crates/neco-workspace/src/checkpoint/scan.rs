//! A look at the workspace: every file that is part of a state becomes an object, unless it is one already.
//!
//! Folders are opened beneath the handle of the one above them and no link is followed, so nothing from
//! outside gets in, whatever is swapped during the walk. A file that vanishes meanwhile is not there; one
//! that can't be read is left out and named.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use gix::ObjectId;
use gix::objs::Kind;
use neco_proto::event::LeftOutWhy;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::cache::{Cache, Facts, KnownFile, KnownFolder, Look};
use super::checkpoints::LeftOut;
use super::details::Details;
use super::error::CheckpointError;
use super::leave_out::{FolderRules, LeaveOut, below};
use super::leftovers::is_abandoned;
use super::restore::is_unfinished;
use super::tree::{Item, ItemKind, id_of, joined, tree_object};
use super::vault::Vault;

/// Folders in folders beyond which nobody works.
const DEEPEST: usize = 128;

/// Permissions that a new file has by itself.
const USUAL: [u32; 4] = [0o644, 0o755, 0o664, 0o775];

/// What a look found.
pub struct Scanned {
    /// Everything.
    pub tree: ObjectId,
    /// What the tree can't say.
    pub details: Details,
    /// What is known for the next look.
    pub cache: Cache,
    /// Whether that is something else than before.
    pub is_new: bool,
}

/// Looks at a workspace and keeps what is new.
///
/// # Errors
/// When the workspace itself can't be read, has too many files, or the store can't be written.
pub fn scan<V: Vault>(
    vault: &mut V,
    root: &Path,
    leave: &LeaveOut<'_>,
    known: &Cache,
) -> Result<Scanned, CheckpointError> {
    let handle = rustix::fs::open(root, FOLDER, Mode::empty()).map_err(|error| CheckpointError::at(root, error))?;
    let rules = leave.above();
    let (cache, details, look) = (Cache::default(), Details::default(), Look::begin());
    let mut scan = Scan { vault, root, leave, known, look, cache, details, files: 0, is_new: false };
    let tree = scan.folder(&handle, &[], rules, 0)?;
    let tree = match tree {
        Some(tree) => tree,
        None => scan.vault.put(Kind::Tree, &[])?,
    };
    let is_new = scan.is_new || scan.cache.folders.len() != known.folders.len();
    Ok(Scanned { tree, details: scan.details, cache: scan.cache, is_new })
}

const ALWAYS: OFlags = OFlags::CLOEXEC.union(OFlags::NOCTTY).union(OFlags::NONBLOCK).union(OFlags::NOFOLLOW);
const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

struct Scan<'a, V> {
    vault: &'a mut V,
    root: &'a Path,
    leave: &'a LeaveOut<'a>,
    known: &'a Cache,
    look: Look,
    cache: Cache,
    details: Details,
    files: usize,
    is_new: bool,
}

/// A name in a folder.
struct Name {
    name: Vec<u8>,
    kind: FileType,
}

/// Where a walk is.
struct Here<'a> {
    handle: &'a OwnedFd,
    path: &'a [u8],
    known: Option<&'a KnownFolder>,
    rules: Option<Arc<FolderRules>>,
    depth: usize,
}

impl<V: Vault> Scan<'_, V> {
    /// The tree of a folder; nothing when nothing in it is part of a state.
    fn folder(
        &mut self,
        handle: &OwnedFd,
        path: &[u8],
        above: Option<Arc<FolderRules>>,
        depth: usize,
    ) -> Result<Option<ObjectId>, CheckpointError> {
        let absolute = below(self.root, path);
        let names = names(handle).map_err(|error| CheckpointError::at(&absolute, error))?;
        let has = |wanted: &[u8]| names.iter().any(|entry| entry.name == wanted);
        let rules = self.leave.enter(&absolute, has(b".gitignore"), has(b".git"), above);
        let known = self.known.folders.get(path);
        let here = Here { handle, path, known, rules, depth };
        let mut items = Vec::with_capacity(names.len());
        let mut files = Vec::with_capacity(names.len());
        for entry in names {
            self.entry(&here, entry, &mut items, &mut files)?;
        }
        let known_files = known.map(|known| known.files.as_slice());
        if items.is_empty() {
            self.is_new |= known.is_some();
            return Ok(None);
        }
        let bytes = tree_object(&mut items);
        let tree = match known.map(|known| known.tree) {
            Some(same) if id_of(Kind::Tree, &bytes)? == same => same,
            Some(_) | None => self.vault.put(Kind::Tree, &bytes)?,
        };
        self.is_new |= known_files != Some(files.as_slice()) || known.map(|known| known.tree) != Some(tree);
        self.cache.folders.insert(path.to_vec(), KnownFolder { tree, files });
        Ok(Some(tree))
    }

    fn entry(
        &mut self,
        here: &Here<'_>,
        Name { name, kind }: Name,
        items: &mut Vec<(Vec<u8>, Item)>,
        files: &mut Vec<KnownFile>,
    ) -> Result<(), CheckpointError> {
        let path = joined(here.path, &name);
        let absolute = below(self.root, &path);
        if self.leave.is_nobodys(&absolute, &name) {
            return Ok(());
        }
        if is_unfinished(&name) && kind != FileType::Directory {
            if self.leave.is_cut_short() {
                // It held nothing that is not in a state.
                let _ = rustix::fs::unlinkat(here.handle, name.as_slice(), AtFlags::empty());
            }
            return Ok(());
        }
        if name.starts_with(b".neco-") && kind == FileType::RegularFile && is_abandoned(&name, age(here.handle, &name))
        {
            let _ = rustix::fs::unlinkat(here.handle, name.as_slice(), AtFlags::empty());
            return Ok(());
        }
        let is_folder = kind == FileType::Directory;
        if let Some(why) = self.leave.why(here.rules.as_deref(), &absolute, is_folder) {
            self.leave_out(&absolute, why);
            return Ok(());
        }
        let found = match kind {
            FileType::Directory => self.below(here, &name, &path)?.map(|id| Item { kind: ItemKind::Folder, id }),
            FileType::RegularFile => self.file(here, &name, &path, files)?,
            FileType::Symlink => self.link(here, &name, files)?,
            FileType::Fifo
            | FileType::Socket
            | FileType::CharacterDevice
            | FileType::BlockDevice
            | FileType::Unknown => {
                self.leave_out(&absolute, LeftOutWhy::Other);
                None
            }
        };
        items.extend(found.map(|item| (name, item)));
        Ok(())
    }

    fn below(&mut self, here: &Here<'_>, name: &[u8], path: &[u8]) -> Result<Option<ObjectId>, CheckpointError> {
        let opened = rustix::fs::openat(here.handle, name, FOLDER | OFlags::NOFOLLOW, Mode::empty());
        match opened {
            Ok(handle) if here.depth < DEEPEST => {
                let rules = self.leave.on_the_way(here.rules.as_ref(), &below(self.root, path));
                self.folder(&handle, path, rules, here.depth + 1)
            }
            Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => Ok(None),
            Ok(_) | Err(_) => {
                self.leave_out(&below(self.root, path), LeftOutWhy::Other);
                Ok(None)
            }
        }
    }

    fn file(
        &mut self,
        here: &Here<'_>,
        name: &[u8],
        path: &[u8],
        files: &mut Vec<KnownFile>,
    ) -> Result<Option<Item>, CheckpointError> {
        let Ok(stat) = rustix::fs::statat(here.handle, name, AtFlags::SYMLINK_NOFOLLOW) else { return Ok(None) };
        if self.leave.is_too_big(u64::try_from(stat.st_size).unwrap_or(0)) {
            self.leave_out(&below(self.root, path), LeftOutWhy::TooBig);
            return Ok(None);
        }
        self.count()?;
        let mode = stat.st_mode & 0o7777;
        if !USUAL.contains(&mode) {
            self.details.modes.insert(path.to_vec(), mode);
        }
        let facts = Facts::from(&stat);
        if let Some(known) = here.known.and_then(|known| known.file(name)).filter(|known| known.facts == facts) {
            files.push(known.clone());
            return Ok(Some(Item { kind: known.kind, id: known.id }));
        }
        let read = match self.read(here, name) {
            Ok(Some(read)) => read,
            Ok(None) | Err(Errno::NOENT | Errno::LOOP) => return Ok(None),
            Err(_) => {
                self.leave_out(&below(self.root, path), LeftOutWhy::Other);
                return Ok(None);
            }
        };
        if self.leave.is_too_big(read.content.len() as u64) {
            self.leave_out(&below(self.root, path), LeftOutWhy::TooBig);
            return Ok(None);
        }
        let id = self.vault.put(Kind::Blob, &read.content)?;
        let kind = if read.runs { ItemKind::Program } else { ItemKind::File };
        files.push(KnownFile { name: name.to_vec(), facts: self.look.remembers(read.facts), kind, id });
        Ok(Some(Item { kind, id }))
    }

    /// The content of a file; nothing when it is none any more.
    fn read(&self, here: &Here<'_>, name: &[u8]) -> Result<Option<Content>, Errno> {
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
        here: &Here<'_>,
        name: &[u8],
        files: &mut Vec<KnownFile>,
    ) -> Result<Option<Item>, CheckpointError> {
        let Ok(stat) = rustix::fs::statat(here.handle, name, AtFlags::SYMLINK_NOFOLLOW) else { return Ok(None) };
        self.count()?;
        let facts = Facts::from(&stat);
        if let Some(known) = here.known.and_then(|known| known.file(name)).filter(|known| known.facts == facts) {
            files.push(known.clone());
            return Ok(Some(Item { kind: known.kind, id: known.id }));
        }
        let Ok(target) = rustix::fs::readlinkat(here.handle, name, Vec::new()) else { return Ok(None) };
        let id = self.vault.put(Kind::Blob, target.as_bytes())?;
        let kind = ItemKind::Link;
        files.push(KnownFile { name: name.to_vec(), facts: self.look.remembers(facts), kind, id });
        Ok(Some(Item { kind, id }))
    }

    fn count(&mut self) -> Result<(), CheckpointError> {
        self.files += 1;
        if self.files > self.leave.max_files() {
            return Err(CheckpointError::TooManyFiles { root: self.root.to_path_buf(), most: self.leave.max_files() });
        }
        Ok(())
    }

    fn leave_out(&mut self, absolute: &Path, why: LeftOutWhy) {
        let path: PathBuf = absolute.strip_prefix(self.root).unwrap_or(absolute).to_path_buf();
        self.details.left_out.push(LeftOut { path, why });
    }
}

struct Content {
    content: Vec<u8>,
    facts: Facts,
    runs: bool,
}

/// How long nobody touched a file.
fn age(folder: &OwnedFd, name: &[u8]) -> Duration {
    let Ok(stat) = rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) else { return Duration::ZERO };
    let touched = Duration::from_secs(u64::try_from(stat.st_mtime).unwrap_or(0));
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().saturating_sub(touched)
}

/// The names of a folder, sorted.
fn names(handle: &OwnedFd) -> Result<Vec<Name>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(handle)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if name == b"." || name == b".." {
            continue;
        }
        let mut kind = entry.file_type();
        // Some file systems don't say.
        if kind == FileType::Unknown {
            let Ok(stat) = rustix::fs::statat(handle, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW) else { continue };
            kind = FileType::from_raw_mode(stat.st_mode);
        }
        names.push(Name { name: name.to_vec(), kind });
    }
    names.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    Ok(names)
}
