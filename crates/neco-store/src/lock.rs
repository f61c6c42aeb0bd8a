//! Keeps two processes from writing one session.
//!
//! The lock is the kernel's lock on a small file, so it ends with the process that holds it, however
//! that process ends. The file holds the owner's pid, for the message to whoever comes second.
//!
//! The owner removes the file before it lets go of the lock. Somebody may have opened the file just
//! before that and then lock a file that no longer has a name; so whoever gets the lock looks
//! whether the name still leads to the file it locked, and begins again if it does not. After a kill
//! the file stays behind unlocked, and the next owner takes it over.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use neco_proto::SessionId;

use crate::error::StoreError;
use crate::private;

/// How often somebody else's pid is looked for, when the lock is taken but the pid is not there yet.
const PID_ATTEMPTS: u32 = 20;
const PID_PAUSE: Duration = Duration::from_millis(1);

/// Where the locks of sessions are, below the folder of everything that is kept.
pub fn lock_folder(data_dir: &Path) -> PathBuf {
    data_dir.join("locks")
}

/// The lock of one session; given back when it is dropped.
#[derive(Debug)]
pub struct SessionLock {
    path: PathBuf,
    // Closing the file gives the lock back.
    file: File,
}

impl SessionLock {
    /// Takes the lock of `session` in the folder `dir`, which is made if needed. A few file calls
    /// that do not wait for the other process.
    /// Fails with [`StoreError::InUse`] when another process, or this one, has it; [`StoreError::Write`] when the file
    /// can't be made.
    pub fn acquire(dir: &Path, session: SessionId) -> Result<Self, StoreError> {
        let path = dir.join(format!("{session}.lock"));
        Self::try_acquire(dir, &path, session)
            .map_err(|error| StoreError::Write(format!("{}: {error}", path.display())))?
    }

    /// Whether somebody has the lock now. Nothing is made or taken for long.
    pub fn is_held(dir: &Path, session: SessionId) -> bool {
        let path = dir.join(format!("{session}.lock"));
        let opened = private::file_options().read(true).open(path);
        opened.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    fn try_acquire(dir: &Path, path: &Path, session: SessionId) -> io::Result<Result<Self, StoreError>> {
        private::create_dir(dir)?;
        let mut last_pid = None;
        for _ in 0..PID_ATTEMPTS {
            let mut file = private::file_options().create(true).read(true).write(true).truncate(false).open(path)?;
            match file.try_lock() {
                Ok(()) if !is_named(&file, path)? => continue,
                Ok(()) => {
                    match write_pid(&mut file) {
                        // The pid is for the words to whoever comes second; the lock is the file's.
                        Err(error) if error.kind() != io::ErrorKind::StorageFull => return Err(error),
                        Ok(()) | Err(_) => {}
                    }
                    return Ok(Ok(Self { path: path.to_owned(), file }));
                }
                // Whoever only looks has it for a moment, and the file may still name an owner that was killed.
                Err(TryLockError::WouldBlock) => {
                    let pid = read_pid(&mut file)?;
                    if pid.is_some() && pid == last_pid {
                        break;
                    }
                    last_pid = pid;
                }
                Err(TryLockError::Error(error)) => return Err(error),
            }
            std::thread::sleep(PID_PAUSE);
        }
        Ok(Err(StoreError::InUse { session, pid: last_pid.unwrap_or(0) }))
    }
}

impl Drop for SessionLock {
    fn drop(&mut self) {
        // The name may have been taken by somebody else's file, if ours was removed by hand. A file
        // that stays behind does no harm: it is unlocked in a moment.
        if is_named(&self.file, &self.path).unwrap_or(false) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn write_pid(file: &mut File) -> io::Result<()> {
    file.set_len(0)?;
    file.rewind()?;
    file.write_all(std::process::id().to_string().as_bytes())
}

fn read_pid(file: &mut File) -> io::Result<Option<u32>> {
    let mut text = String::new();
    file.read_to_string(&mut text)?;
    Ok(text.parse().ok())
}

/// Whether `path` still leads to `file`.
#[cfg(unix)]
fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let mine = file.metadata()?;
    match fs::metadata(path) {
        Ok(named) => Ok(named.dev() == mine.dev() && named.ino() == mine.ino()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Elsewhere a file that somebody has open can't lose its name.
#[cfg(not(unix))]
fn is_named(_file: &File, _path: &Path) -> io::Result<bool> {
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_second_one_learns_the_first_ones_pid() {
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("locks");
        let session = SessionId::new();
        let held = SessionLock::acquire(&dir, session).unwrap();
        let in_use = StoreError::InUse { session, pid: std::process::id() };
        assert_eq!(SessionLock::acquire(&dir, session).unwrap_err(), in_use);
        SessionLock::acquire(&dir, SessionId::new()).unwrap();
        drop(held);
        SessionLock::acquire(&dir, session).unwrap();
        assert_eq!(fs::read_dir(&dir).unwrap().count(), 0);
    }

    #[test]
    fn never_two_owners_at_a_time() {
        use std::sync::atomic::{AtomicU32, Ordering};
        let dir = tempfile::tempdir().unwrap();
        let session = SessionId::new();
        let owners = AtomicU32::new(0);
        let taken = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let Ok(lock) = SessionLock::acquire(dir.path(), session) else { continue };
                        assert_eq!(owners.fetch_add(1, Ordering::SeqCst), 0);
                        taken.fetch_add(1, Ordering::SeqCst);
                        owners.fetch_sub(1, Ordering::SeqCst);
                        drop(lock);
                    }
                });
            }
        });
        assert!(taken.into_inner() > 0);
    }

    #[test]
    fn a_folder_that_can_not_be_made_is_a_write_error() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("file");
        fs::write(&file, "").unwrap();
        let error = SessionLock::acquire(&file.join("locks"), SessionId::new()).unwrap_err();
        assert!(matches!(error, StoreError::Write(_)), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn others_can_not_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let dir = dir.path().join("locks");
        let lock = SessionLock::acquire(&dir, SessionId::new()).unwrap();
        assert_eq!(fs::metadata(&dir).unwrap().permissions().mode() & 0o777, 0o700);
        assert_eq!(fs::metadata(&lock.path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
