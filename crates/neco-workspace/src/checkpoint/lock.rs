//! One process at a time writes to a store.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::ErrorKind;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::error::CheckpointError;
use super::settling::force_files;

/// How long another process is waited for; its first look at a large workspace takes a while.
const PATIENCE: Duration = Duration::from_secs(30);

const PAUSE: Duration = Duration::from_millis(5);

/// Held as long as it lives; the system lets go of it when the process dies.
#[derive(Debug)]
pub struct StoreLock {
    _file: File,
}

impl StoreLock {
    /// Waits for its turn.
    pub fn acquire(store: &Path) -> Result<Self, CheckpointError> {
        Self::of_file(store, "lock")
    }

    /// The same for the log of operations alone, which others need not wait for. Whoever holds both took the
    /// store's first.
    pub fn of_log(store: &Path) -> Result<Self, CheckpointError> {
        Self::of_file(store, "log-lock")
    }

    fn of_file(store: &Path, name: &str) -> Result<Self, CheckpointError> {
        let path = store.join(name);
        let failed = |error| CheckpointError::at(&path, error);
        let open = || OpenOptions::new().create(true).truncate(false).write(true).open(&path);
        let opened = match open() {
            // There is no store yet.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                make_private(store)?;
                open()
            }
            opened => opened,
        };
        let file = opened.map_err(failed)?;
        let until = Instant::now() + PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Self { _file: file }),
                Err(TryLockError::WouldBlock) if Instant::now() < until => sleep(PAUSE),
                Err(TryLockError::WouldBlock) => return Err(CheckpointError::Busy),
                Err(TryLockError::Error(error)) => return Err(failed(error)),
            }
        }
    }
}

/// Makes the folder of a store, for its owner alone: it holds whatever was in the workspace.
fn make_private(store: &Path) -> Result<(), CheckpointError> {
    use std::os::unix::fs::DirBuilderExt;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(store);
    made.map_err(|error| CheckpointError::at(store, error))?;
    // Whatever is on the disk inside it is lost where its own name is. What is above is not ours to care for.
    force_files(&[store.to_path_buf()], &[])
}
