//! Files that are being written: without a name where the system can do that, else under one that says whose they
//! are, and how those of processes that were killed are told apart and removed.
//!
//! Whoever writes one holds a lock on it, which the system lets go of when the process ends, however it ends.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::open_at::ALWAYS;

/// How often a name is tried again that somebody took away.
const TRIES: usize = 8;

/// Whether a file without a name was once found by the way by which it gets one. Where that way goes away later, naming
/// one fails, and it is written under a name.
#[cfg(target_os = "linux")]
static CAN_BE_NAMED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// A file that is being written; when it is dropped before it has a name of its own, nothing is left of it.
pub(super) struct Unfinished<'a> {
    pub file: File,
    folder: BorrowedFd<'a>,
    /// The name that it has meanwhile.
    name: Option<OsString>,
}

impl<'a> Unfinished<'a> {
    /// One without a name: if the process is killed, nothing of it stays.
    #[cfg(target_os = "linux")]
    pub fn unnamed(folder: BorrowedFd<'a>, mode: Mode) -> Result<Self, Errno> {
        let flags = OFlags::TMPFILE | OFlags::RDWR | ALWAYS;
        let file = File::from(rustix::fs::openat(folder, ".", flags, mode)?);
        if !CAN_BE_NAMED.load(Ordering::Relaxed) {
            rustix::fs::stat(handle_path(&file))?;
            CAN_BE_NAMED.store(true, Ordering::Relaxed);
        }
        // Before it has a name, so that nobody who finds it takes it for abandoned.
        let _ = rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive);
        Ok(Self { file, folder, name: None })
    }

    #[cfg(not(target_os = "linux"))]
    pub fn unnamed(_: BorrowedFd<'a>, _: Mode) -> Result<Self, Errno> {
        Err(Errno::NOTSUP)
    }

    /// One with a name that says whose it is.
    pub fn named(folder: BorrowedFd<'a>, mode: Mode) -> Result<Self, Errno> {
        for _ in 0..TRIES {
            let name = fresh_name();
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | ALWAYS;
            let file = File::from(rustix::fs::openat(folder, &name, flags, mode)?);
            let unfinished = Self { file, folder, name: Some(name) };
            let locked = rustix::fs::flock(&unfinished.file, FlockOperation::NonBlockingLockExclusive);
            // Between its making and its lock somebody may have taken it for abandoned.
            if !matches!(locked, Err(Errno::WOULDBLOCK)) && rustix::fs::fstat(&unfinished.file)?.st_nlink > 0 {
                return Ok(unfinished);
            }
        }
        Err(Errno::AGAIN)
    }

    /// Gives it a name that nothing has, and fails where something has it.
    pub fn becomes_new(mut self, name: &OsStr) -> Result<(), Errno> {
        match self.name.take() {
            None => self.link(name),
            Some(own) => {
                let renamed = rename_to_new(self.folder, &own, name);
                self.name = renamed.is_err().then_some(own);
                renamed
            }
        }
    }

    /// Gives it the name of another file, which it takes the place of.
    pub fn takes_over(mut self, name: &OsStr) -> Result<(), Errno> {
        let own = match self.name.take() {
            Some(own) => own,
            None => {
                let own = fresh_name();
                self.link(&own)?;
                own
            }
        };
        let renamed = rustix::fs::renameat(self.folder, &own, self.folder, name);
        self.name = renamed.is_err().then_some(own);
        renamed
    }

    fn link(&self, name: &OsStr) -> Result<(), Errno> {
        let from = handle_path(&self.file);
        rustix::fs::linkat(rustix::fs::CWD, from, self.folder, name, AtFlags::SYMLINK_FOLLOW)
    }
}

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            let _ = rustix::fs::unlinkat(self.folder, name, AtFlags::empty());
        }
    }
}

/// The way by which a file without a name can be given one.
fn handle_path(file: &File) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// A rename that fails when the name is taken.
fn rename_to_new(folder: BorrowedFd<'_>, from: &OsStr, to: &OsStr) -> Result<(), Errno> {
    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    match rustix::fs::renameat_with(folder, from, folder, to, rustix::fs::RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {}
        result => return result,
    }
    match rustix::fs::linkat(folder, from, folder, to, AtFlags::empty()) {
        Ok(()) => rustix::fs::unlinkat(folder, from, AtFlags::empty()),
        Err(Errno::EXIST) => Err(Errno::EXIST),
        // A file system with neither.
        Err(_) => rustix::fs::renameat(folder, from, folder, to),
    }
}

/// Removes what processes that were killed were writing in a folder, which is this one; looks once into each.
pub(super) fn sweep(folder: BorrowedFd<'_>, found: &Stat) {
    static SWEPT: Mutex<BTreeSet<(u64, u64)>> = Mutex::new(BTreeSet::new());
    if !SWEPT.lock().unwrap_or_else(PoisonError::into_inner).insert((found.st_dev, found.st_ino)) {
        return;
    }
    // A handle of a place can't be read from.
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | ALWAYS;
    let opened = rustix::fs::openat(folder, ".", flags, Mode::empty()).and_then(rustix::fs::Dir::new);
    let Ok(entries) = opened else { return };
    for entry in entries.flatten().filter(|entry| is_own_name(entry.file_name().to_bytes())) {
        remove_abandoned(folder, OsStr::from_bytes(entry.file_name().to_bytes()));
    }
}

/// Whether a name is one that a file has while it is being written: it is nothing of the user's.
pub fn is_own_name(name: &[u8]) -> bool {
    writer_of(name).is_some()
}

/// Removes a file of such a name if the process is gone that was writing it.
pub fn remove_abandoned(folder: BorrowedFd<'_>, name: &OsStr) {
    let Some(writer) = writer_of(name.as_bytes()) else { return };
    if writer.lives() {
        return;
    }
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | ALWAYS;
    let Ok(file) = rustix::fs::openat(folder, name, flags, Mode::empty()) else { return };
    let is_file = rustix::fs::fstat(&file).is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_file());
    // A process of another machine or container has no number here, but it has its lock.
    if is_file && rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok() {
        let _ = rustix::fs::unlinkat(folder, name, AtFlags::empty());
    }
}

/// Who was writing a file, and when.
struct Writer {
    process: u32,
    seconds: u64,
}

impl Writer {
    /// Whether the process is there still, and not another one that got its number since.
    fn lives(&self) -> bool {
        if !Path::new("/proc").join(self.process.to_string()).exists() {
            return false;
        }
        // Both are rounded down.
        started(self.process).is_none_or(|started| started <= self.seconds + 2)
    }
}

/// When a process was started, in seconds.
fn started(process: u32) -> Option<u64> {
    /// The system counts in hundredths for everybody, however it counts for itself.
    const A_SECOND: u64 = 100;
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name before it may have anything in it.
    let since_boot: u64 = stat.rsplit_once(')')?.1.split_whitespace().nth(19)?.parse().ok()?;
    let system = std::fs::read_to_string("/proc/stat").ok()?;
    let boot: u64 = system.lines().find_map(|line| line.strip_prefix("btime "))?.trim().parse().ok()?;
    Some(boot + since_boot / A_SECOND)
}

fn fresh_name() -> OsString {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
    format!(".neco-{}-{}-{now:x}.tmp", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed)).into()
}

/// Reads what [`fresh_name`] writes.
fn writer_of(name: &[u8]) -> Option<Writer> {
    let own = name.strip_prefix(b".neco-")?.strip_suffix(b".tmp")?;
    let mut parts = std::str::from_utf8(own).ok()?.split('-');
    let (process, count, time) = (parts.next()?, parts.next()?, parts.next()?);
    count.parse::<u64>().ok().filter(|_| parts.next().is_none())?;
    let seconds = u128::from_str_radix(time, 16).ok()? / 1_000_000_000;
    Some(Writer { process: process.parse().ok()?, seconds: u64::try_from(seconds).ok()? })
}

#[cfg(test)]
mod tests {
    use std::os::fd::{AsFd, OwnedFd};

    use super::*;

    fn folder() -> (tempfile::TempDir, OwnedFd) {
        let folder = tempfile::tempdir().unwrap();
        let handle = rustix::fs::open(folder.path(), OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
        (folder, handle)
    }

    fn names(folder: &Path) -> Vec<OsString> {
        let mut names: Vec<OsString> =
            std::fs::read_dir(folder).unwrap().map(|item| item.unwrap().file_name()).collect();
        names.sort();
        names
    }

    #[test]
    fn only_what_a_dead_process_was_writing_is_removed() {
        let (folder, handle) = folder();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos();
        let own = std::process::id();
        let dead = [
            format!(".neco-4194999-3-{now:x}.tmp"),
            ".neco-4194999-3-18ff2a.tmp".to_owned(),
            // The number of a process that came long after.
            format!(".neco-{own}-0-18ff2a.tmp"),
        ];
        let stays = [
            format!(".neco-{own}-0-{now:x}.tmp"),
            format!(".neco-1-0-{now:x}.tmp"),
            ".neco-notes.tmp".to_owned(),
            ".neco-1-2-3-4.tmp".to_owned(),
            ".neco-4194999-3-18ff2a".to_owned(),
            "neco-4194999-3-18ff2a.tmp".to_owned(),
        ];
        for name in dead.iter().chain(&stays) {
            std::fs::write(folder.path().join(name), "half").unwrap();
        }
        // Somebody elsewhere, whose number says nothing here, holds the lock.
        let held = format!(".neco-4194998-0-{now:x}.tmp");
        let lock = File::create(folder.path().join(&held)).unwrap();
        rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive).unwrap();
        sweep(handle.as_fd(), &rustix::fs::fstat(&handle).unwrap());
        let mut left: Vec<OsString> = stays.iter().chain([&held]).map(OsString::from).collect();
        left.sort();
        assert_eq!(names(folder.path()), left);
    }

    #[test]
    fn what_is_dropped_or_finished_leaves_nothing_beside_it() {
        fn made(folder: BorrowedFd<'_>, is_named: bool) -> Unfinished<'_> {
            let mode = Mode::RUSR | Mode::WUSR;
            if is_named { Unfinished::named(folder, mode).unwrap() } else { Unfinished::unnamed(folder, mode).unwrap() }
        }
        for is_named in [false, true] {
            let (folder, handle) = folder();
            drop(made(handle.as_fd(), is_named));
            assert_eq!(names(folder.path()), [] as [&str; 0]);
            made(handle.as_fd(), is_named).becomes_new(OsStr::new("a")).unwrap();
            let taken = made(handle.as_fd(), is_named).becomes_new(OsStr::new("a"));
            assert_eq!(taken, Err(Errno::EXIST), "a file that is there is never overwritten as a new one");
            std::fs::write(folder.path().join("a"), "old").unwrap();
            made(handle.as_fd(), is_named).takes_over(OsStr::new("a")).unwrap();
            assert_eq!(std::fs::read(folder.path().join("a")).unwrap(), b"");
            assert_eq!(names(folder.path()), ["a"]);
        }
    }
}
