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
use super::follow::Following;
use super::manifest::Manifest;
use super::notices::Notices;
use super::scan::{Changes, Incurious, Seen, compare, compare_these, look_at, scan};
use super::snapshot::Snapshot;
use super::tidy::{sweep, tidy};
use crate::bytes::{Damaged, fingerprint};
use crate::rules::Rules;

/// How long to wait before looking again whether another process is done.
const PAUSE: Duration = Duration::from_millis(30);
/// The same for another call of this process.
const SHORT_PAUSE: Duration = Duration::from_millis(3);

/// The index of a folder.
#[derive(Debug)]
pub struct Index {
    folder: PathBuf,
    root: Located,
    current: Mutex<Option<Arc<Snapshot>>>,
    follows: bool,
    following: Mutex<Option<Following>>,
    /// Held by the one call of this process that looks and writes; nobody has to hear of waiting for that.
    turn: Mutex<()>,
}

/// The right of this process to write; given up when it is dropped, also by a process that is killed.
struct Lock {
    _file: File,
}

/// An index that was brought up to date.
struct Brought {
    snapshot: Arc<Snapshot>,
    /// Whether it is made of what was looked at, and not of what another process committed meanwhile.
    is_ours: bool,
}

impl Index {
    /// The index of `root`, which is a folder, kept below `indexes`; nothing is opened or made yet.
    pub fn new(indexes: &Path, root: Located) -> Self {
        Self {
            folder: indexes.join(folder_name(root.path())),
            root,
            current: Mutex::default(),
            follows: false,
            following: Mutex::default(),
            turn: Mutex::new(()),
        }
    }

    /// The same, for whoever asks often: after the first question the kernel notes which files change, where it can,
    /// so that not all of them are looked at again before every answer.
    #[must_use]
    pub fn followed(self) -> Self {
        Self { follows: true, ..self }
    }

    /// Whether anything was indexed yet.
    pub fn exists(&self) -> bool {
        self.load().is_ok_and(|snapshot| snapshot.generation() > 0)
    }

    /// Brings the index up to date and asks it. What is damaged is built anew, once.
    /// Fails when the index can't be kept where it should be, or the call is cancelled.
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

    /// Brings the index up to date.
    /// Fails as [`Index::ask`], or when it is damaged.
    pub fn refresh(&self, watch: &dyn Watch) -> Result<Arc<Snapshot>, IndexError> {
        if let Some(current) = self.unchanged()? {
            return Ok(current);
        }
        let _turn = self.turn(watch)?;
        // Whoever had the turn before may have done the same work.
        match self.unchanged()? {
            Some(current) => Ok(current),
            None => match self.follow(watch)? {
                Some(followed) => Ok(followed),
                None => self.look(watch),
            },
        }
    }

    /// What is committed, if it is known that no file changed since.
    fn unchanged(&self) -> Result<Option<Arc<Snapshot>>, IndexError> {
        if !self.follows {
            return Ok(None);
        }
        let current = self.load()?;
        let suspects = self.following().as_mut().and_then(|known| known.suspects(&self.root, current.generation()));
        Ok(suspects.filter(|suspects| suspects.paths.is_empty()).map(|_| current))
    }

    /// Looks at the files that may have changed, if it is known which.
    fn follow(&self, watch: &dyn Watch) -> Result<Option<Arc<Snapshot>>, IndexError> {
        let current = self.load()?;
        let suspects = self.following().as_mut().and_then(|known| known.suspects(&self.root, current.generation()));
        let Some(suspects) = suspects else { return Ok(None) };
        let files: Vec<_> = suspects.paths.iter().map(|path| look_at(&self.root, path.clone())).collect();
        if let Some(known) = self.following().as_mut() {
            known.met(files.iter().flatten());
        }
        let changes = compare_these(&current.manifest, files.into_iter());
        let Brought { snapshot, is_ours } = self.bring(current, &changes, watch)?;
        let mut following = self.following();
        match following.as_mut().filter(|_| is_ours) {
            Some(known) => known.committed(&suspects, unread(&snapshot, &changes), snapshot.generation()),
            None => *following = None,
        }
        Ok(Some(snapshot))
    }

    /// Looks at all files.
    fn look(&self, watch: &dyn Watch) -> Result<Arc<Snapshot>, IndexError> {
        *self.following() = None;
        let rules = Arc::new(Rules::noted(self.root.path(), self.root.path()));
        let notices = if self.follows { Notices::begin(self.root.path()) } else { None };
        let seen = match &notices {
            Some(notices) => scan(&self.root, &rules, notices, watch)?,
            None => scan(&self.root, &rules, &Incurious, watch)?,
        };
        let mut following = notices.and_then(|notices| Following::begin(&self.root, notices, rules, &seen));
        let current = self.load()?;
        let changes = compare(&current.manifest, seen);
        let Brought { snapshot, is_ours } = self.bring(current, &changes, watch)?;
        if let Some(known) = following.as_mut().filter(|_| is_ours) {
            known.begun(unread(&snapshot, &changes), snapshot.generation());
            *self.following() = following;
        }
        Ok(snapshot)
    }

    fn following(&self) -> MutexGuard<'_, Option<Following>> {
        self.following.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn bring(&self, current: Arc<Snapshot>, changes: &Changes, watch: &dyn Watch) -> Result<Brought, IndexError> {
        if changes.is_empty() {
            return Ok(Brought { snapshot: current, is_ours: true });
        }
        let lock = self.lock(watch)?;
        // Whoever had the lock may have done the same work.
        let before = current;
        let current = self.load()?;
        let is_ours = before.generation() == current.generation();
        let built = self.build(&current, &again(&before, &current, changes), watch)?;
        // While the lock is held nobody can sweep away what it names.
        let fresh = Arc::new(Snapshot::open(&self.folder, self.root.clone(), built, Some(&current))?);
        drop(lock);
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&fresh));
        if watch.is_cancelled() { Err(IndexError::Cancelled) } else { Ok(Brought { snapshot: fresh, is_ours }) }
    }

    fn build(&self, current: &Snapshot, changes: &Changes, watch: &dyn Watch) -> Result<Manifest, IndexError> {
        let mut manifest = current.manifest.clone();
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
        let _turn = self.turn(watch)?;
        let lock = self.lock(watch)?;
        let damaged = self.current.lock().unwrap_or_else(PoisonError::into_inner).take();
        let is_same = damaged.is_some_and(|damaged| damaged.manifest.is_current(&self.folder));
        if !is_same && self.load().is_ok() {
            return Ok(());
        }
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = None;
        Manifest::remove(&self.folder)?;
        sweep(&self.folder, &Manifest::default());
        drop(lock);
        Ok(())
    }

    fn load(&self) -> Result<Arc<Snapshot>, IndexError> {
        let known = self.current.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(known) = known.as_ref().filter(|known| known.manifest.is_current(&self.folder)) {
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

    /// Waits for other processes; whoever calls this has the turn in this one.
    fn lock(&self, watch: &dyn Watch) -> Result<Lock, IndexError> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.folder)?;
        let file = File::options().create(true).truncate(false).write(true).open(self.folder.join("lock"))?;
        let mut told = false;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Lock { _file: file }),
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

    fn turn(&self, watch: &dyn Watch) -> Result<MutexGuard<'_, ()>, IndexError> {
        loop {
            match self.turn.try_lock() {
                Ok(guard) => return Ok(guard),
                Err(Held::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
                Err(Held::WouldBlock) if watch.is_cancelled() => return Err(IndexError::Cancelled),
                Err(Held::WouldBlock) => std::thread::sleep(SHORT_PAUSE),
            }
        }
    }
}

/// Those that changed and could not be read for a reason that may pass.
fn unread(snapshot: &Snapshot, changes: &Changes) -> Vec<PathBuf> {
    let is_unread = |path: &PathBuf| {
        let entry = snapshot.manifest.file(path);
        entry.is_some_and(|entry| !entry.settled && entry.place.is_none() && entry.fingerprint == 0)
    };
    changes.read.iter().map(|seen| seen.path.clone()).filter(is_unread).collect()
}

/// What is still to be done of what was to be done `before` another process may have done it.
fn again(before: &Snapshot, current: &Snapshot, changes: &Changes) -> Changes {
    let still = |seen: &&Seen| {
        let known = current.manifest.file(&seen.path);
        !known.is_some_and(|known| known.settled && known.stamp == seen.stamp)
    };
    // One that is known otherwise now came back after we looked, and was indexed by somebody else.
    let still_gone = |path: &&PathBuf| {
        let stamp = |of: &Snapshot| of.manifest.file(path).map(|known| known.stamp);
        stamp(current).is_some() && stamp(current) == stamp(before)
    };
    let Changes { read, gone } = changes;
    Changes {
        read: read.iter().filter(still).cloned().collect(),
        gone: gone.iter().filter(still_gone).cloned().collect(),
    }
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

/// Who waits for the index.
pub trait Watch: Sync {
    /// Whether it is to stop.
    fn is_cancelled(&self) -> bool;

    /// How many of the files that changed are indexed.
    fn progress(&self, done: usize, total: usize);

    /// Another process is indexing the same folder; it is waited for.
    fn waiting(&self);
}

/// Someone who waits for ever and wants to know nothing.
#[derive(Clone, Copy, Debug)]
pub struct Patient;

impl Watch for Patient {
    fn is_cancelled(&self) -> bool {
        false
    }

    fn progress(&self, _: usize, _: usize) {}

    fn waiting(&self) {}
}

/// Why the index could not answer.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// Its files are damaged; the next look at the workspace builds them anew.
    #[error("the index is damaged")]
    Damaged,
    /// Its files can't be read or written.
    #[error("the index can't be used: {0}")]
    Io(#[from] io::Error),
    /// The call was cancelled; what was indexed by then is kept.
    #[error("cancelled")]
    Cancelled,
}

impl From<Damaged> for IndexError {
    fn from(_: Damaged) -> Self {
        Self::Damaged
    }
}
