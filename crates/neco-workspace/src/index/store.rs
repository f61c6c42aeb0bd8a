//! The index of a folder: its files on disk, shared by every process that works in the folder.
//!
//! Readers take no lock: a manifest names files that are never changed, and they open all of them
//! before they answer. Writers take turns. Nothing is flushed to the disk: after a power cut what is
//! not as it was written is seen and built anew.

use std::fs::{self, DirBuilder, File, TryLockError};
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError as Held};
use std::time::Duration;

use neco_safety::Located;

use super::build::build;
use super::bytes::fingerprint;
use super::error::IndexError;
use super::manifest::Manifest;
use super::scan::{Changes, compare, scan};
use super::snapshot::Snapshot;
use super::tidy::{sweep, tidy};
use super::watch::Watch;

/// How long to wait before looking again whether another process is done.
const PAUSE: Duration = Duration::from_millis(30);

/// The index of a folder.
#[derive(Debug)]
pub struct Index {
    folder: PathBuf,
    root: Located,
    current: Mutex<Option<Arc<Snapshot>>>,
    /// Held by the one call of this process that writes; nobody has to hear of waiting for that.
    writing: Mutex<()>,
}

/// The right to write; given up when it is dropped, also by a process that is killed.
struct Lock<'a> {
    _file: File,
    _writing: MutexGuard<'a, ()>,
}

impl Index {
    /// The index of `root`, which is a folder, kept below `indexes`; nothing is opened or made yet.
    #[must_use]
    pub fn new(indexes: &Path, root: Located) -> Self {
        Self {
            folder: indexes.join(folder_name(root.path())),
            root,
            current: Mutex::default(),
            writing: Mutex::new(()),
        }
    }

    /// Brings the index up to date and asks it. What is damaged is built anew, once.
    ///
    /// # Errors
    /// When the index can't be kept where it should be, or the call is cancelled.
    pub fn ask<T>(
        &self,
        watch: &dyn Watch,
        question: impl Fn(&Snapshot) -> Result<T, IndexError>,
    ) -> Result<T, IndexError> {
        match self.refresh(watch).and_then(|snapshot| question(&snapshot)) {
            Err(IndexError::Damaged) => {
                self.reset(watch)?;
                question(&*self.refresh(watch)?)
            }
            answer => answer,
        }
    }

    /// Whether there is an index already, be it out of date.
    #[must_use]
    pub fn exists(&self) -> bool {
        Manifest::load(&self.folder).is_ok_and(|manifest| manifest.is_some())
    }

    /// Brings the index up to date.
    ///
    /// # Errors
    /// As [`Index::ask`], or when it is damaged.
    pub fn refresh(&self, watch: &dyn Watch) -> Result<Arc<Snapshot>, IndexError> {
        let seen = scan(&self.root, watch)?;
        let current = self.load()?;
        let changes = compare(current.manifest(), seen);
        if changes.is_empty() {
            return Ok(current);
        }
        let lock = self.lock(watch)?;
        // Whoever had the lock may have done the same work.
        let before = current;
        let current = self.load()?;
        let changes = again(&before, &current, changes);
        let built = self.build(&current, &changes, watch)?;
        // While the lock is held nobody can sweep away what it names.
        let fresh = Arc::new(Snapshot::open(&self.folder, self.root.clone(), built, Some(&current))?);
        drop(lock);
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&fresh));
        if watch.is_cancelled() { Err(IndexError::Cancelled) } else { Ok(fresh) }
    }

    fn build(&self, current: &Snapshot, changes: &Changes, watch: &dyn Watch) -> Result<Manifest, IndexError> {
        let mut manifest = current.manifest().clone();
        if manifest.generation == 0 {
            manifest = Manifest::begun(self.root.path());
            // A folder that is worked in for the first time makes room; what can't be removed stays.
            let _ = self.folder.parent().map(remove_abandoned);
        }
        let mut manifest = build(&self.root, &self.folder, manifest, changes, watch)?;
        tidy(&self.folder, &mut manifest)?;
        manifest.generation += 1;
        manifest.save(&self.folder)?;
        sweep(&self.folder, &manifest);
        Ok(manifest)
    }

    /// Throws the index away, unless somebody else has built it anew since it was found damaged.
    fn reset(&self, watch: &dyn Watch) -> Result<(), IndexError> {
        let lock = self.lock(watch)?;
        let damaged = self.current.lock().unwrap_or_else(PoisonError::into_inner).take();
        let is_same = damaged.is_some_and(|damaged| damaged.manifest().is_current(&self.folder));
        if !is_same && self.load().is_ok() {
            return Ok(());
        }
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Manifest::remove(&self.folder)?;
        sweep(&self.folder, &Manifest::default());
        drop(lock);
        Ok(())
    }

    /// What is committed now.
    fn load(&self) -> Result<Arc<Snapshot>, IndexError> {
        let known = self.current.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(known) = known.as_ref().filter(|known| known.manifest().is_current(&self.folder)) {
            return Ok(Arc::clone(known));
        }
        let mut tries = 0;
        let fresh = loop {
            let manifest = Manifest::load(&self.folder)?.unwrap_or_default();
            if manifest.generation > 0 && manifest.root != self.root.path() {
                return Err(IndexError::Damaged);
            }
            tries += 1;
            match Snapshot::open(&self.folder, self.root.clone(), manifest, known.as_deref()) {
                Ok(snapshot) => break Arc::new(snapshot),
                // Another process merged it away between the two; its new manifest is there.
                Err(IndexError::Io(error)) if error.kind() == io::ErrorKind::NotFound && tries < 5 => {}
                Err(IndexError::Io(error)) if error.kind() == io::ErrorKind::NotFound => {
                    return Err(IndexError::Damaged);
                }
                Err(error) => return Err(error),
            }
        };
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&fresh));
        Ok(fresh)
    }

    fn lock(&self, watch: &dyn Watch) -> Result<Lock<'_>, IndexError> {
        let writing = self.writing(watch)?;
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let file = File::options().create(true).truncate(false).write(true).open(self.folder.join("lock"))?;
        let mut told = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Lock { _file: file, _writing: writing }),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(error.into()),
            }
            if watch.is_cancelled() {
                return Err(IndexError::Cancelled);
            }
            if !std::mem::replace(&mut told, true) {
                watch.waiting();
            }
            std::thread::sleep(PAUSE);
        }
    }

    fn writing(&self, watch: &dyn Watch) -> Result<MutexGuard<'_, ()>, IndexError> {
        loop {
            match self.writing.try_lock() {
                Ok(guard) => return Ok(guard),
                Err(Held::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
                Err(Held::WouldBlock) if watch.is_cancelled() => return Err(IndexError::Cancelled),
                Err(Held::WouldBlock) => std::thread::sleep(PAUSE),
            }
        }
    }
}

/// What is still to be done of what was to be done `before` another process may have done it.
fn again(before: &Snapshot, current: &Snapshot, changes: Changes) -> Changes {
    let Changes { read, gone } = changes;
    let still = |seen: &super::scan::Seen| {
        let known = current.manifest().file(&seen.path);
        !known.is_some_and(|known| known.settled && known.stamp == seen.stamp)
    };
    // One that is known otherwise now came back after we looked, and was indexed by somebody else.
    let still_gone = |path: &PathBuf| {
        let stamp = |of: &Snapshot| of.manifest().file(path).map(|known| known.stamp);
        stamp(current).is_some() && stamp(current) == stamp(before)
    };
    Changes { read: read.into_iter().filter(still).collect(), gone: gone.into_iter().filter(still_gone).collect() }
}

/// Readable for people, and different for every folder.
fn folder_name(root: &Path) -> String {
    let name = root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let plain: String =
        name.chars().filter(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_')).take(40).collect();
    let bytes = std::os::unix::ffi::OsStrExt::as_bytes(root.as_os_str());
    format!("{plain}-{:016x}", fingerprint(bytes))
}

/// Removes the indexes of folders that are no longer there.
///
/// # Errors
/// When the folder of all indexes can't be read.
pub fn remove_abandoned(indexes: &Path) -> io::Result<()> {
    for entry in fs::read_dir(indexes)? {
        let folder = entry?.path();
        if let Ok(Some(manifest)) = Manifest::load(&folder)
            && !manifest.root.exists()
        {
            fs::remove_dir_all(&folder)?;
        }
    }
    Ok(())
}
