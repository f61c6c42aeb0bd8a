//! The one server of a person and data folder: a lock decides who it is, a file says where it is.

use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::access::{make_private, read_private, write_private};

/// How long others may hold the lock who only look whether somebody has it.
const LOOKS: Duration = Duration::from_secs(1);

/// How long until it is tried again.
const PAUSE: Duration = Duration::from_millis(10);

/// Where a server is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Found {
    /// Its process.
    pub pid: u32,
    /// The version of its program.
    pub version: String,
    /// Where it listens.
    pub url: String,
}

/// The folder of the server of a data folder.
pub fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("run")
}

/// That this process is the server, until it is dropped.
pub struct Lock {
    folder: PathBuf,
    /// Its lock ends with the last process that has it, however that ends; nothing when another one goes on with it.
    file: Option<File>,
}

/// Why this process can't be the server.
#[derive(Debug, thiserror::Error)]
pub enum NotTheOne {
    /// Another process is.
    #[error("another process is the server already")]
    Another(Option<Found>),
    /// The lock can't be had.
    #[error(transparent)]
    Failed(#[from] io::Error),
}

impl Lock {
    /// Makes this process the server of a folder.
    ///
    /// # Errors
    /// When another one is.
    pub fn take(folder: &Path) -> Result<Self, NotTheOne> {
        make_private(folder)?;
        let file = File::options().create(true).truncate(false).write(true).open(folder.join("server.lock"))?;
        let begun = Instant::now();
        let tried = loop {
            match file.try_lock() {
                // Nobody is the server: somebody just looks.
                Err(TryLockError::WouldBlock) if begun.elapsed() < LOOKS && !is_taken(folder)? => {
                    std::thread::sleep(PAUSE);
                }
                tried => break tried,
            }
        };
        match tried {
            Ok(()) => {
                let lock = Self { folder: folder.to_owned(), file: Some(file) };
                lock.hide()?;
                Ok(lock)
            }
            Err(TryLockError::WouldBlock) => Err(NotTheOne::Another(said(folder)?)),
            Err(TryLockError::Error(error)) => Err(error.into()),
        }
    }

    /// Makes this process the server of a folder in the place of the one that gave it this.
    pub(crate) fn of(folder: &Path, given: File) -> Self {
        Self { folder: folder.to_owned(), file: Some(given) }
    }

    /// What another process is the server with.
    pub(crate) fn file(&self) -> Option<&File> {
        self.file.as_ref()
    }

    /// Another process is the server from now on.
    pub(crate) fn leave(mut self) {
        self.file.take();
    }

    /// Tells nobody any more where the server is: also not what one left that was killed, whose port and number may be
    /// somebody else's by now.
    ///
    /// # Errors
    /// When that can't be removed.
    pub fn hide(&self) -> io::Result<()> {
        match std::fs::remove_file(self.folder.join("server.json")) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        }
    }

    /// Tells others where the server is, once it listens.
    ///
    /// # Errors
    /// When that can't be written.
    pub fn tell(&self, found: &Found) -> io::Result<()> {
        write_private(&self.folder.join("server.json"), &serde_json::to_vec_pretty(found)?)
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        if self.file.is_some() {
            let _ = self.hide();
        }
    }
}

/// Whether some process is the server of a folder, also one that does not listen yet, or any more.
///
/// # Errors
/// When the folder can't be read.
pub fn is_taken(folder: &Path) -> io::Result<bool> {
    let file = match File::options().write(true).open(folder.join("server.lock")) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        opened => opened?,
    };
    match file.try_lock_shared() {
        // What a process left that was killed.
        Ok(()) => Ok(false),
        Err(TryLockError::WouldBlock) => Ok(true),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// The server of a folder, if one listens.
///
/// # Errors
/// When the folder can't be read.
pub fn find(folder: &Path) -> io::Result<Option<Found>> {
    if is_taken(folder)? { said(folder) } else { Ok(None) }
}

fn said(folder: &Path) -> io::Result<Option<Found>> {
    let text = read_private(&folder.join("server.json"))?;
    text.map(|text| serde_json::from_str(&text).map_err(io::Error::other)).transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_one_and_it_is_found_as_long_as_it_lives() {
        let data = tempfile::tempdir().unwrap();
        let run = folder(data.path());
        assert_eq!(find(&run).unwrap(), None);
        let lock = Lock::take(&run).unwrap();
        assert!(matches!(Lock::take(&run), Err(NotTheOne::Another(None))), "it does not listen yet");
        let found = Found { pid: 7, version: "1".to_owned(), url: "http://127.0.0.1:1".to_owned() };
        assert!(is_taken(&run).unwrap());
        lock.tell(&found).unwrap();
        assert_eq!(find(&run).unwrap(), Some(found.clone()));
        assert!(matches!(Lock::take(&run), Err(NotTheOne::Another(Some(other))) if other == found));
        drop(lock);
        assert_eq!(find(&run).unwrap(), None);
        drop(Lock::take(&run).unwrap());
    }

    #[test]
    fn where_a_killed_server_was_is_told_to_nobody() {
        let data = tempfile::tempdir().unwrap();
        let run = folder(data.path());
        make_private(&run).unwrap();
        let old = Found { pid: 7, version: "1".to_owned(), url: "http://127.0.0.1:1".to_owned() };
        write_private(&run.join("server.json"), &serde_json::to_vec(&old).unwrap()).unwrap();
        let _lock = Lock::take(&run).unwrap();
        assert_eq!(find(&run).unwrap(), None, "the new one does not listen yet");
    }
}
