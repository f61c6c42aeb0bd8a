//! Writing a file as a whole: all of the new content or all of the old, never a mixture; and removing one.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use super::error::PathError;
use super::located::{Located, Stamp};
use super::open_at::{ALWAYS, PLACE, open_beneath, open_folder, plain_names};

/// A file that was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// Its state now.
    pub stamp: Stamp,
    /// How many other names (hard links) the old file had, which still show the old content.
    pub other_names: u64,
}

impl Located {
    /// Makes `content` the content of the file, creating the file and its folders where they are
    /// missing. `before` is the state that the caller has seen, `None` for no file at all; when the
    /// file is in another state at the last moment, nothing is written.
    ///
    /// The content goes to a new file beside the old one, with its permissions and, where that is
    /// allowed, its owner; that file is flushed to the disk, takes the name of the old one and is
    /// read back. A file with several names (hard links) loses this one to the new file: the others
    /// may lie anywhere, and what is outside the workspace is not written. Only where the folder
    /// takes no new file is a file with a single name written in place.
    ///
    /// # Errors
    /// [`PathError::Changed`] when the file is not in the state `before`; otherwise what stands in the way.
    pub fn replace(&self, content: &[u8], before: Option<&Stamp>) -> Result<Replaced, PathError> {
        self.replace_like(content, before, None)
    }

    /// The same for a file that takes over from another one, whose owner and permissions it gets.
    ///
    /// # Errors
    /// As [`Located::replace`].
    pub fn replace_like(
        &self,
        content: &[u8],
        before: Option<&Stamp>,
        like: Option<&std::fs::Metadata>,
    ) -> Result<Replaced, PathError> {
        let name = self.relative.file_name().ok_or_else(|| PathError::IsDirectory(self.shown()))?;
        let folder = self.open_parent(before.is_none())?;
        let target = Target { located: self, folder: folder.as_fd(), name };
        let existing = target.check(before)?;
        let names = existing.as_ref().map_or(1, MetadataExt::nlink);
        match target.write_beside(content, existing.as_ref(), like.or(existing.as_ref())) {
            Err(error) if folder_takes_no_file(error) && names == 1 => match &existing {
                Some(existing) => target.write_in_place(content, existing)?,
                None => return Err(target.error(error)),
            },
            result => result.map_err(|error| target.error(error))?,
        }
        flush_folder(folder.as_fd());
        Ok(Replaced { stamp: target.read_back(content)?, other_names: names.saturating_sub(1) })
    }

    /// Removes the file, if it is still in the state `before`.
    ///
    /// # Errors
    /// [`PathError::Changed`] when it is not; otherwise what stands in the way.
    pub fn remove(&self, before: &Stamp) -> Result<(), PathError> {
        let name = self.relative.file_name().ok_or_else(|| PathError::IsDirectory(self.shown()))?;
        let folder = self.open_parent(false)?;
        let target = Target { located: self, folder: folder.as_fd(), name };
        target.check(Some(before))?;
        rustix::fs::unlinkat(folder.as_fd(), name, AtFlags::empty()).map_err(|error| target.error(error))?;
        flush_folder(folder.as_fd());
        Ok(())
    }

    /// Removes an empty folder; one that has something in it stays.
    ///
    /// # Errors
    /// What stands in the way.
    pub fn remove_empty_folder(&self) -> Result<(), PathError> {
        let name = self.relative.file_name().ok_or_else(|| PathError::IsDirectory(self.shown()))?;
        let folder = self.open_parent(false)?;
        let removed = rustix::fs::unlinkat(folder.as_fd(), name, AtFlags::REMOVEDIR);
        removed.map_err(|error| PathError::while_using(self.shown(), error))
    }

    fn open_parent(&self, create: bool) -> Result<OwnedFd, PathError> {
        let parent = self.relative.parent().unwrap_or(Path::new(""));
        let opened = self.root.beneath(|root| match open_beneath(root, parent, PLACE | OFlags::DIRECTORY) {
            // The folder of a removed root can still be opened, but takes nothing.
            Ok(folder) if rustix::fs::fstat(&folder)?.st_nlink == 0 => Err(Errno::NOENT),
            Err(Errno::NOENT) if create => create_folders(root, parent),
            result => result,
        });
        opened.map_err(|error| PathError::while_using(self.shown(), error))
    }
}

struct Target<'a> {
    located: &'a Located,
    folder: BorrowedFd<'a>,
    name: &'a OsStr,
}

impl Target<'_> {
    /// The file as it is now, if it is as the caller saw it and may be written.
    fn check(&self, before: Option<&Stamp>) -> Result<Option<std::fs::Metadata>, PathError> {
        let existing = self.look()?;
        if existing.as_ref().map(Stamp::of).as_ref() != before {
            return Err(PathError::Changed(self.located.shown()));
        }
        if let Some(existing) = &existing {
            let protected = existing.mode() & 0o222 == 0;
            let access = rustix::fs::Access::WRITE_OK;
            if protected || rustix::fs::accessat(self.folder, self.name, access, AtFlags::empty()).is_err() {
                return Err(PathError::WriteProtected(self.located.shown()));
            }
        }
        Ok(existing)
    }

    /// What stands under the name, if it is nothing or a file.
    fn look(&self) -> Result<Option<std::fs::Metadata>, PathError> {
        let handle = match rustix::fs::openat(self.folder, self.name, PLACE | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(handle) => handle,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(self.error(error)),
        };
        let metadata = File::from(handle).metadata().map_err(|error| self.io_error(&error))?;
        self.located.must_be_file(metadata.file_type())?;
        Ok(Some(metadata))
    }

    fn write_beside(
        &self,
        content: &[u8],
        existing: Option<&std::fs::Metadata>,
        like: Option<&std::fs::Metadata>,
    ) -> Result<(), Errno> {
        // Nobody else reads what may be secret before it has the old file's permissions.
        let mode = if like.is_some() { Mode::RUSR | Mode::WUSR } else { Mode::from_raw_mode(0o666) };
        let name = fresh_name();
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | ALWAYS;
        let file = File::from(rustix::fs::openat(self.folder, &name, flags, mode)?);
        let written = self.fill_and_rename(file, &name, content, (existing, like));
        if written.is_err() {
            let _ = rustix::fs::unlinkat(self.folder, &name, AtFlags::empty());
        }
        written
    }

    fn fill_and_rename(
        &self,
        mut file: File,
        name: &OsStr,
        content: &[u8],
        (existing, like): (Option<&std::fs::Metadata>, Option<&std::fs::Metadata>),
    ) -> Result<(), Errno> {
        file.write_all(content).map_err(errno)?;
        if let Some(like) = like {
            keep_owner_and_mode(&file, like)?;
        }
        file.sync_all().map_err(errno)?;
        // The flush may have taken long enough for someone else to write.
        let now = self.look().map_err(|_| Errno::STALE)?;
        if now.as_ref().map(Stamp::of) != existing.map(Stamp::of) {
            return Err(Errno::STALE);
        }
        match existing {
            Some(_) => rustix::fs::renameat(self.folder, name, self.folder, self.name),
            None => rename_to_new(self.folder, name, self.name),
        }
    }

    fn write_in_place(&self, content: &[u8], existing: &std::fs::Metadata) -> Result<(), PathError> {
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | ALWAYS;
        let handle = rustix::fs::openat(self.folder, self.name, flags, Mode::empty()).map_err(|e| self.error(e))?;
        let mut file = File::from(handle);
        let opened = file.metadata().map_err(|error| self.io_error(&error))?;
        if Stamp::of(&opened) != Stamp::of(existing) {
            return Err(PathError::Changed(self.located.shown()));
        }
        file.write_all(content)
            .and_then(|()| file.set_len(content.len() as u64))
            .and_then(|()| file.sync_all())
            .map_err(|error| self.io_error(&error))
    }

    fn read_back(&self, content: &[u8]) -> Result<Stamp, PathError> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | ALWAYS;
        let handle = match rustix::fs::openat(self.folder, self.name, flags, Mode::empty()) {
            Ok(handle) => handle,
            // A file may be writable but not readable; then its size has to do.
            Err(Errno::ACCESS) => return self.size_as_written(content),
            Err(error) => return Err(self.error(error)),
        };
        let mut file = File::from(handle);
        let metadata = file.metadata().map_err(|error| self.io_error(&error))?;
        if !holds(&mut file, content).map_err(|error| self.io_error(&error))? {
            return Err(PathError::NotAsWritten(self.located.shown()));
        }
        Ok(Stamp::of(&metadata))
    }

    fn size_as_written(&self, content: &[u8]) -> Result<Stamp, PathError> {
        match self.look()? {
            Some(metadata) if metadata.len() == content.len() as u64 => Ok(Stamp::of(&metadata)),
            Some(_) | None => Err(PathError::NotAsWritten(self.located.shown())),
        }
    }

    fn error(&self, error: Errno) -> PathError {
        match error {
            Errno::STALE | Errno::EXIST => PathError::Changed(self.located.shown()),
            _ => PathError::while_using(self.located.shown(), error),
        }
    }

    fn io_error(&self, error: &io::Error) -> PathError {
        PathError::from_io(self.located.shown(), error)
    }
}

fn create_folders(root: BorrowedFd<'_>, relative: &Path) -> Result<OwnedFd, Errno> {
    let mut folder = open_beneath(root, Path::new(""), PLACE | OFlags::DIRECTORY)?;
    for name in plain_names(relative)? {
        folder = match open_folder(folder.as_fd(), name) {
            Err(Errno::NOENT) => create_folder(folder.as_fd(), name)?,
            result => result?,
        };
    }
    Ok(folder)
}

fn create_folder(parent: BorrowedFd<'_>, name: &OsStr) -> Result<OwnedFd, Errno> {
    match rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o777)) {
        Ok(()) => flush_folder(parent),
        Err(Errno::EXIST) => {}
        Err(error) => return Err(error),
    }
    open_folder(parent, name)
}

/// The owner first: giving a file away takes its special permission bits away.
fn keep_owner_and_mode(file: &File, existing: &std::fs::Metadata) -> Result<(), Errno> {
    let fresh = file.metadata().map_err(errno)?;
    let mut mode = existing.mode() & 0o7777;
    if (fresh.uid(), fresh.gid()) != (existing.uid(), existing.gid()) {
        let owner = Some(rustix::fs::Uid::from_raw(existing.uid()));
        let group = Some(rustix::fs::Gid::from_raw(existing.gid()));
        let given = rustix::fs::fchown(file, owner, group).or_else(|_| rustix::fs::fchown(file, None, group));
        if given.is_err() || file.metadata().map_err(errno)?.uid() != existing.uid() {
            // Run as another user it would be another program than the one its owner trusted.
            mode &= 0o777;
        }
    }
    rustix::fs::fchmod(file, Mode::from_raw_mode(mode))
}

/// A rename that fails when the name is taken, where the file system can do that.
fn rename_to_new(folder: BorrowedFd<'_>, from: &OsStr, to: &OsStr) -> Result<(), Errno> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    match rustix::fs::renameat_with(folder, from, folder, to, rustix::fs::RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
        result => return result,
    }
    rustix::fs::renameat(folder, from, folder, to)
}

fn folder_takes_no_file(error: Errno) -> bool {
    matches!(error, Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::BUSY)
}

/// So that the new name survives a power cut; a folder that can't be read can't be flushed either.
fn flush_folder(folder: BorrowedFd<'_>) {
    if let Ok(folder) = rustix::fs::openat(folder, ".", OFlags::RDONLY | OFlags::DIRECTORY | ALWAYS, Mode::empty()) {
        let _ = rustix::fs::fsync(folder);
    }
}

fn fresh_name() -> OsString {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!(".neco-{}-{}-{now:x}.tmp", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)).into()
}

fn holds(file: &mut File, content: &[u8]) -> io::Result<bool> {
    let mut buffer = vec![0; content.len().clamp(1, 64 * 1024)];
    let mut rest = content;
    loop {
        let read = match file.read(&mut buffer) {
            Ok(0) => return Ok(rest.is_empty()),
            Ok(read) => read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        match (rest.split_at_checked(read), buffer.get(..read)) {
            (Some((front, back)), Some(found)) if front == found => rest = back,
            _ => return Ok(false),
        }
    }
}

fn errno(error: io::Error) -> Errno {
    Errno::from_io_error(&error).unwrap_or(Errno::IO)
}
