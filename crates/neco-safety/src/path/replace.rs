//! Writing a file as a whole: all of the new content or all of the old, never a mixture; and removing one.

use std::ffi::OsStr;
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{AtFlags, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::attributes::{Attributes, Owner};
use super::error::PathError;
use super::located::{Located, Stamp};
use super::open_at::{ALWAYS, PLACE, open_beneath, open_folder, plain_names};
use super::unfinished::{Unfinished, sweep};

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Replaced {
    /// Its state now.
    pub stamp: Stamp,
    /// How many other names (hard links) the old file had, which still show the old content.
    pub other_names: u64,
    /// What it holds, where that is not what was written: an editor puts a text in order as it saves it.
    pub instead: Option<Vec<u8>>,
}

impl Located {
    /// Makes `content` the content of the file, creating the file and its folders where they are
    /// missing. `before` is the state that the caller has seen, `None` for no file at all; when the
    /// file is in another state at the last moment, nothing is written.
    ///
    /// The content goes to a new file with the owner, permissions, access lists and other attributes of the old
    /// one; that file is flushed to the disk, takes the name of the old one and is read back. A file with several
    /// names (hard links) loses this one to the new file: the others may lie anywhere, and what is outside the
    /// workspace is not written. Only where the folder takes no new file, or a new file can't have all that the old
    /// one has, is a file with a single name written in place.
    /// Fails with [`PathError::Changed`] when the file is not in the state `before`; otherwise what stands in the way.
    pub fn replace(&self, content: &[u8], before: Option<&Stamp>) -> Result<Replaced, PathError> {
        self.replace_like(content, before, None)
    }

    /// The same for a file that takes over from another one, whose attributes it gets.
    /// Fails as [`Located::replace`]; [`PathError::NotKept`] when it can't be given them.
    pub fn replace_like(
        &self,
        content: &[u8],
        before: Option<&Stamp>,
        like: Option<&Attributes>,
    ) -> Result<Replaced, PathError> {
        let name = self.relative.file_name().ok_or_else(|| PathError::IsDirectory(self.shown()))?;
        let (folder, found) = self.open_parent(before.is_none())?;
        sweep(folder.as_fd(), &found);
        let target = Target { located: self, folder: folder.as_fd(), name };
        let existing = target.check(before)?;
        let names = existing.as_ref().map_or(1, MetadataExt::nlink);
        let own = existing.as_ref().map(|existing| target.attributes_of(existing)).transpose()?.flatten();
        let stays = like.is_none_or(|like| own.as_ref() == Some(like));
        // What stands under another name now may be somebody else's, but what is replaced stays whose it was.
        let owner = if stays { Owner::Stays } else { Owner::MayChange };
        let written = match like.or(own.as_ref()) {
            None if existing.is_some() => Err(Obstacle::NotKept),
            attributes => {
                target.write_beside(content, existing.as_ref(), attributes.map(|attributes| (attributes, owner)))
            }
        };
        match (written, existing.as_ref().filter(|_| stays && names == 1)) {
            (Ok(()), _) => {}
            (Err(Obstacle::Folder(_) | Obstacle::NotKept), Some(existing)) => {
                target.write_in_place(content, existing)?;
            }
            (Err(Obstacle::NotKept), None) => return Err(PathError::NotKept(self.shown())),
            (Err(Obstacle::Folder(error) | Obstacle::Other(error)), _) => return Err(target.error(error)),
        }
        flush_folder(folder.as_fd());
        let stamp = target.read_back(content)?;
        Ok(Replaced { stamp, other_names: names.saturating_sub(1), instead: None })
    }

    /// Looks whether somebody else may write the file as [`Located::replace`] would: it is in the state `before`, and its
    /// own permissions allow it. Gives how many other names (hard links) it has.
    /// Fails as [`Located::replace`] does before anything is written; no folder is made.
    pub fn check_replace(&self, before: Option<&Stamp>) -> Result<u64, PathError> {
        let name = self.relative.file_name().ok_or_else(|| PathError::IsDirectory(self.shown()))?;
        let (folder, _) = self.open_parent(false)?;
        let existing = Target { located: self, folder: folder.as_fd(), name }.check(before)?;
        Ok(existing.map_or(0, |existing| existing.nlink().saturating_sub(1)))
    }

    /// What the file has besides its content.
    /// Fails when it can't be opened, or one of its attributes can't be read.
    pub fn attributes(&self) -> Result<Attributes, PathError> {
        let (file, metadata) = self.open_with_facts()?;
        Attributes::with(&file, &metadata).map_err(|error| PathError::while_using(self.shown(), error))
    }

    /// Removes the file, if it is still in the state `before`.
    /// Fails with [`PathError::Changed`] when it is not; otherwise what stands in the way.
    pub fn remove(&self, before: &Stamp) -> Result<(), PathError> {
        let name = self.relative.file_name().ok_or_else(|| PathError::IsDirectory(self.shown()))?;
        let (folder, _) = self.open_parent(false)?;
        let target = Target { located: self, folder: folder.as_fd(), name };
        target.check(Some(before))?;
        rustix::fs::unlinkat(folder.as_fd(), name, AtFlags::empty()).map_err(|error| target.error(error))?;
        flush_folder(folder.as_fd());
        Ok(())
    }

    /// Removes an empty folder; one that has something in it stays.
    /// The error is what stands in the way.
    pub fn remove_empty_folder(&self) -> Result<(), PathError> {
        let name = self.relative.file_name().ok_or_else(|| PathError::IsDirectory(self.shown()))?;
        let (folder, _) = self.open_parent(false)?;
        let removed = rustix::fs::unlinkat(folder.as_fd(), name, AtFlags::REMOVEDIR);
        removed.map_err(|error| PathError::while_using(self.shown(), error))
    }

    /// The folder that it is in, and what the system says of that.
    fn open_parent(&self, create: bool) -> Result<(OwnedFd, Stat), PathError> {
        let parent = self.relative.parent().unwrap_or(Path::new(""));
        let opened = self.root.beneath(|root| {
            let folder = match open_beneath(root, parent, PLACE | OFlags::DIRECTORY) {
                Err(Errno::NOENT) if create => create_folders(root, parent)?,
                opened => opened?,
            };
            let found = rustix::fs::fstat(&folder)?;
            // The folder of a removed root can still be opened, but takes nothing.
            if found.st_nlink == 0 { Err(Errno::NOENT) } else { Ok((folder, found)) }
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
    fn check(&self, before: Option<&Stamp>) -> Result<Option<Metadata>, PathError> {
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
    fn look(&self) -> Result<Option<Metadata>, PathError> {
        let handle = match rustix::fs::openat(self.folder, self.name, PLACE | OFlags::NOFOLLOW, Mode::empty()) {
            Ok(handle) => handle,
            Err(Errno::NOENT) => return Ok(None),
            Err(error) => return Err(self.error(error)),
        };
        let metadata = File::from(handle).metadata().map_err(|error| self.io_error(&error))?;
        self.located.must_be_file(metadata.file_type())?;
        Ok(Some(metadata))
    }

    /// Writes a new file that takes the place of the old one.
    fn write_beside(
        &self,
        content: &[u8],
        existing: Option<&Metadata>,
        attributes: Option<(&Attributes, Owner)>,
    ) -> Result<(), Obstacle> {
        // Nobody else reads what may be secret before it has the old file's permissions.
        let mode = if attributes.is_some() { Mode::RUSR | Mode::WUSR } else { Mode::from_raw_mode(0o666) };
        let fill = |unfinished| self.fill(unfinished, content, existing, attributes);
        match Unfinished::unnamed(self.folder, mode).map_err(Obstacle::from).and_then(fill) {
            // Not every file system has files without a name.
            Err(Obstacle::Folder(_) | Obstacle::Other(_)) if !self.was_changed(existing) => {}
            result => return result,
        }
        Unfinished::named(self.folder, mode).map_err(Obstacle::from).and_then(fill)
    }

    fn fill(
        &self,
        mut unfinished: Unfinished<'_>,
        content: &[u8],
        existing: Option<&Metadata>,
        attributes: Option<(&Attributes, Owner)>,
    ) -> Result<(), Obstacle> {
        unfinished.file.write_all(content).map_err(errno)?;
        if let Some((attributes, owner)) = attributes {
            attributes.give(&unfinished.file, owner).map_err(|_| Obstacle::NotKept)?;
        }
        unfinished.file.sync_all().map_err(errno)?;
        // The flush may have taken long enough for someone else to write.
        if self.was_changed(existing) {
            return Err(Obstacle::Other(Errno::STALE));
        }
        match existing {
            Some(_) => unfinished.takes_over(self.name),
            None => unfinished.becomes_new(self.name),
        }?;
        Ok(())
    }

    /// Whether the file is another than was seen.
    fn was_changed(&self, existing: Option<&Metadata>) -> bool {
        !self.look().is_ok_and(|now| now.as_ref().map(Stamp::of) == existing.map(Stamp::of))
    }

    /// What the file has besides its content; nothing where not all of that can be read.
    fn attributes_of(&self, existing: &Metadata) -> Result<Option<Attributes>, PathError> {
        let open = |flags| rustix::fs::openat(self.folder, self.name, flags | OFlags::NOFOLLOW | ALWAYS, Mode::empty());
        // A file may be writable but not readable.
        let opened = open(OFlags::RDONLY).or_else(|_| open(OFlags::WRONLY));
        let file = File::from(opened.map_err(|error| self.error(error))?);
        let metadata = file.metadata().map_err(|error| self.io_error(&error))?;
        if Stamp::of(&metadata) != Stamp::of(existing) {
            return Err(PathError::Changed(self.located.shown()));
        }
        Ok(Attributes::with(&file, &metadata).ok())
    }

    fn write_in_place(&self, content: &[u8], existing: &Metadata) -> Result<(), PathError> {
        let flags = OFlags::WRONLY | OFlags::NOFOLLOW | ALWAYS;
        let handle = rustix::fs::openat(self.folder, self.name, flags, Mode::empty()).map_err(|e| self.error(e))?;
        let mut file = File::from(handle);
        let opened = file.metadata().map_err(|error| self.io_error(&error))?;
        if Stamp::of(&opened) != Stamp::of(existing) {
            return Err(PathError::Changed(self.located.shown()));
        }
        make_room(&file, content).map_err(|error| self.error(error))?;
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

/// Why a new file did not take the place of the old one.
enum Obstacle {
    /// The folder takes no new file.
    Folder(Errno),
    /// It can't be given all that the old one has.
    NotKept,
    Other(Errno),
}

impl From<Errno> for Obstacle {
    fn from(error: Errno) -> Self {
        match error {
            Errno::ACCESS | Errno::PERM | Errno::ROFS | Errno::BUSY => Self::Folder(error),
            _ => Self::Other(error),
        }
    }
}

/// A disk that is full is found out before anything is overwritten, where the file system can say so.
fn make_room(file: &File, content: &[u8]) -> Result<(), Errno> {
    #[cfg(target_os = "linux")]
    if !content.is_empty() {
        let keep_size = rustix::fs::FallocateFlags::KEEP_SIZE;
        if let Err(error @ (Errno::NOSPC | Errno::DQUOT)) =
            rustix::fs::fallocate(file, keep_size, 0, content.len() as u64)
        {
            return Err(error);
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (file, content);
    Ok(())
}

/// So that the new name survives a power cut; a folder that can't be read can't be flushed either.
fn flush_folder(folder: BorrowedFd<'_>) {
    if let Ok(folder) = rustix::fs::openat(folder, ".", OFlags::RDONLY | OFlags::DIRECTORY | ALWAYS, Mode::empty()) {
        let _ = rustix::fs::fsync(folder);
    }
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
