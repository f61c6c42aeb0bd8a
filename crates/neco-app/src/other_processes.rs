//! Other processes: sessions that they have open, and windows of theirs on sessions of this one.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::BoxFuture;
use neco_proto::app::opening::WhichSession;
use neco_proto::app::{AppError, Trouble};
use neco_proto::{Client, ErrorCode, SessionId};
use neco_session::SessionError;
use neco_session::hub::Finder;
use neco_store::{SessionLock, SessionRecord, SqliteStore, StoreError, lock_folder};

use crate::error::{failed, of_store};
use crate::opening::Opener;
use crate::services;

/// How long a process that is just opening or ending a session is waited for.
const PATIENCE: Duration = Duration::from_secs(15);

/// How long that is not worth a word.
const WORTH_SAYING: Duration = Duration::from_secs(1);

/// How long until it is looked again.
pub(crate) const PAUSE: Duration = Duration::from_millis(50);

/// A session that another process has open.
pub struct Attached {
    /// The way to it.
    pub client: Arc<dyn Client>,
    /// The process.
    pub owner: u32,
}

/// Why there is no way to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unattached {
    /// Nobody serves it, or not yet, or not any more.
    NotThere,
    /// Whoever has it open can't be talked to.
    Failed(String),
}

/// A session as it is served to windows of other processes.
pub trait Served: Send + Sync {
    /// Takes no commands of them for now; what they said before has reached the agent when this is ready. Tells whether
    /// they ever said anything.
    fn hold(&self) -> BoxFuture<'_, bool>;

    /// Takes commands again.
    fn release(&self) -> BoxFuture<'_, ()>;

    /// Whether windows are there now.
    fn is_watched(&self) -> bool;

    /// Takes no more windows; before the session ends.
    fn leave(&self);

    /// Tells those that are left of the end; after the session has ended.
    fn end(&self) -> BoxFuture<'_, ()>;
}

/// The session that is meant and the way to it, should another process have it open. `None` also when it is not clear
/// which one is meant: whoever opens it says so.
///
/// # Errors
/// When somebody has it open and can't be talked to.
pub async fn find(
    which: &WhichSession,
    folder: &Path,
    data_dir: &Path,
    opener: &dyn Opener,
) -> Result<Option<(Attached, SessionRecord)>, AppError> {
    // Most of the time nobody has any session open, and then nothing else is looked at.
    if !any_open(data_dir) {
        return Ok(None);
    }
    let store = services::open_store(data_dir).await?;
    store.set_aside().into_iter().for_each(|aside| opener.tell(&aside.to_string()));
    let record = look_up(which, folder, &store, data_dir).await;
    store.close().await.map_err(of_store)?;
    let Some(record) = record? else { return Ok(None) };
    Ok(attach(record.id, data_dir, opener).await?.map(|attached| (attached, record)))
}

/// Attaches to the session if another process has it open; whoever has it open without serving it is about to do so, or
/// about to end.
pub(crate) async fn attach(
    session: SessionId,
    data_dir: &Path,
    opener: &dyn Opener,
) -> Result<Option<Attached>, AppError> {
    let begun = Instant::now();
    let mut said = false;
    loop {
        let why = match opener.attach(session).await {
            Ok(attached) => return Ok(Some(attached)),
            Err(why) => why,
        };
        let Some(pid) = owner(session, data_dir).await? else { return Ok(None) };
        match why {
            Unattached::Failed(why) => return Err(in_use(session, pid, &why)),
            // Whatever this process is at is over soon, and nobody has to end it for that.
            Unattached::NotThere if pid == std::process::id() => return Ok(None),
            Unattached::NotThere if begun.elapsed() > PATIENCE => {
                return Err(in_use(session, pid, "nobody serves the session"));
            }
            Unattached::NotThere => {}
        }
        if begun.elapsed() > WORTH_SAYING && !std::mem::replace(&mut said, true) {
            opener.tell(&format!("Process {pid} is just opening or closing the session; waiting for it"));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The session that is meant, should any process have one open. `None` also when it is not clear which one is meant:
/// whoever opens it says so.
pub(crate) async fn look_up(
    which: &WhichSession,
    folder: &Path,
    store: &Arc<SqliteStore>,
    data_dir: &Path,
) -> Result<Option<SessionRecord>, AppError> {
    let finder = Finder::new(store.clone(), data_dir.to_owned());
    let found = match which {
        WhichSession::New => return Ok(None),
        WhichSession::Id(prefix) => finder.find(prefix).await,
        WhichSession::Latest => finder.latest(folder).await.map(|found| found.record),
    };
    match found {
        Ok(record) => Ok(Some(record)),
        Err(SessionError::Store(error)) => Err(of_store(error)),
        Err(_) => Ok(None),
    }
}

/// Whether any process may have a session open.
pub(crate) fn any_open(data_dir: &Path) -> bool {
    std::fs::read_dir(lock_folder(data_dir)).is_ok_and(|mut entries| entries.next().is_some())
}

/// The process that has the session open, if one has.
async fn owner(session: SessionId, data_dir: &Path) -> Result<Option<u32>, AppError> {
    let folder = lock_folder(data_dir);
    let tried = tokio::task::spawn_blocking(move || SessionLock::acquire(&folder, session).map(drop)).await;
    match tried.map_err(failed)? {
        Ok(()) => Ok(None),
        Err(StoreError::InUse { pid, .. }) => Ok(Some(pid)),
        Err(error) => Err(of_store(error)),
    }
}

fn in_use(session: SessionId, pid: u32, why: &str) -> AppError {
    let words = format!("session {session} is in use by process {pid}, and attaching to it failed: {why}");
    let error = AppError::new(Trouble::InUse, words).hint("End that process, or start a new session with `neco`.");
    AppError { code: Some(ErrorCode::SessionInUse), session: Some(session), ..error }
}
