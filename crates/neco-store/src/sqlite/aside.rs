//! Sets a damaged database aside and begins a new one with what can still be read of it.
//!
//! A damaged file is renamed, never written and never removed. That is done only when SQLite itself says that
//! it is damaged, and only while nobody has it open: everybody who has holds a lock. Damage that shows while
//! the store is open leaves a mark beside it, and whoever opens it next looks closely.

use std::ffi::OsString;
use std::fmt;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use sqlx::{Connection, SqliteConnection};

use super::salvage::{self, Salvaged};
use super::{failure, open, sizes};
use crate::error::StoreError;
use crate::private;

/// How often, and how far apart, it is tried until others are believed to work with a database.
const ALONE_ATTEMPTS: u32 = 10;
const ALONE_PAUSE: Duration = Duration::from_millis(20);
/// And how often that is believed and then not found to be so.
const MOST_ROUNDS: u32 = 5;

/// A database that was damaged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetAside {
    /// Where it is now.
    pub path: PathBuf,
    /// What SQLite says about it.
    pub reason: String,
    /// Sessions that were taken over whole.
    pub whole: u64,
    /// Sessions that were taken over up to where they are damaged.
    pub cut: u64,
    /// Sessions of which nothing could be read.
    pub lost: u64,
}

impl fmt::Display for SetAside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, reason, whole, cut, lost } = self;
        write!(
            f,
            "the session store was damaged ({reason}). It is kept as {}, and a new one was begun: {whole} sessions \
             were taken over",
            path.display()
        )?;
        if *cut > 0 {
            write!(f, ", {cut} more up to where they are damaged")?;
        }
        if *lost > 0 {
            write!(f, ", {lost} could not be read")?;
        }
        f.write_str(".")
    }
}

/// A database that is open.
pub(super) struct Opened {
    pub(super) connection: SqliteConnection,
    /// Held as long as it is: a database that somebody has open is not set aside.
    pub(super) presence: File,
    pub(super) set_aside: Option<SetAside>,
}

/// Opens the database; a damaged one is set aside first, unless somebody has it open.
pub(super) async fn open_or_begin_anew(path: &Path) -> Result<Opened, StoreError> {
    let failed = |error: io::Error| StoreError::Write(failure::with_path(path, &error));
    let mut set_aside = None;
    let mut is_doubted = mark_of(path).exists();
    let mut rounds = 0;
    loop {
        if is_doubted && let Some(_alone) = alone(path).await.map_err(failed)? {
            // Whoever waits meanwhile finds the new one, or one that is sound.
            set_aside = look_closely(path).await?;
        }
        let presence = locked(path, Lock::Shared).await.map_err(failed)?;
        match (open::open(path).await, presence) {
            // Where somebody else works with one that is marked it is looked at when nobody does.
            (Ok(connection), Some(presence)) => return Ok(Opened { connection, presence, set_aside }),
            (Err(error @ StoreError::Damaged { .. }), _) if rounds == MOST_ROUNDS => return Err(error),
            (Err(StoreError::Damaged { .. }), _) | (Ok(_), None) => is_doubted = true,
            (Err(error), _) => return Err(error),
        }
        rounds += 1;
    }
}

/// The lock that nobody else has; `None` when somebody has the database open. Others who have found the same
/// damage at the same time have not.
async fn alone(path: &Path) -> io::Result<Option<File>> {
    for _ in 0..ALONE_ATTEMPTS {
        if let Some(alone) = locked(path, Lock::Alone).await? {
            return Ok(Some(alone));
        }
        tokio::time::sleep(ALONE_PAUSE).await;
    }
    Ok(None)
}

/// Leaves a mark: whoever opens the database next looks whether it is damaged.
pub(super) async fn mark(path: &Path) {
    let mark = mark_of(path);
    let marked = tokio::task::spawn_blocking(move || {
        private::file_options().create(true).truncate(true).write(true).open(mark).map(drop)
    });
    if let Ok(Err(error)) = marked.await {
        tracing::warn!(%error, "the damaged session store is not marked");
    }
}

/// Sets the database aside if it is damaged, and begins a new one.
async fn look_closely(path: &Path) -> Result<Option<SetAside>, StoreError> {
    let Some(reason) = damage_in(path).await else {
        // Nothing is wrong, or somebody else was faster.
        remove(mark_of(path)).await;
        return Ok(None);
    };
    let aside = rename(path).await.map_err(|error| StoreError::Write(failure::with_path(path, &error)))?;
    let mut connection = open::open(path).await?;
    let Salvaged { whole, cut, lost } = salvage::salvage(&aside, &mut connection).await;
    let _ = connection.close().await;
    remove(mark_of(path)).await;
    Ok(Some(SetAside { path: aside, reason, whole, cut, lost }))
}

/// What SQLite finds wrong with the whole file, which is only read. A failure of another kind says nothing
/// about the file.
async fn damage_in(path: &Path) -> Option<String> {
    let checked = async {
        let mut connection = open::connect_reader(path).await?;
        let answers: Vec<String> = sqlx::query_scalar("PRAGMA quick_check(1)").fetch_all(&mut connection).await?;
        connection.close().await?;
        Ok::<_, sqlx::Error>(answers.into_iter().find(|answer| answer != "ok"))
    };
    match checked.await {
        Ok(damage) => damage,
        Err(error) => failure::is_damage(&error).then(|| failure::plain(&error)),
    }
}

/// Renames the database and what lies beside it. The database goes last: as long as it has its name, nobody
/// takes what lies beside it for that of a new one.
async fn rename(path: &Path) -> io::Result<PathBuf> {
    let path = path.to_owned();
    let renamed = tokio::task::spawn_blocking(move || {
        let aside = free_name(&path);
        for (from, to) in sizes::files_of(&path).iter().zip(sizes::files_of(&aside)).rev() {
            match std::fs::rename(from, to) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        if let Some(folder) = path.parent() {
            private::sync_dir(folder)?;
        }
        Ok(aside)
    });
    renamed.await.map_err(io::Error::other).flatten()
}

/// Such as `neco-damaged-20260131-120000.db`.
fn free_name(path: &Path) -> PathBuf {
    let date = Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string();
    let named = |ending: &str| {
        let mut name = path.file_stem().map(OsString::from).unwrap_or_default();
        name.push(format!("-damaged-{date}{ending}.db"));
        path.with_file_name(name)
    };
    let endings = std::iter::once(String::new()).chain((2..).map(|number| format!("-{number}")));
    endings.map(|ending| named(&ending)).find(|name| !name.exists()).unwrap_or_else(|| named("-last"))
}

async fn remove(file: PathBuf) {
    let removed = tokio::task::spawn_blocking(move || std::fs::remove_file(file));
    // One that stays makes the next opening look again, no more.
    let _ = removed.await;
}

fn mark_of(path: &Path) -> PathBuf {
    beside(path, "-damaged")
}

fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(ending);
    PathBuf::from(name)
}

/// How a database is held.
#[derive(Clone, Copy)]
enum Lock {
    /// Together with everybody else who has it open.
    Shared,
    /// By nobody else.
    Alone,
}

/// Holds it; `None` when somebody else does and it can't be shared.
async fn locked(path: &Path, lock: Lock) -> io::Result<Option<File>> {
    let (name, folder) = (beside(path, "-lock"), path.parent().map(Path::to_owned));
    let locked = tokio::task::spawn_blocking(move || {
        if let Some(folder) = folder.filter(|folder| !folder.as_os_str().is_empty()) {
            private::create_dir_durably(&folder)?;
        }
        let file = private::file_options().create(true).truncate(false).write(true).open(name)?;
        let outcome = match lock {
            Lock::Shared => file.lock_shared().map_err(TryLockError::Error),
            Lock::Alone => file.try_lock(),
        };
        match outcome {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    });
    locked.await.map_err(io::Error::other).flatten()
}
