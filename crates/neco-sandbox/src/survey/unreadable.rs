//! What is in folders. Some their owner may enter and not read: git goes through them by name, so whoever looks for what
//! a command made must read them all the same. What can't be read is never taken for empty.
//!
//! Folders are read without the standard library, which asks the system about each folder before it reads it.

use std::ffi::OsString;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, chmodat, fstat, openat, statat};
use rustix::io::Errno;
use rustix::process::geteuid;

/// Two that open the same folder would take each other's mode for its own.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) name: OsString,
    /// What it is; of a link, that it is one.
    pub(crate) kind: FileType,
}

/// What is in a folder; nothing is in what is not there or is none. What its owner may not read is open to them for the
/// moment that it takes.
/// Fails when it can't be read even so. Another's folder that can neither be read nor entered is closed to every
/// command as well, so that nothing is in it.
pub(crate) fn entries(folder: &Path) -> io::Result<Vec<Entry>> {
    let read = match listed(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => return Ok(Vec::new()),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => while_readable(folder),
        read => read,
    };
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        read => read,
    }
}

fn listed(folder: &Path) -> io::Result<Vec<Entry>> {
    first_entries(folder, usize::MAX)
}

/// So many of the things in a folder, as far as it can be read as it is.
/// Fails where it is none, or can't be read.
pub(crate) fn first_entries(folder: &Path, most: usize) -> io::Result<Vec<Entry>> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    entries_of(openat(CWD, folder, flags, Mode::empty())?, most)
}

/// The same for a folder that is open to be read.
pub(crate) fn entries_of(folder: OwnedFd, most: usize) -> io::Result<Vec<Entry>> {
    let mut folder = Dir::new(folder)?;
    let mut found = Vec::new();
    while found.len() < most
        && let Some(entry) = folder.read()
    {
        let entry = entry?;
        let (name, mut kind) = (entry.file_name(), entry.file_type());
        if [b".".as_slice(), b".."].contains(&name.to_bytes()) {
            continue;
        }
        // Not every disk says what it is.
        if kind == FileType::Unknown {
            kind = match statat(folder.fd()?, name, AtFlags::SYMLINK_NOFOLLOW) {
                Ok(found) => FileType::from_raw_mode(found.st_mode),
                // It is gone already.
                Err(Errno::NOENT) => continue,
                Err(error) => return Err(error.into()),
            };
        }
        found.push(Entry { name: OsString::from_vec(name.to_bytes().to_vec()), kind });
    }
    Ok(found)
}

/// No link is followed: what is opened for a moment is the folder itself.
fn while_readable(folder: &Path) -> io::Result<Vec<Entry>> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let handle = openat(CWD, folder, flags, Mode::empty())?;
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let found = fstat(&handle)?;
    if found.st_uid != geteuid().as_raw() {
        return match statat(&handle, ".", AtFlags::empty()) {
            Err(Errno::ACCESS) => Ok(Vec::new()),
            Ok(_) | Err(_) => Err(io::ErrorKind::PermissionDenied.into()),
        };
    }
    let opened = Opened::new(handle, Mode::from_raw_mode(found.st_mode))?;
    listed(Path::new(&by_number(&opened.handle)))
}

/// A folder that is open to its owner until this is dropped.
struct Opened {
    handle: OwnedFd,
    before: Mode,
}

impl Opened {
    fn new(handle: OwnedFd, before: Mode) -> io::Result<Self> {
        // What could not be opened is not closed again.
        set(&handle, before | Mode::RUSR | Mode::XUSR)?;
        Ok(Self { handle, before })
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        if let Err(error) = set(&self.handle, self.before) {
            tracing::error!(%error, "a folder that was opened to be read could not be closed again");
        }
    }
}

/// The folder by its handle: whatever is at its path by now is another.
fn by_number(handle: &OwnedFd) -> String {
    format!("/proc/self/fd/{}", handle.as_raw_fd())
}

fn set(handle: &OwnedFd, mode: Mode) -> rustix::io::Result<()> {
    chmodat(CWD, by_number(handle), mode, AtFlags::empty())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tracing::span::{Attributes, Id, Record};
    use tracing::{Event, Metadata, Subscriber};

    use super::*;

    /// Counts what is logged.
    struct Counting(Arc<AtomicUsize>);

    impl Subscriber for Counting {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, _: &Event<'_>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    fn chmod(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }

    #[test]
    fn what_its_owner_may_not_read_is_read_and_left_as_it_was() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a"), "").unwrap();
        fs::create_dir(folder.path().join("b")).unwrap();
        for closed in [0o311, 0o000, 0o400, 0o100] {
            chmod(folder.path(), closed);
            let by_itself = entries(folder.path());
            let opened = while_readable(folder.path());
            let mode = fs::metadata(folder.path()).unwrap().mode() & 0o7777;
            chmod(folder.path(), 0o700);
            for read in [by_itself, opened] {
                let mut read = read.unwrap();
                read.sort_by(|one, other| one.name.cmp(&other.name));
                let read: Vec<_> =
                    read.iter().map(|entry| (entry.name.to_str().unwrap(), entry.kind.is_dir())).collect();
                assert_eq!(read, [("a", false), ("b", true)], "{closed:o}");
            }
            assert_eq!(mode, closed);
        }
    }

    #[test]
    fn nothing_is_in_what_is_none_and_what_cant_be_read_is_not_empty() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::write(at("file"), "").unwrap();
        assert!(entries(&at("file")).unwrap().is_empty() && entries(&at("missing")).unwrap().is_empty());
        fs::create_dir_all(at("above/below")).unwrap();
        fs::write(at("above/below/a"), "").unwrap();
        std::os::unix::fs::symlink("above", at("link")).unwrap();
        chmod(&at("above"), 0o000);
        let (below, linked, opened) = (entries(&at("above/below")), entries(&at("link")), while_readable(&at("link")));
        chmod(&at("above"), 0o700);
        assert!(opened.is_err(), "no link is opened");
        // Nothing is closed to root.
        let count = |read: io::Result<Vec<Entry>>| read.map(|read| read.len()).ok();
        let expected = geteuid().is_root().then_some(1);
        assert_eq!((count(below), count(linked)), (expected, expected));
    }

    #[test]
    fn what_could_not_be_opened_is_not_closed_again() {
        // Nobody may change the mode of this, root included.
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = openat(CWD, "/proc/self/task", flags, Mode::empty()).unwrap();
        let logged = Arc::new(AtomicUsize::new(0));
        let opened = tracing::subscriber::with_default(Counting(Arc::clone(&logged)), || {
            Opened::new(handle, Mode::from_raw_mode(0o555)).map(drop)
        });
        assert_eq!(opened.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        assert_eq!(logged.load(Ordering::Relaxed), 0, "nothing was left open");
    }
}
