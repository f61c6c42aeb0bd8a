//! Sets a damaged database aside and begins a new one with what can still be read of it.
//!
//! A damaged file is renamed, never written and never removed. That is done only when SQLite itself says that
//! it is damaged, and only while nobody has it open: everybody who has holds a lock. Damage that shows while
//! the store is open leaves a mark beside it, and whoever opens it next looks closely.

use std::ffi::OsString;
use std::fs::{File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{fmt, io};

use jiff::Timestamp;
use sqlx::{Connection, SqliteConnection};

use super::salvage::{self, Salvaged};
use super::{collect, contents, failure, open, reserve, sizes};
use crate::error::StoreError;
use crate::private;

/// How often, and how far apart, it is tried until others are believed to work with a database.
const ALONE_ATTEMPTS: u32 = 10;
const ALONE_PAUSE: Duration = Duration::from_millis(20);
/// And how often that is believed and then not found to be so.
const MOST_ROUNDS: u32 = 5;

/// Most sessions that are named.
const NAMED: usize = 10;

/// A database that was damaged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SetAside {
    /// Where it is now.
    pub path: PathBuf,
    /// What SQLite says about it.
    pub reason: String,
    /// Sessions that were taken over whole.
    pub whole: u64,
    /// Sessions that were taken over up to where they are damaged: the beginnings of their ids, and titles.
    pub cut: Vec<String>,
    /// Sessions of which nothing could be read.
    pub lost: Vec<String>,
}

impl fmt::Display for SetAside {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { path, reason, whole, cut, lost } = self;
        let sessions = if *whole == 1 { "1 session was".to_owned() } else { format!("{whole} sessions were") };
        write!(
            f,
            "The session store was damaged ({reason}). It was set aside as {}, and a new one was started: {sessions} saved",
            path.display()
        )?;
        if !cut.is_empty() {
            write!(f, ", {} more up to where they are damaged ({})", cut.len(), named(cut))?;
        }
        if !lost.is_empty() {
            write!(f, ", {} could not be read ({})", lost.len(), named(lost))?;
        }
        f.write_str(".")
    }
}

fn named(sessions: &[String]) -> String {
    let more = if sessions.len() > NAMED { ", …" } else { "" };
    let some: Vec<&str> = sessions.iter().take(NAMED).map(String::as_str).collect();
    format!("{}{more}", some.join(", "))
}

impl SetAside {
    /// As the mark has it, from when everything is taken over until it is told.
    fn to_mark(&self) -> String {
        let lines = |kind: char, sessions: &[String]| -> String {
            sessions.iter().map(|session| format!("{kind}{session}\n")).collect()
        };
        let (cut, lost) = (lines('c', &self.cut), lines('l', &self.lost));
        format!("{}\n{}\n{}\n{cut}{lost}.\n", self.path.display(), self.reason, self.whole)
    }

    /// `None` when the mark only says that something is wrong.
    fn of_mark(text: &str) -> Option<Self> {
        let mut lines = text.strip_suffix(".\n")?.lines();
        let (path, reason, whole) = (lines.next()?.into(), lines.next()?.to_owned(), lines.next()?.parse().ok()?);
        let sessions: Vec<&str> = lines.collect();
        let of = |kind: char| sessions.iter().filter_map(|line| Some(line.strip_prefix(kind)?.to_owned())).collect();
        Some(Self { path, reason, whole, cut: of('c'), lost: of('l') })
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
    let mut is_doubted = mark_of(path).exists() || is_emptied(path);
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
        // One that says more stays.
        private::file_options().create(true).truncate(false).write(true).open(mark).map(drop)
    });
    if let Ok(Err(error)) = marked.await {
        tracing::warn!(%error, "the damaged session store is not marked");
    }
}

/// Sets the database aside if it is damaged, and begins a new one with what can be read of it. The new one is
/// made whole beside it first; from when the mark says so, whoever comes next only has to move files, however
/// often that is cut short.
async fn look_closely(path: &Path) -> Result<Option<SetAside>, StoreError> {
    let failed = |error: io::Error| StoreError::Write(failure::with_path(path, &error));
    let begun = tokio::fs::read_to_string(mark_of(path)).await.ok().as_deref().and_then(SetAside::of_mark);
    let set_aside = match begun {
        Some(begun) => begun,
        None => {
            let Some(reason) = damage_in(path).await else {
                // Nothing is wrong, or somebody else was faster.
                remove(mark_of(path)).await;
                return Ok(None);
            };
            let taken_over = match take_over(path, reason.clone()).await {
                // What was kept for a full disk is enough for a small one.
                Err(StoreError::Write(_)) if reserve::give_up_aside(path).await => take_over(path, reason).await,
                other => other,
            };
            let taken_over = taken_over.map_err(|error| match error {
                StoreError::Write(reason) if failure::is_full(&reason) => {
                    let megabytes = (2 * sizes::bytes_of(path)).div_ceil(1_000_000);
                    StoreError::Write(format!(
                        "{reason}. The store is damaged; taking over what is in it needs {megabytes} MB of room"
                    ))
                }
                other => other,
            })?;
            let (mark, text) = (mark_of(path), taken_over.to_mark());
            aside(move || private::write_durably(&mark, text.as_bytes())).await.map_err(failed)?;
            taken_over
        }
    };
    let (from, to) = (path.to_owned(), set_aside.path.clone());
    aside(move || swap(&from, &to)).await.map_err(failed)?;
    remove(mark_of(path)).await;
    Ok(Some(set_aside))
}

/// A new database beside the damaged one, with what can be read of it.
async fn take_over(path: &Path, reason: String) -> Result<SetAside, StoreError> {
    let new = new_of(path);
    let (files, old) = (sizes::files_of(&new), path.to_owned());
    let name = aside(move || {
        // What a process left that was cut short here.
        files.iter().for_each(|file| drop(std::fs::remove_file(file)));
        Ok(free_name(&old))
    });
    let name = name.await.map_err(|error| StoreError::Write(failure::with_path(path, &error)))?;
    let found = beside(path, "-found");
    forget(&found).await;
    let taken_over = take_over_through(path, &found, &new).await;
    forget(&found).await;
    // Without room for that nothing is set aside: with room everything may come over.
    if taken_over.is_err() {
        forget(&new).await;
    }
    let Salvaged { whole, cut, lost } = taken_over?;
    let reason = reason.split_whitespace().collect::<Vec<_>>().join(" ");
    Ok(SetAside { path: name, reason, whole, cut, lost })
}

/// Collects what the pages of a damaged database hold in `found`, and takes it over from there.
async fn take_over_through(path: &Path, found: &Path, new: &Path) -> Result<Salvaged, StoreError> {
    let mut connection = open::open(new).await?;
    let mut all = open::open(found).await?;
    // It is read once and then removed: nothing of it needs to be written twice.
    for pragma in ["PRAGMA journal_mode = OFF", "PRAGMA synchronous = OFF"] {
        sql!(query.execute(&mut all), pragma).map_err(|error| failure::writing(found, &error))?;
    }
    collect::collect(path, &mut all, found).await?;
    all.close().await.map_err(|error| failure::writing(found, &error))?;
    let salvaged = salvage::salvage(found, &mut connection).await.map_err(|error| failure::writing(new, &error))?;
    // What waits in its write-ahead log goes with it into the file.
    connection.close().await.map_err(|error| failure::writing(new, &error))?;
    Ok(salvaged)
}

/// Moves the damaged database and what lies beside it away, and the new one into its place; what is moved
/// already stays where it is. The database goes after what lies beside it: as long as it has its name, nobody
/// takes that for what belongs to a new one.
fn swap(path: &Path, away: &Path) -> io::Result<()> {
    let new = new_of(path);
    if new.exists() {
        for (from, to) in sizes::files_of(path).iter().zip(sizes::files_of(away)).rev() {
            match std::fs::rename(from, to) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        let folder = path.parent().unwrap_or(path);
        private::sync_dir(folder)?;
        std::fs::rename(&new, path)?;
        private::sync_dir(folder)?;
    }
    Ok(())
}

async fn aside<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work).await.map_err(io::Error::other).flatten()
}

/// What SQLite finds wrong with the whole file, which is only read. A failure of another kind says nothing
/// about the file.
pub(super) async fn damage_in(path: &Path) -> Option<String> {
    if is_emptied(path) {
        return Some("the file is empty".to_owned());
    }
    let checked = async {
        let mut connection = open::connect_reader(path).await?;
        let answers: Vec<String> = sql!(query_scalar.fetch_all(&mut connection), "PRAGMA quick_check(1)")?;
        let wrong = answers.into_iter().find(|answer| answer != "ok");
        let missing = if wrong.is_none() { missing_events(&mut connection).await.unwrap_or_default() } else { 0 };
        let wrong = wrong.or_else(|| (missing > 0).then(|| format!("events of {missing} sessions are missing")));
        let wrong = match wrong {
            // Without the tables of this version there is nothing to look into.
            None => contents::wrong_in(&mut connection).await.unwrap_or_default(),
            wrong => wrong,
        };
        connection.close().await?;
        Ok::<_, sqlx::Error>(wrong)
    };
    match checked.await {
        Ok(damage) => damage,
        Err(error) => failure::is_damage(&error).then(|| failure::plain(&error)),
    }
}

/// Whether nothing is left of a file that was a database: room is kept only beside one that was.
fn is_emptied(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|file| file.len() == 0) && reserve::bytes(path) > 0
}

/// How many sessions have fewer events than they should, or no parent any more: what SQLite does not look at.
async fn missing_events(connection: &mut SqliteConnection) -> Result<i64, sqlx::Error> {
    sql!(
        query_scalar.fetch_one(connection),
        "SELECT count(*) FROM sessions AS own WHERE
            (SELECT count(*) FROM events WHERE session_id = own.id) < last_seq - parent_seq
            OR (parent_id IS NOT NULL AND NOT EXISTS (SELECT 1 FROM sessions WHERE id = own.parent_id))"
    )
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

/// Removes a database and what lies beside it.
async fn forget(path: &Path) {
    for file in sizes::files_of(path) {
        remove(file).await;
    }
}

async fn remove(file: PathBuf) {
    let removed = tokio::task::spawn_blocking(move || std::fs::remove_file(file));
    // One that stays makes the next opening look again, no more.
    let _ = removed.await;
}

/// The new database until it is whole.
fn new_of(path: &Path) -> PathBuf {
    beside(path, "-new")
}

pub(super) fn mark_of(path: &Path) -> PathBuf {
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

#[cfg(test)]
mod tests {
    use neco_proto::SessionId;

    use super::*;
    use crate::catalog::{Catalog, SessionRecord};
    use crate::sqlite::SqliteStore;

    /// A store with three sessions whose last page is damaged, with what a kill left in the write-ahead log.
    async fn damaged(folder: &Path) -> PathBuf {
        let path = folder.join("neco.db");
        let store = SqliteStore::open(&path).await.unwrap();
        for number in 0..3 {
            store.create(SessionRecord::new(SessionId::new(), format!("/{number}"), number)).await.unwrap();
        }
        store.close().await.unwrap();
        let mut bytes = std::fs::read(&path).unwrap();
        let last = bytes.len() - 4096;
        bytes[last..].fill(0x55);
        std::fs::write(&path, bytes).unwrap();
        mark(&path).await;
        path
    }

    async fn sessions_at(path: &Path) -> (Option<SetAside>, usize) {
        let store = SqliteStore::open(path).await.unwrap();
        let told = (store.set_aside().cloned(), store.list(None, 9).await.unwrap().len());
        store.close().await.unwrap();
        told
    }

    #[tokio::test]
    async fn whoever_is_killed_while_it_is_set_aside_loses_nothing_and_it_is_told() {
        // After how many of the moves it is killed: the two that lie beside it, the database itself, the new one.
        for moves in 0..=4 {
            let folder = tempfile::tempdir().unwrap();
            let path = damaged(folder.path()).await;
            let reason = damage_in(&path).await.unwrap();
            let taken = take_over(&path, reason).await.unwrap();
            for side in ["-wal", "-shm"] {
                std::fs::write(beside(&path, side), "").unwrap();
            }
            private::write_durably(&mark_of(&path), taken.to_mark().as_bytes()).unwrap();
            let pairs = sizes::files_of(&path).into_iter().zip(sizes::files_of(&taken.path)).rev();
            let all = pairs.chain([(new_of(&path), path.clone())]);
            for (from, to) in all.take(moves) {
                std::fs::rename(from, to).unwrap();
            }
            let (told, sessions) = sessions_at(&path).await;
            assert_eq!((told.as_ref(), sessions), (Some(&taken), taken.whole as usize), "{moves}");
            assert!(taken.path.exists() && !new_of(&path).exists() && !mark_of(&path).exists(), "{moves}");
            assert_eq!(sessions_at(&path).await, (None, sessions), "{moves}: once");
        }
    }

    #[tokio::test]
    async fn whoever_is_killed_while_things_are_taken_over_leaves_the_damaged_one_where_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = damaged(folder.path()).await;
        std::fs::write(new_of(&path), "half").unwrap();
        let (told, sessions) = sessions_at(&path).await;
        assert_eq!(told.unwrap().whole as usize, sessions);
        assert!(sessions > 0);
    }

    #[test]
    fn a_mark_is_read_as_it_was_written() {
        let one = SetAside {
            path: "/a b/c.db".into(),
            reason: "page 7".to_owned(),
            whole: 3,
            cut: vec!["019a a title".to_owned()],
            lost: vec!["019b".to_owned(), "019c x".to_owned()],
        };
        assert_eq!(SetAside::of_mark(&one.to_mark()), Some(one.clone()));
        assert_eq!(SetAside::of_mark(""), None);
        let text = one.to_mark();
        assert_eq!(
            SetAside::of_mark(text.get(..text.len() - 3).unwrap()),
            None,
            "a torn one only says that something is wrong"
        );
        let words = one.to_string();
        assert!(words.contains("019a a title") && words.contains("2 could not be read (019b, 019c x)"), "{words}");
    }
}
