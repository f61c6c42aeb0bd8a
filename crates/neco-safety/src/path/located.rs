//! A located path: where it is, how it is shown, and how it is read.

use std::fs::{File, FileType, Metadata};
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustix::fs::{Mode, OFlags};

use super::error::PathError;
use super::open_at::{ALWAYS, PLACE, open_beneath};

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
    /// Opened when it is first used: a root may be created later.
    handle: OnceLock<OwnedFd>,
}

impl Root {
    pub(crate) fn new(path: PathBuf, writable: bool, is_workspace: bool) -> Self {
        Self { path, writable, is_workspace, handle: OnceLock::new() }
    }

    pub(crate) fn open(&self) -> io::Result<BorrowedFd<'_>> {
        if let Some(handle) = self.handle.get() {
            return Ok(handle.as_fd());
        }
        let handle = rustix::fs::open(&self.path, PLACE | OFlags::DIRECTORY, Mode::empty())?;
        Ok(self.handle.get_or_init(|| handle).as_fd())
    }
}

/// A path that was resolved and lies inside a root.
#[derive(Clone, Debug)]
pub struct Located {
    pub(super) root: Arc<Root>,
    pub(super) relative: PathBuf,
    absolute: PathBuf,
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
}

impl Stamp {
    /// The stamp of what was opened or looked at.
    #[must_use]
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            device: metadata.dev(),
            inode: metadata.ino(),
            size: metadata.len(),
            modified: (metadata.mtime(), metadata.mtime_nsec()),
        }
    }

    /// Bytes in the file.
    #[must_use]
    pub fn size(&self) -> u64 {
        self.size
    }
}

impl Located {
    pub(crate) fn new(root: Arc<Root>, relative: PathBuf, absolute: PathBuf, exists: bool) -> Self {
        Self { root, relative, absolute, exists }
    }

    /// The resolved path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.absolute
    }

    /// Whether there was something when it was located.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.exists
    }

    /// The path for people and models: relative to the workspace inside it, `.` for the workspace itself.
    #[must_use]
    pub fn shown(&self) -> String {
        if !self.root.is_workspace {
            return self.absolute.to_string_lossy().into_owned();
        }
        if self.relative.as_os_str().is_empty() {
            return ".".to_owned();
        }
        self.relative.to_string_lossy().into_owned()
    }

    /// Facts about it.
    ///
    /// # Errors
    /// When it is not there or can't be looked at.
    pub fn metadata(&self) -> Result<Metadata, PathError> {
        self.open_as(PLACE)?.metadata().map_err(|error| PathError::from_io(self.shown(), &error))
    }

    /// Opens a file for reading. Folders, pipes, devices and sockets are refused without waiting for them.
    ///
    /// # Errors
    /// When it is not there, is not a file, or can't be read.
    pub fn open(&self) -> Result<File, PathError> {
        let file = self.open_as(OFlags::RDONLY | ALWAYS).map_err(|error| self.special(error))?;
        let metadata = file.metadata().map_err(|error| PathError::from_io(self.shown(), &error))?;
        self.must_be_file(metadata.file_type())?;
        Ok(file)
    }

    /// All of a file, and the stamp it had before it was read. At most `limit` bytes are read, so a
    /// result longer than the caller accepts can be told apart by asking for one byte more.
    ///
    /// # Errors
    /// As [`Located::open`].
    pub fn read(&self, limit: u64) -> Result<(Vec<u8>, Stamp), PathError> {
        let failed = |error: io::Error| PathError::from_io(self.shown(), &error);
        let file = self.open()?;
        let metadata = file.metadata().map_err(failed)?;
        let mut bytes = Vec::with_capacity(usize::try_from(metadata.len().min(limit)).unwrap_or(0));
        file.take(limit).read_to_end(&mut bytes).map_err(failed)?;
        Ok((bytes, Stamp::of(&metadata)))
    }

    fn open_as(&self, flags: OFlags) -> Result<File, PathError> {
        let root = self.open_root()?;
        let handle =
            open_beneath(root, &self.relative, flags).map_err(|error| PathError::while_using(self.shown(), error))?;
        Ok(File::from(handle))
    }

    pub(super) fn open_root(&self) -> Result<BorrowedFd<'_>, PathError> {
        self.root.open().map_err(|error| PathError::from_io(self.root.path.display().to_string(), &error))
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
