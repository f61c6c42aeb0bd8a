//! Putting files back as they were.
//!
//! Every file is written beside its place and then moved into it, so it is whole at any time; folders are
//! opened one beneath the other and no link is followed, so nothing outside is touched. Files go before
//! others come: a folder can take the place of a file. What can't be done is told, and the rest is done.
//!
//! Right before a file goes or is replaced it is looked at once more: what somebody wrote since the look is in
//! no state, so it stays.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use gix::objs::Kind;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::checkpoints::{Change, Kept};
use super::error::CheckpointError;
use super::plan::Plan;
use super::settling::replace_for_good;
use super::tree::{Item, ItemKind, TreeChange, id_of};
use super::vault::Vault;

/// What the name of a file begins with that is being written.
const UNFINISHED: &[u8] = b".neco-restore-";

/// The mark that a restore is under way.
const MARK: &str = "restoring";

/// Why a file stays that is another than a moment ago.
const CHANGED: &str = "somebody changed it just now";

/// Whether a name is that of a file which a restore was writing.
#[must_use]
pub fn is_unfinished(name: &[u8]) -> bool {
    let Some(numbers) = name.strip_prefix(UNFINISHED) else { return false };
    let mut parts = numbers.split(|byte| *byte == b'-');
    let is_number =
        |part: Option<&[u8]>| part.is_some_and(|part| !part.is_empty() && part.iter().all(u8::is_ascii_digit));
    is_number(parts.next()) && is_number(parts.next()) && parts.next().is_none()
}

/// What was done.
#[derive(Debug, Default)]
pub struct Done {
    /// File by file.
    pub changes: Vec<Change>,
    /// What was left alone, and why.
    pub kept: Vec<Kept>,
}

/// A restore under way: should the process die, the next one can say so.
#[derive(Debug)]
pub struct Interrupted {
    mark: PathBuf,
}

impl Interrupted {
    /// Marks that a restore begins; `undo` is the state before it. The mark is on the disk before anything is
    /// touched.
    ///
    /// # Errors
    /// When the mark can't be written.
    pub fn begin(store: &Path, undo: &str) -> Result<Self, CheckpointError> {
        let mark = store.join(MARK);
        replace_for_good(&mark, undo.as_bytes())?;
        Ok(Self { mark })
    }

    /// It is done.
    pub fn end(self) {
        // A mark that stays is told once more than needed.
        let _ = fs::remove_file(&self.mark);
    }

    /// Whether a restore did not come to its end, and nobody was told yet.
    #[must_use]
    pub fn is_marked(store: &Path) -> bool {
        store.join(MARK).exists()
    }

    /// What a person is told of a restore that did not come to its end.
    #[must_use]
    pub fn notice(store: &Path) -> Option<String> {
        let undo = fs::read_to_string(store.join(MARK)).ok()?;
        let undo: String = undo.trim().chars().take(12).collect();
        Some(format!("going back to an earlier state was cut short; what was there before it is checkpoint {undo}"))
    }

    /// They were told.
    pub fn told(store: &Path) {
        let _ = fs::remove_file(store.join(MARK));
    }
}

/// Does what is planned.
///
/// # Errors
/// When the workspace itself can't be opened; nothing is done then.
pub fn apply<V: Vault>(
    vault: &V,
    root: &Path,
    plan: &Plan,
    modes: &BTreeMap<Vec<u8>, u32>,
) -> Result<Done, CheckpointError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let handle = rustix::fs::open(root, flags, Mode::empty()).map_err(|error| CheckpointError::at(root, error))?;
    let mut done = Done { kept: plan.kept.clone(), ..Done::default() };
    let (go, come): (Vec<_>, Vec<_>) = plan.steps.iter().partition(|step| step.change.after.is_none());
    for change in go.into_iter().map(|step| &step.change) {
        done.note(change, remove(&handle, change));
    }
    for change in come.into_iter().map(|step| &step.change) {
        let Some(item) = change.after else { continue };
        let mode = modes.get(&change.path).copied();
        let wrote = vault
            .get(item.id)
            .map_err(|error| error.to_string())
            .and_then(|content| write(&handle, change, item, &content, mode).map_err(|error| error.to_string()));
        done.note(change, wrote);
    }
    force_names(root, &done.changes);
    Ok(done)
}

/// Has the names of files on the disk, as what they hold is. Where that fails nothing is lost: what was there
/// before is kept.
fn force_names(root: &Path, changes: &[Change]) {
    let folders: BTreeSet<PathBuf> =
        changes.iter().filter_map(|change| Some(root.join(change.path.parent()?))).collect();
    for folder in folders {
        let _ = File::open(folder).and_then(|folder| folder.sync_all());
    }
}

impl Done {
    fn note(&mut self, change: &TreeChange, result: Result<(), impl ToString>) {
        let path: PathBuf = OsStr::from_bytes(&change.path).into();
        match result {
            Ok(()) => self.changes.push(Change { path, kind: change.kind() }),
            Err(error) => self.kept.push(Kept { path, reason: error.to_string() }),
        }
    }
}

/// Removes a file, and the folders above it that are empty then.
fn remove(root: &OwnedFd, change: &TreeChange) -> io::Result<()> {
    let (folders, name) = split(&change.path);
    let Some(chain) = open_chain(root, &folders, false)? else { return Ok(()) };
    let folder = chain.last().unwrap_or(root);
    if !is_still(folder, name, change.before)? {
        return Err(io::Error::other(CHANGED));
    }
    match rustix::fs::unlinkat(folder, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => {}
        Err(error) => return Err(error.into()),
    }
    for (depth, folder) in folders.iter().enumerate().rev() {
        let above = depth.checked_sub(1).and_then(|above| chain.get(above)).unwrap_or(root);
        // One that holds something else stays.
        if rustix::fs::unlinkat(above, *folder, AtFlags::REMOVEDIR).is_err() {
            break;
        }
    }
    Ok(())
}

fn write(root: &OwnedFd, change: &TreeChange, item: Item, content: &[u8], mode: Option<u32>) -> io::Result<()> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let (folders, name) = split(&change.path);
    let chain = open_chain(root, &folders, true)?.unwrap_or_default();
    let folder = chain.last().unwrap_or(root);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let unfinished = [UNFINISHED, format!("{}-{number}", std::process::id()).as_bytes()].concat();
    let unfinished = OsStr::from_bytes(&unfinished);
    let written = match item.kind {
        ItemKind::Link => Ok(rustix::fs::symlinkat(OsStr::from_bytes(content), folder, unfinished)?),
        ItemKind::File | ItemKind::Program => write_file(folder, unfinished, item.kind, content, mode),
        ItemKind::Folder => Err(io::Error::other("it is a folder")),
    };
    let moved = written.and_then(|()| move_into_place(folder, unfinished, name, change));
    if moved.is_err() {
        let _ = rustix::fs::unlinkat(folder, unfinished, AtFlags::empty());
    }
    moved
}

fn move_into_place(folder: &OwnedFd, unfinished: &OsStr, name: &OsStr, change: &TreeChange) -> io::Result<()> {
    if !is_still(folder, name, change.before)? {
        return Err(io::Error::other(CHANGED));
    }
    Ok(rustix::fs::renameat(folder, unfinished, folder, name)?)
}

/// Whether what has a name is what was seen there. A folder in the way is told by whoever it is in the way of.
fn is_still(folder: &OwnedFd, name: &OsStr, seen: Option<Item>) -> io::Result<bool> {
    let kind = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => FileType::from_raw_mode(stat.st_mode),
        // What is gone by now is in nobody's way, and was kept.
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(true),
        Err(error) => return Err(error.into()),
    };
    let content = match kind {
        FileType::Symlink => rustix::fs::readlinkat(folder, name, Vec::new())?.into_bytes(),
        FileType::RegularFile => {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let mut content = Vec::new();
            File::from(rustix::fs::openat(folder, name, flags, Mode::empty())?).read_to_end(&mut content)?;
            content
        }
        FileType::Directory => return Ok(true),
        FileType::Fifo | FileType::Socket | FileType::CharacterDevice | FileType::BlockDevice | FileType::Unknown => {
            return Ok(false);
        }
    };
    let Some(seen) = seen else { return Ok(false) };
    let is_link = kind == FileType::Symlink;
    let same = id_of(Kind::Blob, &content).is_ok_and(|id| id == seen.id);
    Ok(same && is_link == (seen.kind == ItemKind::Link))
}

fn write_file(folder: &OwnedFd, name: &OsStr, kind: ItemKind, content: &[u8], mode: Option<u32>) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    // What a new file would get by itself; what is unusual is kept from others from the first moment on.
    let usual = if kind == ItemKind::Program { 0o777 } else { 0o666 };
    let create = if mode.is_some() { 0o600 } else { usual };
    let handle = rustix::fs::openat(folder, name, flags, Mode::from_raw_mode(create))?;
    let mut file = File::from(handle);
    file.write_all(content)?;
    if let Some(mode) = mode {
        // Bits that let a file run as somebody else are never given.
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode & 0o777))?;
    }
    // Renamed before that, a power cut could leave an empty file in the place of the one that was.
    file.sync_data()
}

/// The folders on the way, each opened beneath the one before. `None` when one is missing and not wanted.
fn open_chain(root: &OwnedFd, folders: &[&OsStr], make: bool) -> io::Result<Option<Vec<OwnedFd>>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut chain: Vec<OwnedFd> = Vec::with_capacity(folders.len());
    for folder in folders {
        let above = chain.last().unwrap_or(root);
        let opened = match rustix::fs::openat(above, *folder, flags, Mode::empty()) {
            Err(Errno::NOENT) if make => {
                rustix::fs::mkdirat(above, *folder, Mode::from_raw_mode(0o777))?;
                rustix::fs::openat(above, *folder, flags, Mode::empty())
            }
            Err(Errno::NOENT) => return Ok(None),
            result => result,
        };
        match opened {
            Ok(handle) => chain.push(handle),
            Err(Errno::NOTDIR | Errno::LOOP) if !make => return Ok(None),
            Err(Errno::NOTDIR | Errno::LOOP) => {
                let text = format!("{} is in the way", Path::new(folder).display());
                return Err(io::Error::other(text));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Some(chain))
}

fn split(path: &[u8]) -> (Vec<&OsStr>, &OsStr) {
    let mut names: Vec<&OsStr> = path.split(|byte| *byte == b'/').map(OsStr::from_bytes).collect();
    let name = names.pop().unwrap_or_default();
    (names, name)
}
