//! What can wait after a state was kept: having it on the disk for good, and in the log of operations.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use gix::ObjectId;

use super::cache::replace;
use super::error::CheckpointError;
use super::lock::StoreLock;
use super::operations::Operations;
use super::point::StoredPoint;
use crate::small_file::read_ours;

/// Most files that are forced to the disk one by one while somebody waits for it: whatever else is being written to the
/// disk does not count then.
pub const MOST_FORCED: usize = 4000;

/// The same where nobody waits: each of them, and each folder, is a wait for the disk of its own, and all of the disk
/// is one. Only Linux can be asked for all of it.
pub const FEW_FORCED: usize = if cfg!(target_os = "linux") { 16 } else { MOST_FORCED };

/// What is to be done, without keeping others from the store.
pub struct Settling {
    /// The folder of the store.
    pub folder: PathBuf,
    /// The mark as it was when this was gathered.
    pub mark: Option<String>,
    /// What may not be on the disk.
    pub unforced: Unforced,
    /// All points, newest first.
    pub points: Vec<StoredPoint>,
    /// The branches of sessions.
    pub branches: Vec<(String, ObjectId)>,
    /// The log.
    pub operations: Arc<Mutex<Operations>>,
}

impl Settling {
    /// Does it, file by file where there are no more than `most`.
    /// Fails when the store can't be written; what is left is done the next time.
    pub fn run(self, most: usize) -> Result<(), CheckpointError> {
        self.unforced.force(&self.folder, most)?;
        self.operations.lock().unwrap_or_else(PoisonError::into_inner).add(&self.points, &self.branches)?;
        let _lock = StoreLock::acquire(&self.folder)?;
        if let Some(newest) = self.points.first() {
            Settled::set(&self.folder, newest.id)?;
        }
        // Whoever wrote something meanwhile has set another mark.
        match self.mark.filter(|mark| Mark::read(&self.folder).as_ref() == Some(mark)) {
            Some(_) => Mark::clear(&self.folder),
            None => Ok(()),
        }
    }
}

/// What may not be on the disk.
#[derive(Clone, Debug)]
pub enum Unforced {
    /// These files, and that they are in their folders; the last one leads to the others.
    Files(Vec<PathBuf>),
    /// Nobody knows: a process that is gone may have left something.
    Anything,
}

impl Unforced {
    /// Has it on the disk, file by file where there are no more than `most`.
    pub fn force(&self, store: &Path, most: usize) -> Result<(), CheckpointError> {
        let files = match self {
            Self::Files(files) => files,
            Self::Anything => return force_all(store),
        };
        let Some((leads, objects)) = files.split_last() else { return Ok(()) };
        // Each is there before what says or needs that it is: the mark before what it is about, objects before
        // the name of the newest point.
        force_files(&[store.join(Mark::FILE)], &[])?;
        if files.len() > most {
            return force_all(store);
        }
        let git = store.join("git");
        force_files(objects, &[&git, store])?;
        force_files(std::slice::from_ref(leads), &[&git, store])
    }
}

/// Has files on the disk, that they are in their folders, and what is in the folders `above` those.
pub fn force_files(files: &[PathBuf], above: &[&Path]) -> Result<(), CheckpointError> {
    let folders: BTreeSet<&Path> = files.iter().flat_map(|file| file.ancestors().skip(1).take(2)).collect();
    // What is in a folder first, then the folder.
    let folders = folders.into_iter().rev().chain(above.iter().copied());
    for path in files.iter().map(PathBuf::as_path).chain(folders) {
        let file = match File::open(path) {
            // Pruned meanwhile.
            Err(error) if error.kind() == ErrorKind::NotFound => continue,
            opened => opened,
        };
        file.and_then(|file| file.sync_all()).map_err(|error| CheckpointError::at(path, error))?;
    }
    Ok(())
}

/// Puts a file in the place of another; it is on the disk when this is done, and a power cut leaves one of the two.
pub fn replace_for_good(path: &Path, bytes: &[u8]) -> Result<(), CheckpointError> {
    let folder = path.parent().unwrap_or(path);
    let failed = |error| CheckpointError::at(path, error);
    let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
    file.write_all(bytes).map_err(failed)?;
    file.as_file().sync_all().map_err(failed)?;
    file.persist(path).map_err(|error| failed(error.error))?;
    force_files(&[], &[folder])
}

/// The name of the newest point that is on the disk for good, with all that it needs: where a power cut takes what came
/// after it, this is what there is.
pub struct Settled;

impl Settled {
    const FILE: &'static str = "settled";

    /// Says that a point is on the disk.
    pub fn set(store: &Path, point: ObjectId) -> Result<(), CheckpointError> {
        match Self::read(store) == Some(point) {
            true => Ok(()),
            false => replace_for_good(&store.join(Self::FILE), format!("{point}\n").as_bytes()),
        }
    }

    /// The point.
    pub fn read(store: &Path) -> Option<ObjectId> {
        ObjectId::from_hex(read_ours(&store.join(Self::FILE)).ok()?.trim_ascii()).ok()
    }

    /// There is none any more.
    pub fn forget(store: &Path) {
        let _ = fs::remove_file(store.join(Self::FILE));
    }
}

/// Has everything on the disk of a folder that any program wrote to it.
pub fn force_all(folder: &Path) -> Result<(), CheckpointError> {
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
    pub const FILE: &'static str = "unsettled";

    /// Sets it, and says what it says. Written before the objects, so it is not lost where they are not.
    pub fn set(store: &Path) -> Result<String, CheckpointError> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let mark = format!("{}\n{} {now}\n", machine_start(), std::process::id());
        replace(&store.join(Self::FILE), mark.as_bytes())?;
        Ok(mark)
    }

    /// What it says now.
    pub fn read(store: &Path) -> Option<String> {
        String::from_utf8(read_ours(&store.join(Self::FILE)).ok()?).ok()
    }

    /// Whether it was set when the machine went down.
    pub fn went_down(store: &Path) -> bool {
        Self::read(store).is_some_and(|mark| mark.lines().next() != Some(machine_start()))
    }

    /// Removes it.
    pub fn clear(store: &Path) -> Result<(), CheckpointError> {
        let file = store.join(Self::FILE);
        fs::remove_file(&file).map_err(|error| CheckpointError::at(&file, error))
    }
}

/// Tells one start of the machine from another; nothing where the system does not say.
fn machine_start() -> &'static str {
    static START: OnceLock<String> = OnceLock::new();
    let read = || fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_owned();
    START.get_or_init(read)
}
