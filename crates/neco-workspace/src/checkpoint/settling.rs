//! What can wait after a state was kept: having it on the disk for good, and in the log of operations.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use super::cache::replace;
use super::error::CheckpointError;
use super::lock::StoreLock;
use super::operations::Operations;
use super::point::StoredPoint;

/// Most files that are forced to the disk one by one.
const MOST_FORCED: usize = 4000;

/// What is to be done, without keeping others from the store.
pub struct Settling {
    /// The folder of the store.
    pub folder: PathBuf,
    /// The mark as it was when this was gathered.
    pub mark: Option<String>,
    /// What may not be on the disk.
    pub files: Vec<PathBuf>,
    /// All points, newest first.
    pub points: Vec<StoredPoint>,
    /// The log.
    pub operations: Arc<Mutex<Operations>>,
}

impl Settling {
    /// Does it.
    ///
    /// # Errors
    /// When the store can't be written; what is left is done the next time.
    pub fn run(self) -> Result<(), CheckpointError> {
        self.force()?;
        self.operations.lock().unwrap_or_else(PoisonError::into_inner).add(&self.points)?;
        let _lock = StoreLock::acquire(&self.folder)?;
        // Whoever wrote something meanwhile has set another mark.
        match self.mark.filter(|mark| Mark::read(&self.folder).as_ref() == Some(mark)) {
            Some(_) => Mark::clear(&self.folder),
            None => Ok(()),
        }
    }

    fn force(&self) -> Result<(), CheckpointError> {
        if self.files.len() > MOST_FORCED {
            return force_all(&self.folder);
        }
        for path in &self.files {
            let file = match File::open(path) {
                // Pruned meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                opened => opened,
            };
            file.and_then(|file| file.sync_data()).map_err(|error| CheckpointError::at(path, error))?;
        }
        Ok(())
    }
}

/// Everything that any program wrote to the disk of a folder.
fn force_all(folder: &Path) -> Result<(), CheckpointError> {
    let handle = File::open(folder).map_err(|error| CheckpointError::at(folder, error))?;
    #[cfg(target_os = "linux")]
    return rustix::fs::syncfs(&handle).map_err(|error| CheckpointError::at(folder, error));
    #[cfg(not(target_os = "linux"))]
    return handle.sync_all().map_err(|error| CheckpointError::at(folder, error));
}

/// The mark that objects were written which may not be on the disk. It says which start of the machine that
/// was in: after another one they may be missing or empty.
pub struct Mark;

impl Mark {
    /// Its file.
    pub const FILE: &'static str = "unsettled";

    /// Sets it. Written before the objects, so it is not lost where they are not.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn set(store: &Path) -> Result<(), CheckpointError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        replace(&store.join(Self::FILE), format!("{}\n{now}\n", machine_start()).as_bytes())
    }

    /// What it says now.
    #[must_use]
    pub fn read(store: &Path) -> Option<String> {
        fs::read_to_string(store.join(Self::FILE)).ok()
    }

    /// Whether it was set when the machine went down.
    #[must_use]
    pub fn went_down(store: &Path) -> bool {
        Self::read(store).is_some_and(|mark| mark.lines().next() != Some(machine_start().as_str()))
    }

    /// Removes it.
    ///
    /// # Errors
    /// When that can't be done.
    pub fn clear(store: &Path) -> Result<(), CheckpointError> {
        let file = store.join(Self::FILE);
        fs::remove_file(&file).map_err(|error| CheckpointError::at(&file, error))
    }
}

/// Tells one start of the machine from another; nothing where the system does not say.
fn machine_start() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned()
}
