//! Putting files back as they were.
//!
//! Every file is written beside its place and then moved into it, with what the one there has besides its content, so
//! it is whole at any time; folders are
//! opened one beneath the other and no link is followed, so nothing outside is touched. New files are written before
//! any other is touched, so that nothing is begun that has no room; files go before others come into their places: a
//! folder can take the place of a file. What can't be done is told, and the rest is done.
//!
//! Right before a file goes or is replaced it is looked at once more: what somebody wrote since the look is in
//! no state, so it stays.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use gix::objs::Kind;
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::beside::Beside;
use super::checkpoints::{Change, Kept, Progress};
use super::details::Details;
use super::error::CheckpointError;
use super::objects::Contents;
use super::plan::{Plan, Step};
use super::settling::{force_all, replace_for_good};
use super::tree::{Item, ItemKind, TreeChange, id_of, joined};
use super::vault::Vault;

/// The mark that a restore is under way.
const MARK: &str = "restoring";

/// So many files are forced to the disk one by one.
const FEW: usize = 16;

/// Why a file stays that is another than a moment ago.
pub(super) const CHANGED: &str = "somebody changed it just now";

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
    pub fn is_marked(store: &Path) -> bool {
        store.join(MARK).exists()
    }

    /// What a person is told of a restore that did not come to its end.
    pub fn notice(store: &Path) -> Option<String> {
        let undo = fs::read_to_string(store.join(MARK)).ok()?;
        let undo: String = undo.trim().chars().take(12).collect();
        Some(format!(
            "A rewind was interrupted, so files may be half of one state and half of another; undo (/redo, neco session \
             rewind ID --undo) restores what was there before it: checkpoint {undo}"
        ))
    }

    pub fn told(store: &Path) {
        let _ = fs::remove_file(store.join(MARK));
    }
}

/// What files are put back into.
pub struct Target<'a, V> {
    /// Where their contents are.
    pub vault: &'a V,
    /// Those that were read already.
    pub contents: Contents,
    /// What the tree can't say.
    pub details: &'a Details,
    /// Hears how far it is.
    pub progress: &'a Progress,
}

/// Does what is planned. New files are written beside their places first: when they have no room nothing is done.
/// Then `begins` hears that files are touched, and may refuse that.
/// Fails when the workspace itself can't be opened, has no room, or `begins` refuses; nothing is done then.
pub fn apply<V: Vault>(
    root: &Path,
    plan: &Plan,
    to: Target<'_, V>,
    begins: impl FnOnce() -> Result<(), CheckpointError>,
) -> Result<Done, CheckpointError> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let handle = rustix::fs::open(root, flags, Mode::empty()).map_err(|error| CheckpointError::at(root, error))?;
    let mut done = Done { kept: plan.kept.clone(), ..Done::default() };
    let (go, come): (Vec<_>, Vec<_>) = plan.steps.iter().partition(|step| step.change.after.is_none());
    let is_other = |step: &&Step| step.change.before != step.change.after;
    let (come, modes): (Vec<_>, Vec<_>) = come.into_iter().partition(is_other);
    let steps = Steps { progress: to.progress, done: 0, total: plan.steps.len() };
    let one_by_one = come.len() <= FEW;
    let reached = Reached { root: &handle, last: None };
    let mut stage = Stage { to: &to, reached, steps, one_by_one, written: Vec::with_capacity(come.len()) };
    let blocked = stage.write_all(come.into_iter().map(|step| &step.change), &mut done);
    let blocked = match blocked.and_then(|blocked| begins().map(|()| blocked)) {
        Ok(blocked) => blocked,
        Err(error) => {
            stage.written.iter().for_each(|(change, beside)| beside.forget(&handle, change));
            return Err(error);
        }
    };
    for change in go.into_iter().map(|step| &step.change) {
        done.note(change, remove(&handle, change));
        stage.steps.pass(2);
    }
    stage.reached.last = None;
    // What was in their way is gone now.
    for change in blocked {
        match stage.write(change) {
            Ok(()) => stage.steps.pass(1),
            Err(error) => done.note(change, Err(error)),
        }
    }
    for change in modes.into_iter().map(|step| &step.change) {
        let item = change.after.ok_or_else(|| io::Error::other(CHANGED));
        done.note(change, item.and_then(|item| set_mode(&handle, change, item, to.details)));
        stage.steps.pass(2);
    }
    // Renamed before that, a power cut could leave an empty file in the place of the one that was. Many files are
    // faster forced together than one by one.
    let forced = if stage.one_by_one { Ok(()) } else { force_all(root) };
    let Stage { mut reached, mut steps, written, .. } = stage;
    for (change, beside) in written {
        steps.pass(1);
        let moved = match &forced {
            Ok(()) => beside.move_into_place(&mut reached, change).map_err(|error| error.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if moved.is_err() {
            beside.forget(&handle, change);
        }
        done.note(change, moved);
    }
    force_names(root, &done.changes);
    Ok(done)
}

/// Files that wait beside their places.
struct Stage<'a, 'p, V> {
    to: &'a Target<'a, V>,
    reached: Reached<'a>,
    steps: Steps<'a>,
    /// Whether each is forced to the disk by itself.
    one_by_one: bool,
    written: Vec<(&'p TreeChange, Beside)>,
}

impl<'p, V: Vault> Stage<'_, 'p, V> {
    /// Writes all of them; gives those that something is in the way of.
    fn write_all(
        &mut self,
        changes: impl Iterator<Item = &'p TreeChange>,
        done: &mut Done,
    ) -> Result<Vec<&'p TreeChange>, CheckpointError> {
        let mut blocked = Vec::new();
        for change in changes {
            match self.write(change) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
                    blocked.push(change);
                    continue;
                }
                Err(error) if has_no_room(&error) => {
                    let path = Path::new(OsStr::from_bytes(&change.path));
                    return Err(CheckpointError::at(path, error));
                }
                Err(error) => done.note(change, Err(error)),
            }
            self.steps.pass(1);
        }
        Ok(blocked)
    }

    fn write(&mut self, change: &'p TreeChange) -> io::Result<()> {
        let Some(item) = change.after else { return Ok(()) };
        let content = self.to.contents.get(self.to.vault, item.id).map_err(io::Error::other)?;
        let (beside, file) = Beside::write(&mut self.reached, change, item, &content, self.to.details)?;
        let forced = file.iter().filter(|_| self.one_by_one).try_for_each(File::sync_data);
        // Also what can't be forced is removed again in the end.
        self.written.push((change, beside));
        forced
    }
}

/// Whether the disk takes no more: then no other file has room either.
fn has_no_room(error: &io::Error) -> bool {
    use io::ErrorKind::{QuotaExceeded, ReadOnlyFilesystem, StorageFull};
    matches!(error.kind(), StorageFull | QuotaExceeded | ReadOnlyFilesystem)
}

/// How far it is. Writing a file beside its place is one half of it, moving it there the other.
struct Steps<'a> {
    progress: &'a Progress,
    done: usize,
    total: usize,
}

impl Steps<'_> {
    fn pass(&mut self, halves: usize) {
        self.done += halves;
        self.progress.tell(self.done / 2, self.total);
    }
}

/// The folder that was reached last: files come folder by folder.
pub(super) struct Reached<'r> {
    root: &'r OwnedFd,
    last: Option<(Vec<u8>, OwnedFd)>,
}

impl Reached<'_> {
    /// The folder of a path, as [`open_chain`] opens it.
    pub(super) fn folder(
        &mut self,
        path: &[u8],
        make: Option<&BTreeMap<Vec<u8>, u32>>,
    ) -> io::Result<Option<&OwnedFd>> {
        let (folders, name) = split(path);
        let above = path.get(..path.len() - name.len()).unwrap_or_default();
        if self.last.as_ref().is_none_or(|(last, _)| last != above) {
            let Some(mut chain) = open_chain(self.root, &folders, make)? else { return Ok(None) };
            self.last = chain.pop().map(|folder| (above.to_vec(), folder));
        }
        Ok(Some(self.last.as_ref().map_or(self.root, |(_, folder)| folder)))
    }
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
    let Some(chain) = open_chain(root, &folders, None)? else { return Ok(()) };
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

/// Gives a file that holds what it should its permissions back.
fn set_mode(root: &OwnedFd, change: &TreeChange, item: Item, target: &Details) -> io::Result<()> {
    let (folders, name) = split(&change.path);
    let Some(chain) = open_chain(root, &folders, None)? else { return Err(io::Error::other(CHANGED)) };
    let folder = chain.last().unwrap_or(root);
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = rustix::fs::openat(folder, name, flags, Mode::empty())?;
    if !is_still(folder, name, change.before)? {
        return Err(io::Error::other(CHANGED));
    }
    let usual = if item.kind == ItemKind::Program { 0o755 } else { 0o644 };
    let mode = target.modes.get(&change.path).copied().unwrap_or(usual);
    Ok(rustix::fs::fchmod(&file, Mode::from_raw_mode(mode & 0o777))?)
}

/// Whether what has a name is what was seen there. A folder in the way is told by whoever it is in the way of.
pub(super) fn is_still(folder: &OwnedFd, name: &OsStr, seen: Option<Item>) -> io::Result<bool> {
    let kind = match rustix::fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => FileType::from_raw_mode(stat.st_mode),
        // What is gone by now is in nobody's way, and was kept.
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(true),
        Err(error) => return Err(error.into()),
    };
    if kind == FileType::Directory {
        return Ok(true);
    }
    // Where nothing was something is now, whatever it holds.
    let Some(seen) = seen else { return Ok(false) };
    let content = match kind {
        FileType::Symlink => rustix::fs::readlinkat(folder, name, Vec::new())?.into_bytes(),
        FileType::RegularFile => {
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let mut content = Vec::new();
            File::from(rustix::fs::openat(folder, name, flags, Mode::empty())?).read_to_end(&mut content)?;
            content
        }
        FileType::Directory
        | FileType::Fifo
        | FileType::Socket
        | FileType::CharacterDevice
        | FileType::BlockDevice
        | FileType::Unknown => return Ok(false),
    };
    let is_link = kind == FileType::Symlink;
    let same = id_of(Kind::Blob, &content).is_ok_and(|id| id == seen.id);
    Ok(same && is_link == (seen.kind == ItemKind::Link))
}

/// The folders on the way, each opened beneath the one before. Those that are missing are made with the permissions
/// of `make`; `None` when one is missing and not wanted.
pub(super) fn open_chain(
    root: &OwnedFd,
    folders: &[&OsStr],
    make: Option<&BTreeMap<Vec<u8>, u32>>,
) -> io::Result<Option<Vec<OwnedFd>>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mut chain: Vec<OwnedFd> = Vec::with_capacity(folders.len());
    let mut path = Vec::new();
    for folder in folders {
        path = joined(&path, folder.as_bytes());
        let above = chain.last().unwrap_or(root);
        let opened = match (rustix::fs::openat(above, *folder, flags, Mode::empty()), make) {
            (Err(Errno::NOENT), Some(modes)) => make_folder(above, folder, modes.get(&path).copied(), flags),
            (Err(Errno::NOENT), None) => return Ok(None),
            (result, _) => result,
        };
        match opened {
            Ok(handle) => chain.push(handle),
            Err(Errno::NOTDIR | Errno::LOOP) if make.is_none() => return Ok(None),
            Err(Errno::NOTDIR | Errno::LOOP) => {
                let text = format!("{} is in the way", Path::new(folder).display());
                return Err(io::Error::new(io::ErrorKind::NotADirectory, text));
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(Some(chain))
}

fn make_folder(above: &OwnedFd, name: &OsStr, mode: Option<u32>, flags: OFlags) -> Result<OwnedFd, Errno> {
    // What is unusual is kept from others from the first moment on.
    let first = if mode.is_some() { 0o700 } else { 0o777 };
    rustix::fs::mkdirat(above, name, Mode::from_raw_mode(first))?;
    let handle = rustix::fs::openat(above, name, flags, Mode::empty())?;
    if let Some(mode) = mode {
        // Its files come next: whoever may not write in it could not have them back.
        rustix::fs::fchmod(&handle, Mode::from_raw_mode((mode & 0o3777) | 0o300))?;
    }
    Ok(handle)
}

pub(super) fn split(path: &[u8]) -> (Vec<&OsStr>, &OsStr) {
    let mut names: Vec<&OsStr> = path.split(|byte| *byte == b'/').map(OsStr::from_bytes).collect();
    let name = names.pop().unwrap_or_default();
    (names, name)
}
