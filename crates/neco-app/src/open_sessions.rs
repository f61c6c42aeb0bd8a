//! The sessions that are open through the program: each with what it stands on, until the last one hands it back.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use neco_proto::app::opening::{GivenServer, OpenSession, OpenedSession, WhichSession};
use neco_proto::app::{AppError, Trouble};
use neco_proto::{Answer, Client, ClientError, Command, ErrorCode, Query, Seq, SessionId};
use neco_session::Session;
use neco_store::{Catalog, SessionRecord};
use neco_workspace::worktree::Held;
use tokio::sync::OwnedMutexGuard;

mod handing_over;

pub use handing_over::HeldSessions;

use crate::disk;
use crate::error::{failed, of_session, of_store};
use crate::kept_openings::KeptOpenings;
use crate::notices::{Teller, Watched, Watching};
use crate::opening::{Opened, Opener, Opening, on_thread};
use crate::other_processes::{Attached, PAUSE, Served, any_open, attach, look_up};
use crate::services::{self, Services};
use crate::workspace::Workspaces;

/// How often somebody else may be faster to open a session, or be just closing it.
const RACES: u32 = 100;

/// How long a session may take to say how it stands.
const SOON: Duration = Duration::from_secs(2);

/// The sessions that are open.
#[derive(Default)]
pub(crate) struct OpenSessions {
    kept: Mutex<Vec<Kept>>,
    /// Held by whoever just opens or ends a session; the next one waits for that.
    turns: Mutex<HashMap<SessionId, Weak<Turn>>>,
    /// What tells a person of those whose opener gives notice.
    teller: OnceLock<Teller>,
    /// Whether it was looked which openings are kept of sessions that are gone.
    looked: OnceLock<()>,
}

/// The turn of whoever opens or ends one session.
type Turn = tokio::sync::Mutex<()>;

/// A session that is open.
struct Kept {
    opened: OpenedSession,
    /// How many have not handed it back.
    users: usize,
    /// Nothing when another process has it open.
    own: Option<Own>,
}

/// A session of this process, and what it stands on.
struct Own {
    services: Services,
    session: Session,
    served: Option<Arc<dyn Served>>,
    /// Whether it stays although nothing was said in it: a single request may do something else.
    keep: bool,
    /// That somebody works there, should it be a worktree of ours.
    _held: Option<Held>,
    /// Tells a person what it asks who does not look.
    _watching: Option<Watching>,
}

/// What sessions are opened with.
#[derive(Clone, Copy)]
pub(crate) struct Around<'a> {
    pub workspaces: &'a Workspaces,
    pub overrides: &'a [String],
    pub opener: &'a dyn Opener,
}

impl OpenSessions {
    /// Opens a session or makes one; whoever has it open already shares it.
    pub async fn open(&self, wanted: OpenSession, around: Around<'_>) -> Result<OpenedSession, AppError> {
        let goes_on = wanted.which != WhichSession::New;
        let mut races = 0;
        loop {
            let found = find(&wanted, around).await?;
            let _turn = match &found {
                Some(record) => Some(self.turn(record.id).await),
                None => None,
            };
            if let Some(record) = found
                && let Some(shared) = self.share(record, around).await?
            {
                return Ok(shared);
            }
            match self.open_here(wanted.clone(), around).await {
                // Somebody else was faster, and serves it in a moment.
                Err(error) if goes_on && error.code == Some(ErrorCode::SessionInUse) && races < RACES => races += 1,
                // What was found damaged is set aside by the next opening.
                Err(_) if races < RACES && disk::is_doubted(around.workspaces.env().data_dir()) => races = RACES,
                opened => return opened,
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Waits until nobody opens or ends a session.
    async fn turn(&self, id: SessionId) -> OwnedMutexGuard<()> {
        let turn = {
            let mut turns = self.turns.lock().unwrap_or_else(PoisonError::into_inner);
            turns.retain(|_, turn| turn.strong_count() > 0);
            let turn = turns.get(&id).and_then(Weak::upgrade).unwrap_or_default();
            turns.insert(id, Arc::downgrade(&turn));
            turn
        };
        turn.lock_owned().await
    }

    /// The session, if somebody has it open.
    async fn share(&self, record: SessionRecord, around: Around<'_>) -> Result<Option<OpenedSession>, AppError> {
        let (data_dir, opener) = (around.workspaces.env().data_dir(), around.opener);
        if let Some(kept) = self.kept().iter_mut().find(|kept| kept.own.is_some() && kept.opened.id == record.id) {
            kept.users += 1;
            let owner = Some(std::process::id());
            return Ok(Some(OpenedSession { owner, notes: Vec::new(), ..kept.opened.clone() }));
        }
        let Some(Attached { client, owner }) = attach(record.id, data_dir, opener).await? else { return Ok(None) };
        let since = match client.ask(Query::Snapshot).await {
            Ok(Answer::Snapshot(snapshot)) => snapshot.last_seq,
            Ok(_) => return Err(failed("the session does not answer")),
            // It is just being closed.
            Err(ClientError::Gone) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let (folder, owner) = (record.cwd, Some(owner));
        Ok(Some(self.keep(OpenedSession { id: record.id, client, folder, owner, since, notes: Vec::new() }, None)))
    }

    async fn open_here(&self, wanted: OpenSession, around: Around<'_>) -> Result<OpenedSession, AppError> {
        let Around { workspaces, overrides, opener } = around;
        let (environment, keep) = (services::environment(workspaces.env()), !wanted.interactive);
        let kept = opener.keeps_openings().map(|folder| KeptOpenings::new(folder, overrides));
        let before = opened_before(kept.as_ref(), &wanted, around).await?;
        let (again, wanted) = (before.is_some(), before.unwrap_or(wanted));
        let given = wanted.servers.iter().map(server_setting).collect::<Result<Vec<String>, _>>()?;
        let overrides = [overrides, wanted.settings.as_slice(), given.as_slice()].concat();
        let opening = Opening {
            wanted,
            overrides: overrides.clone(),
            environment,
            kept: kept.clone(),
            again,
            ..Opening::default()
        };
        let Opened { services, session, folder, held, notes } = opening.open(workspaces, opener).await?;
        if let Some(kept) = kept.filter(|_| self.looked.set(()).is_ok()) {
            let there = workspaces.store().await?.0.kept().await.map_err(of_store)?;
            on_thread(move || {
                kept.forget_but(&there);
                Ok(())
            })
            .await?;
        }
        opener.hide(services.hub.redactor());
        let (id, since) = (session.id(), session.first_seq());
        let inner: Arc<dyn Client> = Arc::new(session.clone());
        let (client, watching) = match opener.gives_notice() {
            true => {
                let (watched, followers) = Watched::new(Arc::clone(&inner));
                let teller = self.teller.get_or_init(|| Teller::new(workspaces.env(), around.overrides)).clone();
                let watching = Watching::begin(inner, since, followers, services.hub.redactor(), teller);
                (Arc::new(watched) as Arc<dyn Client>, Some(watching))
            }
            false => (inner, None),
        };
        let app = Arc::new(services.app(workspaces.env(), &overrides));
        let served = opener.serve(id, Arc::clone(&client), app);
        let folder = folder.display().to_string();
        let own = Own { services, session, served, keep, _held: held, _watching: watching };
        Ok(self.keep(OpenedSession { id, client, folder, owner: None, since, notes }, Some(own)))
    }

    fn keep(&self, opened: OpenedSession, own: Option<Own>) -> OpenedSession {
        self.kept().push(Kept { opened: opened.clone(), users: 1, own });
        opened
    }

    fn kept(&self) -> MutexGuard<'_, Vec<Kept>> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hands back a session; with the last one who does it ends.
    pub async fn close(&self, client: &Arc<dyn Client>, opener: &dyn Opener) -> Result<Option<SessionId>, AppError> {
        let last = {
            let mut all = self.kept();
            let place = all.iter().position(|kept| Arc::ptr_eq(&kept.opened.client, client));
            let Some(kept) = place.and_then(|place| all.get_mut(place)) else { return Ok(None) };
            kept.users -= 1;
            place.filter(|_| kept.users == 0).map(|place| all.swap_remove(place))
        };
        match last {
            Some(kept) => self.put_away(kept, opener).await,
            None => Ok(None),
        }
    }

    /// Ends all that are left.
    pub async fn close_all(&self, opener: &dyn Opener) -> Vec<Result<Option<SessionId>, AppError>> {
        let all = std::mem::take(&mut *self.kept());
        futures::future::join_all(all.into_iter().map(|kept| self.put_away(kept, opener))).await
    }

    /// Ends a session, and has whoever wants it next wait for that.
    async fn put_away(&self, kept: Kept, opener: &dyn Opener) -> Result<Option<SessionId>, AppError> {
        let _turn = self.turn(kept.opened.id).await;
        put_away(kept, opener).await
    }

    /// Stops everything that those of this process do: nothing is asked of a model when they end.
    pub async fn stop_all(&self) {
        let own: Vec<Session> =
            self.kept().iter().filter_map(|kept| Some(kept.own.as_ref()?.session.clone())).collect();
        let stops = own.iter().map(|session| session.send(Command::StopAll));
        // One that does not answer is ended all the same.
        let _ = tokio::time::timeout(SOON, futures::future::join_all(stops)).await;
    }

    /// Whether windows of other processes are at a session of this one.
    pub fn is_watched(&self, id: SessionId) -> bool {
        let all = self.kept();
        let own = all.iter().filter(|kept| kept.opened.id == id).find_map(|kept| kept.own.as_ref());
        own.and_then(|own| own.served.as_ref()).is_some_and(|served| served.is_watched())
    }

    /// Whether an agent, which was done a moment ago, works on something that a window of another process said. When it
    /// does not, nothing more is taken of them.
    pub async fn goes_on(&self, client: &Arc<dyn Client>) -> bool {
        let served = self
            .kept()
            .iter()
            .find(|kept| Arc::ptr_eq(&kept.opened.client, client))
            .and_then(|kept| kept.own.as_ref()?.served.clone());
        let Some(served) = served else { return false };
        if !served.hold().await {
            return false;
        }
        // The agent answers this after all that it was told before, so what it does then is what follows from that.
        let _ = client.ask(Query::Context).await;
        let snapshot = client.ask(Query::Snapshot).await;
        let busy = matches!(snapshot, Ok(Answer::Snapshot(snapshot)) if snapshot.state.is_at_work());
        if busy {
            served.release().await;
        }
        busy
    }
}

/// The session that is meant, should any process have one open. `None` also when it is not clear which one is meant:
/// whoever opens it says so.
async fn find(wanted: &OpenSession, around: Around<'_>) -> Result<Option<SessionRecord>, AppError> {
    let data_dir = around.workspaces.env().data_dir();
    // Most of the time nobody has any session open, and then nothing else is looked at.
    if wanted.which == WhichSession::New || !any_open(data_dir) {
        return Ok(None);
    }
    look(wanted, around).await
}

/// The same, whether any process has one open or not.
async fn look(wanted: &OpenSession, around: Around<'_>) -> Result<Option<SessionRecord>, AppError> {
    let (store, aside) = around.workspaces.store().await?;
    aside.iter().for_each(|aside| around.opener.tell(&aside.to_string()));
    look_up(&wanted.which, Path::new(&wanted.folder), &store, around.workspaces.env().data_dir()).await
}

/// How a session is opened that this process opened before, where nothing is said of how it is to work.
async fn opened_before(
    kept: Option<&KeptOpenings>,
    wanted: &OpenSession,
    around: Around<'_>,
) -> Result<Option<OpenSession>, AppError> {
    let Some(kept) = kept.filter(|_| wanted.which != WhichSession::New).cloned() else { return Ok(None) };
    let found = look(wanted, around).await?;
    let Some(SessionRecord { id, .. }) = found else { return Ok(None) };
    let wanted = wanted.clone();
    on_thread(move || kept.again(id, &wanted)).await
}

/// Ends a session; one of another process is left. Nothing stays of one in which nothing was said.
async fn put_away(kept: Kept, opener: &dyn Opener) -> Result<Option<SessionId>, AppError> {
    let Kept { opened: OpenedSession { id, client, .. }, own, .. } = kept;
    let asked = tokio::time::timeout(SOON, client.said()).await;
    let is_over = matches!(asked, Ok(Err(_)));
    let said = match (asked, &own) {
        (Ok(Ok(said)), _) => said,
        // The session is over, for it could not be kept any more: its log says what was said.
        (Ok(Err(_)), Some(own)) if is_empty(&own.services, id).await => None,
        (Ok(Err(_)), None) => None,
        // Whoever does not answer may well have something to keep.
        (Ok(Err(_)), Some(_)) | (Err(_), _) => Some(id),
    };
    let Some(own) = own else { return Ok(said) };
    drop(client);
    match end(own, said.is_some(), opener).await {
        // What could not be written is told already, with the end of the session.
        Err(error) if !(is_over && error.code == Some(ErrorCode::StoreFailed)) => {
            Err(AppError { session: said, ..error })
        }
        Ok(()) | Err(_) => Ok(said),
    }
}

/// An MCP server of an opening, as a setting that outranks those of files.
fn server_setting(given: &GivenServer) -> Result<String, AppError> {
    let invalid =
        |why: &str| AppError::new(Trouble::Invalid, format!("the MCP server {} can't be used: {why}", given.name));
    let server = as_setting(&given.server).ok_or_else(|| invalid("it is no description of a server"))?;
    Ok(format!("mcp_servers.{}={server}", toml_edit::Key::new(&given.name)))
}

/// A value as settings are written; nothing has no place there.
fn as_setting(value: &serde_json::Value) -> Option<toml_edit::Value> {
    Some(match value {
        serde_json::Value::Null => return None,
        serde_json::Value::Bool(is) => (*is).into(),
        serde_json::Value::Number(number) => match number.as_i64() {
            Some(whole) => whole.into(),
            None => number.as_f64()?.into(),
        },
        serde_json::Value::String(text) => text.as_str().into(),
        serde_json::Value::Array(values) => {
            let values: Option<toml_edit::Array> = values.iter().map(as_setting).collect();
            values?.into()
        }
        serde_json::Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| Some((name.as_str(), as_setting(value)?)));
            fields.collect::<Option<Vec<_>>>()?.into_iter().collect::<toml_edit::InlineTable>().into()
        }
    })
}

/// The session first, then what it stands on.
async fn end(own: Own, is_said: bool, opener: &dyn Opener) -> Result<(), AppError> {
    let Own { services, session, served, keep, _held, _watching } = own;
    if let Some(served) = &served {
        served.leave();
    }
    let id = session.id();
    // What is done at its end may take a while, and nobody has to wait for it.
    tokio::select! {
        told = session.close() => told.iter().for_each(|told| opener.tell(&told.text)),
        () = opener.hurry() => {}
    }
    if let Some(served) = served {
        served.end().await;
    }
    if !keep
        && !is_said
        && is_empty(&services, id).await
        && let Ok(record) = services.hub.find(&id.to_string()).await
    {
        services.hub.remove(std::slice::from_ref(&record)).await.map_err(of_session)?;
        if let Some(folder) = opener.keeps_openings() {
            KeptOpenings::new(folder, &[]).forget(id);
        }
    }
    services.leave().await
}

/// Whether nothing was said in a session, by its log; what was gone back over was said too, and can be taken back.
async fn is_empty(services: &Services, id: SessionId) -> bool {
    services.hub.course(id).await.is_ok_and(|course| !course.is_said(Seq::MAX))
}
