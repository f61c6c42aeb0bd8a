//! A located path: where it is, how it is shown, and how it is read.

use std::fs::{File, FileType, Metadata};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::credentials::{is_own_credential, refuse_other_names};
use super::error::PathError;
use super::later::{Later, later};
use super::open_at::{ALWAYS, PLACE, open_beneath};
use super::resolve::Resolved;
use super::sensitive::{is_in_git_folder, is_sensitive_below, is_unread_below, may_make_a_repository};

/// What a path is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// To look.
    Read,
    /// To change.
    Write,
}

/// A folder that may be used.
#[derive(Debug)]
pub(crate) struct Root {
    /// Resolved.
    pub(crate) path: PathBuf,
    pub(crate) writable: bool,
    /// Paths inside are shown relative to it.
    pub(crate) is_workspace: bool,
    /// Opened when it is first used: a root may be created later, or be removed and created again.
    handle: Mutex<Option<Arc<OwnedFd>>>,
}

impl Root {
    pub(crate) fn new(path: PathBuf, writable: bool, is_workspace: bool) -> Self {
        Self { path, writable, is_workspace, handle: Mutex::default() }
    }

    pub(crate) fn open(&self) -> Result<Arc<OwnedFd>, Errno> {
        let mut handle = self.handle.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(handle) = handle.as_ref() {
            return Ok(Arc::clone(handle));
        }
        let fresh = Arc::new(rustix::fs::open(&self.path, PLACE | OFlags::DIRECTORY, Mode::empty())?);
        *handle = Some(Arc::clone(&fresh));
        Ok(fresh)
    }

    /// Does something beneath the root. When something is missing it is done once more if the root
    /// was removed and created again since it was opened.
    pub(super) fn beneath<T>(&self, act: impl Fn(BorrowedFd<'_>) -> Result<T, Errno>) -> Result<T, Errno> {
        let handle = self.open()?;
        match act(handle.as_fd()) {
            Err(Errno::NOENT) if self.was_created_again(&handle) => act(self.open()?.as_fd()),
            result => result,
        }
    }

    /// Whether another folder stands where the root was; then the next opening opens that.
    fn was_created_again(&self, handle: &Arc<OwnedFd>) -> bool {
        // A path that goes through a link now is not the one that was resolved.
        let still_resolved = std::fs::canonicalize(&self.path).is_ok_and(|path| path == self.path);
        let identity = |stat: rustix::fs::Stat| (stat.st_dev, stat.st_ino);
        let (Ok(now), Ok(then)) = (rustix::fs::stat(&self.path), rustix::fs::fstat(handle)) else { return false };
        if !still_resolved || identity(now) == identity(then) {
            return false;
        }
        *self.handle.lock().unwrap_or_else(PoisonError::into_inner) = None;
        true
    }
}

/// A path that was resolved and lies inside a root.
#[derive(Clone, Debug)]
pub struct Located {
    pub(super) root: Arc<Root>,
    pub(super) relative: PathBuf,
    absolute: PathBuf,
    named: PathBuf,
    exists: bool,
}

impl PartialEq for Located {
    fn eq(&self, other: &Self) -> bool {
        self.absolute == other.absolute
    }
}

impl Eq for Located {}

/// What tells one state of a file from another without reading it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    device: u64,
    inode: u64,
    size: u64,
    modified: (i64, i64),
    /// Unlike the time of modification nobody can set it back.
    changed: (i64, i64),
}

impl Stamp {
    /// The stamp of what was opened or looked at.
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
            changed: (metadata.ctime(), metadata.ctime_nsec()),
        }
    }

    /// The stamp of a text that is in no file: the same text has the same one.
    pub fn of_text(text: &str) -> Self {
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let hash = i64::from_ne_bytes(hasher.finish().to_ne_bytes());
        Self { device: 0, inode: 0, size: text.len() as u64, modified: (0, 0), changed: (hash, 0) }
    }

    /// Bytes in the file.
    pub fn size(&self) -> u64 {
        self.size
    }
}

impl Located {
    pub(crate) fn new(root: Arc<Root>, relative: PathBuf, named: PathBuf, resolved: Resolved) -> Self {
        Self { root, relative, absolute: resolved.path, named, exists: resolved.exists }
    }

    /// The resolved path.
    pub fn path(&self) -> &Path {
        &self.absolute
    }

    /// The path that was asked for, from the root of the file system on: there may be links in it.
    pub fn named(&self) -> &Path {
        &self.named
    }

    /// The path from the root that holds it; empty for the root itself.
    pub fn below_root(&self) -> &Path {
        &self.relative
    }

    /// Whether there was something when it was located.
    pub fn exists(&self) -> bool {
        self.exists
    }

    /// The path for people and models: relative to the workspace inside it, `.` for the workspace itself.
    pub fn shown(&self) -> String {
        if !self.root.is_workspace {
            return self.absolute.to_string_lossy().into_owned();
        }
        if self.relative.as_os_str().is_empty() {
            return ".".to_owned();
        }
        self.relative.to_string_lossy().into_owned()
    }

    /// Why looking at it needs a person's word, if it does. The root itself and what lies above it
    /// were chosen by the person.
    #[must_use]
    pub fn sensitive_to_read(&self) -> Option<&'static str> {
        match self.root.writable {
            true => is_sensitive_below(&self.root.path, &self.absolute),
            false => is_unread_below(&self.root.path, &self.absolute),
        }
    }

    /// Why changing it needs a person's word, if it does: more than for looking, as everything in a
    /// `.git` folder, and what makes any other folder one, can make git run something, and other files run by
    /// themselves. Touches the disk.
    #[must_use]
    pub fn sensitive_to_write(&self) -> Option<&'static str> {
        self.sensitive_to_read()
            .or_else(|| is_in_git_folder(&self.absolute))
            .or_else(|| self.later().and_then(Later::asks))
            .or_else(|| may_make_a_repository(&self.root.path, &self.absolute))
    }

    /// What it does later without being called.
    pub fn later(&self) -> Option<Later> {
        later(&self.root.path, &self.absolute)
    }

    /// Facts about it.
    /// Fails when it is not there or can't be looked at.
    pub fn metadata(&self) -> Result<Metadata, PathError> {
        self.open_as(PLACE)?.metadata().map_err(|error| PathError::from_io(self.shown(), &error))
    }

    /// Opens a file for reading. Folders, pipes, devices and sockets are refused without waiting for them.
    /// Fails when it is not there, is not a file, or can't be read.
    pub fn open(&self) -> Result<File, PathError> {
        self.open_with_facts().map(|(file, _)| file)
    }

    /// The same, with what the system says of what was opened.
    pub(crate) fn open_with_facts(&self) -> Result<(File, Metadata), PathError> {
        let file = self.open_as(OFlags::RDONLY | ALWAYS).map_err(|error| self.special(error))?;
        let metadata = file.metadata().map_err(|error| PathError::from_io(self.shown(), &error))?;
        self.must_be_file(metadata.file_type())?;
        refuse_other_names(&metadata).map_err(|_| PathError::OwnCredential(self.shown()))?;
        Ok((file, metadata))
    }

    /// Opens something that a walk of this folder has found, for reading. No link on the way is
    /// followed, also not one that was put there since, and a pipe does not wait for its other end.
    /// The error is what the system says; `EXDEV` for a path that does not lie in this folder, `EACCES` for credentials of
    /// Neco's own.
    pub fn open_below(&self, path: &Path) -> io::Result<File> {
        let relative = path.strip_prefix(&self.root.path).map_err(|_| Errno::XDEV)?;
        // A way up again would lead out of the folder, though not out of the root.
        let goes_up = relative.components().any(|component| !matches!(component, Component::Normal(_)));
        if goes_up || !path.starts_with(&self.absolute) {
            return Err(Errno::XDEV.into());
        }
        if is_own_credential(path) {
            return Err(Errno::ACCESS.into());
        }
        let file = File::from(self.root.beneath(|root| open_beneath(root, relative, OFlags::RDONLY | ALWAYS))?);
        refuse_other_names(&file.metadata()?)?;
        Ok(file)
    }

    /// All of a file, and the stamp it had before it was read. At most `limit` bytes are read, so a
    /// result longer than the caller accepts can be told apart by asking for one byte more.
    /// Fails as [`Located::open`].
    pub fn read(&self, limit: u64) -> Result<(Vec<u8>, Stamp), PathError> {
        let (file, metadata) = self.open_with_facts()?;
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(limit)).unwrap_or(0));
        file.take(limit).read_to_end(&mut bytes).map_err(|error| PathError::from_io(self.shown(), &error))?;
        Ok((bytes, Stamp::of(&metadata)))
    }

    fn open_as(&self, flags: OFlags) -> Result<File, PathError> {
        let opened = self.root.beneath(|root| open_beneath(root, &self.relative, flags));
        Ok(File::from(opened.map_err(|error| PathError::while_using(self.shown(), error))?))
    }

    /// A socket can't even be opened; say what it is rather than what the system said.
    fn special(&self, error: PathError) -> PathError {
        match self.metadata().map(|metadata| self.must_be_file(metadata.file_type())) {
            Ok(Err(reason)) => reason,
            Ok(Ok(())) | Err(_) => error,
        }
    }

    pub(super) fn must_be_file(&self, kind: FileType) -> Result<(), PathError> {
        if kind.is_file() {
            return Ok(());
        }
        if kind.is_dir() {
            return Err(PathError::IsDirectory(self.shown()));
        }
        if kind.is_symlink() {
            return Err(PathError::Swapped(self.shown()));
        }
        let kind = if kind.is_fifo() {
            "a pipe"
        } else if kind.is_socket() {
            "a socket"
        } else {
            "a device"
        };
        Err(PathError::Special { path: self.shown(), kind })
    }
}
