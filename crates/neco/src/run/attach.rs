//! Finding the process that has a session open.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use neco_config::Env;
use neco_proto::{ErrorCode, SessionId};
use neco_server::{AttachError, RemoteClient};
use neco_session::SessionError;
use neco_session::hub::Finder;
use neco_store::{SessionLock, SessionRecord, SqliteStore, StoreError, lock_folder};

use crate::args::RunArgs;
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

/// How long a process that is just opening or ending a session is waited for.
const PATIENCE: Duration = Duration::from_secs(15);

/// How long that is not worth a word.
const WORTH_SAYING: Duration = Duration::from_secs(1);

/// How long until it is looked again.
const PAUSE: Duration = Duration::from_millis(50);

/// Which session is meant.
#[derive(Clone, Copy, Debug)]
pub enum Which<'a> {
    /// The one whose id begins so.
    Id(&'a str),
    /// The last one of this folder.
    Latest(&'a Path),
}

/// A session that another process has open.
pub struct Attached {
    /// The way to it.
    pub client: RemoteClient,
    /// The session.
    pub record: SessionRecord,
}

/// Attaches to the session if another process has it open. `None` when nobody has, or when it is not
/// clear which one is meant: whoever opens it says so.
///
/// # Errors
/// When somebody has it open and can't be talked to.
pub async fn find(which: Which<'_>, env: &Env) -> Result<Option<Attached>, Failure> {
    // Most of the time nobody has any session open, and then nothing else is looked at.
    if !any_open(env) {
        return Ok(None);
    }
    let store = compose::open_store(env.data_dir()).await?;
    let record = look_up(which, &store, env).await;
    store.close().await?;
    match record? {
        Some(record) => attach(record, env).await,
        None => Ok(None),
    }
}

/// The same session that would be opened.
async fn look_up(which: Which<'_>, store: &Arc<SqliteStore>, env: &Env) -> Result<Option<SessionRecord>, Failure> {
    let finder = Finder::new(store.clone(), env.data_dir().to_owned());
    let found = match which {
        Which::Id(prefix) => finder.find(prefix).await,
        Which::Latest(folder) => finder.latest(folder).await.map(|found| found.record),
    };
    match found {
        Ok(record) => Ok(Some(record)),
        Err(SessionError::Store(error)) => Err(error.into()),
        Err(_) => Ok(None),
    }
}

/// Whoever has the session open without serving it is about to do so, or about to end.
async fn attach(record: SessionRecord, env: &Env) -> Result<Option<Attached>, Failure> {
    let begun = Instant::now();
    let places = compose::sockets(env);
    let mut said = false;
    loop {
        let why = match RemoteClient::attach(&places, record.id).await {
            Ok(client) => return Ok(Some(Attached { client, record })),
            Err(why) => why,
        };
        let Some(pid) = owner(record.id, env).await? else { return Ok(None) };
        if why != AttachError::NotThere || begun.elapsed() > PATIENCE {
            return Err(in_use(record.id, pid, &why));
        }
        if begun.elapsed() > WORTH_SAYING && !std::mem::replace(&mut said, true) {
            say::note(&format!("process {pid} is just opening or closing the session; waiting for it"));
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// The process that has the session open, if one has.
async fn owner(session: SessionId, env: &Env) -> Result<Option<u32>, Failure> {
    let folder = lock_folder(env.data_dir());
    let tried = tokio::task::spawn_blocking(move || SessionLock::acquire(&folder, session).map(drop)).await;
    match tried {
        Ok(Ok(())) => Ok(None),
        Ok(Err(StoreError::InUse { pid, .. })) => Ok(Some(pid)),
        Ok(Err(error)) => Err(error.into()),
        Err(error) => Err(Failure::new(Exit::Failed, error.to_string())),
    }
}

fn any_open(env: &Env) -> bool {
    std::fs::read_dir(lock_folder(env.data_dir())).is_ok_and(|mut entries| entries.next().is_some())
}

/// The flags that mean nothing for a session that runs already, as a note; nothing when there are none.
#[must_use]
pub fn left_out(args: &RunArgs) -> Option<String> {
    let given = [
        ("--model", args.model.is_some()),
        ("--mode", args.mode.is_some()),
        ("--approval", args.approval.is_some()),
        ("--yes", args.yes),
        ("--gen", args.generation.is_some()),
        ("--tools", args.tools.is_some()),
        ("--max-turns", args.max_turns.is_some()),
        ("--max-cost", args.max_cost.is_some()),
        ("--timeout", args.timeout.is_some()),
        ("--sandbox", args.box_args.sandbox.is_some()),
        ("--network", args.box_args.network),
    ];
    let names: Vec<&str> = given.iter().filter(|(_, given)| *given).map(|(name, _)| *name).collect();
    let change = if names.len() == 1 { "changes" } else { "change" };
    let words = "nothing here: the session runs in another process, with what was given there";
    (!names.is_empty()).then(|| format!("{} {change} {words}", names.join(", ")))
}

fn in_use(session: SessionId, pid: u32, why: &AttachError) -> Failure {
    let failure = Failure::new(
        Exit::Failed,
        format!("session {session} is in use by process {pid}, and attaching to it failed: {why}"),
    );
    let hint = "End that process, or start a new session without --session and --continue.";
    Failure { code: Some(ErrorCode::SessionInUse), ..failure.hint(hint) }
}
