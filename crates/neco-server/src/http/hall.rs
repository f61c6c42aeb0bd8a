//! The sessions that the server holds: opened when somebody needs one, handed back when nobody has for long.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use neco_proto::app::opening::{OpenSession, OpenedSession, WhichSession};
use neco_proto::app::sessions::{ListSessions, SessionRow, SessionState};
use neco_proto::app::{App, AppError, Caller, Described, Scope, Trouble};
use neco_proto::{Actor, Answer, Client, ClientError, Command, ErrorCode, EventStream, Query, Receipt, Seq, SessionId};
use tokio::sync::{OwnedMutexGuard, watch};

use super::access::Rights;
use super::audit::{Audit, Audited, Line};
use super::handed::Handed;
use super::left::Left;
use super::loosening;
use super::numbers::Numbers;
use super::own_calls::WithOwnCalls;
use crate::remote::desk::Over;
use crate::remote::frames::{Opened, Sent};

mod standing;

use standing::{is_at_work, is_busy, is_gone};

/// How long nobody needs a session that does nothing before it is handed back.
const REST: Duration = Duration::from_secs(15 * 60);

/// Sessions that are held at a time.
const MOST: usize = 1024;

/// How often it is looked whether work is over.
pub(super) const LOOK: Duration = Duration::from_millis(100);

/// Sessions of a list that are looked at at a time.
const PAGE: usize = 100;

/// All sessions that are held.
pub(crate) struct Hall {
    pub app: Arc<dyn App>,
    pub version: String,
    pub numbers: Numbers,
    pub audit: Audit,
    left: Left,
    held: Mutex<HashMap<SessionId, Held>>,
    /// Held by whoever just hands a command to a session; the next one waits for that.
    turns: Mutex<HashMap<SessionId, Weak<Turn>>>,
    handed: Handed,
    /// Whether everything has ended.
    over: watch::Sender<Over>,
    /// Whether sessions are opened and commands taken.
    ready: watch::Sender<bool>,
}

/// The turn of whoever hands a command to one session.
type Turn = tokio::sync::Mutex<()>;

/// A session, and when somebody last asked for it.
struct Held {
    client: Arc<Seated>,
    asked: Instant,
}

impl Held {
    /// Whether this is the way that is held.
    fn is(&self, client: &Arc<dyn Client>) -> bool {
        std::ptr::addr_eq(Arc::as_ptr(&self.client), Arc::as_ptr(client))
    }
}

/// The way to a session as it is handed out: whoever follows the session keeps it.
struct Seated(Arc<dyn Client>);

impl Client for Seated {
    fn send_as(&self, by: Actor, command: Command) -> BoxFuture<'_, Result<Receipt, ClientError>> {
        self.0.send_as(by, command)
    }

    fn events(&self, since: Seq) -> EventStream {
        self.0.events(since)
    }

    fn ask(&self, query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
        self.0.ask(query)
    }
}

impl Hall {
    /// For a program and what can be asked of it; who did what is written in the folder of the server. `handed` are the
    /// sessions that another server handed over.
    pub fn new(
        app: Arc<dyn App>,
        calls: &'static [Described],
        version: &str,
        folder: &Path,
        handed: Vec<OpenSession>,
    ) -> Arc<Self> {
        let handed = Handed::new(handed);
        let (over, ready) = (watch::Sender::default(), watch::Sender::new(true));
        let (held, turns, numbers) = (Mutex::default(), Mutex::default(), Numbers::default());
        let (audit, left) = (Audit::of(folder), Left::of(folder));
        let audited = Arc::new(Audited { app, calls, audit: audit.clone() });
        let app = Arc::new(WithOwnCalls { app: audited, folder: folder.to_owned(), audit: audit.clone() });
        Arc::new(Self { app, version: version.to_owned(), numbers, audit, left, held, turns, handed, over, ready })
    }

    /// Opens those again that were at work when the server before this one ended without a word. They wait there for
    /// somebody who has them go on: what was begun may have been done.
    pub async fn bring_back(self: &Arc<Self>) {
        let before = self.left.before();
        if before.is_empty() {
            return;
        }
        match self.stopped(&before).await {
            Ok(stopped) => {
                self.left.keep_only(&stopped);
                for id in stopped {
                    match self.client(&Caller::person(), id).await {
                        Ok(_) => tracing::info!(session = %id, "a session is back that was at work in a crash"),
                        // The next server brings it back.
                        Err(error) if error.code == Some(ErrorCode::ServerEnding) => return,
                        Err(error) => tracing::warn!(session = %id, %error, "a session could not be brought back"),
                    }
                    self.left.is_back(id);
                }
            }
            Err(error) => tracing::warn!(%error, "the sessions of the server before can't be found"),
        }
        self.remember().await;
    }

    /// Those of these sessions that were stopped in the middle of their work.
    async fn stopped(&self, among: &[SessionId]) -> Result<Vec<SessionId>, AppError> {
        let (app, mut stopped): (&dyn App, _) = (self.app.as_ref(), Vec::new());
        let mut request = ListSessions { limit: PAGE, states: true, ..ListSessions::default() };
        for _ in 0..MOST.div_ceil(PAGE) {
            let page = app.ask(&Caller::person(), &request).await?;
            let was_at_work = |row: &&SessionRow| row.state == Some(SessionState::Stopped) && among.contains(&row.id);
            stopped.extend(page.sessions.iter().filter(was_at_work).map(|row| row.id));
            match page.next {
                Some(next) => request.cursor = Some(next),
                None => break,
            }
        }
        Ok(stopped)
    }

    /// Nobody has to bring back what is held: this server ends as it should. What one before it left in a crash, and is
    /// not back yet, is left for the next.
    pub fn forget(&self) {
        self.left.forget();
    }

    /// Writes down which sessions are held.
    async fn remember(self: &Arc<Self>) {
        let hall = Arc::clone(self);
        self.left.write(move || hall.held().keys().copied().collect()).await;
    }

    fn held(&self) -> MutexGuard<'_, HashMap<SessionId, Held>> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many sessions are held.
    pub fn count(&self) -> usize {
        self.held().len()
    }

    pub fn is_ready(&self) -> bool {
        *self.ready.borrow()
    }

    /// Opens a session and holds it.
    pub async fn open(self: &Arc<Self>, caller: &Caller, wanted: OpenSession) -> Result<Opened, AppError> {
        match &wanted.which {
            WhichSession::New => {}
            WhichSession::Latest => self.open_handed("").await,
            WhichSession::Id(id) => self.open_handed(id).await,
        }
        self.open_now(caller, wanted).await
    }

    /// Opens the sessions that were handed over and whose ids begin so, as they were open before.
    pub async fn open_handed(self: &Arc<Self>, id: &str) {
        let open = |wanted| {
            let hall = Arc::clone(self);
            async move { hall.open_now(&Caller::person(), wanted).await.map(drop) }.boxed()
        };
        self.handed.open(id, self.ready.subscribe(), open).await;
    }

    /// The sessions that were handed over and are not open.
    pub async fn not_opened(&self) -> Vec<OpenSession> {
        self.handed.left().await
    }

    async fn open_now(self: &Arc<Self>, caller: &Caller, wanted: OpenSession) -> Result<Opened, AppError> {
        if !self.is_ready() {
            return Err(ending());
        }
        if wanted.folder.is_empty() && !matches!(wanted.which, WhichSession::Id(_)) {
            let words = "name the folder that is worked in: {\"folder\": \"/srv/project\"}";
            return Err(AppError::new(Trouble::Invalid, words));
        }
        if self.count() >= MOST {
            return Err(AppError::new(Trouble::InUse, format!("the server holds {MOST} sessions already"))
                .hint("Close some, or wait until those that nobody needs are handed back."));
        }
        let (hall, caller) = (Arc::clone(self), caller.clone());
        to_the_end(async move {
            let OpenedSession { id, client, folder, owner, since, notes } = hall.app.open(&caller, wanted).await?;
            hall.hold(id, client).await?;
            hall.remember().await;
            tracing::info!(session = %id, caller = ?caller.actor, "a session is held");
            Ok(Opened { id, folder, since, was_open: owner.is_some(), notes })
        })
        .await
        .unwrap_or_else(|| Err(broke()))
    }

    /// Holds a session once: whoever follows it goes on to have the way that is held, as long as that leads there, and
    /// the other one is handed back.
    async fn hold(self: &Arc<Self>, id: SessionId, client: Arc<dyn Client>) -> Result<(), AppError> {
        if let Some(there) = self.at_hand(id)
            && is_gone(there.as_ref()).await
            && let Err(error) = self.let_go(id, &there).await
        {
            tracing::warn!(session = %id, %error, "a session that is gone could not be handed back");
        }
        let spare = match self.held().entry(id) {
            Entry::Occupied(mut there) => {
                there.get_mut().asked = Instant::now();
                Some(client)
            }
            Entry::Vacant(place) => {
                place.insert(Held { client: Arc::new(Seated(client)), asked: Instant::now() });
                None
            }
        };
        match spare {
            Some(spare) => self.close(spare).await,
            None => Ok(()),
        }
    }

    /// The way to a session, which is opened when nobody holds it.
    pub async fn client(self: &Arc<Self>, caller: &Caller, id: SessionId) -> Result<Arc<dyn Client>, AppError> {
        if let Some(client) = self.at_hand(id) {
            return Ok(client);
        }
        let which = WhichSession::Id(id.to_string());
        self.open(caller, OpenSession { which, attended: true, interactive: true, ..OpenSession::default() }).await?;
        self.at_hand(id).ok_or_else(|| ClientError::Gone.into())
    }

    /// The same for whoever looks: a session that is gone, as the process ended that had it open, is opened again.
    pub async fn living(self: &Arc<Self>, caller: &Caller, id: SessionId) -> Result<Arc<dyn Client>, AppError> {
        let client = self.client(caller, id).await?;
        if !is_gone(client.as_ref()).await {
            return Ok(client);
        }
        self.let_go(id, &client).await?;
        self.client(caller, id).await
    }

    /// The way to a session that is held.
    pub fn at_hand(&self, id: SessionId) -> Option<Arc<dyn Client>> {
        let mut held = self.held();
        let held = held.get_mut(&id)?;
        held.asked = Instant::now();
        Some(Arc::clone(&held.client) as _)
    }

    /// The session whose id begins so; the program knows which one, and it is opened.
    pub async fn named(self: &Arc<Self>, caller: &Caller, id: &str) -> Result<SessionId, AppError> {
        if let Ok(id) = id.parse() {
            return Ok(id);
        }
        let which = WhichSession::Id(id.to_owned());
        let wanted = OpenSession { which, attended: true, interactive: true, ..OpenSession::default() };
        self.open(caller, wanted).await.map(|opened| opened.id)
    }

    /// Hands a command over, also to a session whose process has ended meanwhile: it is opened again.
    pub async fn send(self: &Arc<Self>, rights: &Rights, id: SessionId, sent: Sent) -> Result<Receipt, AppError> {
        let claimed = Caller { actor: sent.by, scope: rights.scope, tenant: None };
        let (caller, command) = (rights.caller(claimed), sent.command);
        let does = name(&command);
        let taken = match self.takes(&caller, &command) {
            Ok(()) => {
                self.numbers.commands.add();
                self.hand_over_to_living(&caller, id, command).await
            }
            Err(refused) => Err(refused),
        };
        self.audit.note(Line::of(&caller, &does, &taken).in_session(id)).await;
        taken
    }

    /// Whether a command of somebody is handed to a session at all.
    fn takes(&self, caller: &Caller, command: &Command) -> Result<(), AppError> {
        if caller.scope < Scope::Work {
            return Err(AppError::new(Trouble::NotAllowed, "commands are not for whoever may only read"));
        }
        if matches!(command, Command::Shutdown) {
            return Err(ClientError::Refused("only the server ends its sessions".to_owned()).into());
        }
        if !self.is_ready() {
            return Err(ending());
        }
        Ok(())
    }

    /// Hands a command to a session that was opened for whoever says it, and that is not held.
    pub async fn say(
        &self,
        caller: &Caller,
        id: SessionId,
        client: &dyn Client,
        command: Command,
    ) -> Result<Receipt, AppError> {
        self.numbers.commands.add();
        let does = name(&command);
        let turn = self.turn(id).await;
        let taken = send_in_turn(caller, client, command, turn).await.and_then(|taken| Ok(taken?));
        self.audit.note(Line::of(caller, &does, &taken).in_session(id)).await;
        taken
    }

    async fn hand_over_to_living(
        self: &Arc<Self>,
        caller: &Caller,
        id: SessionId,
        command: Command,
    ) -> Result<Receipt, AppError> {
        let (client, taken) = self.hand_over(caller, id, command.clone()).await?;
        if taken != Err(ClientError::Gone) {
            return Ok(taken?);
        }
        self.let_go(id, &client).await?;
        let (_, taken) = self.hand_over(caller, id, command).await?;
        Ok(taken?)
    }

    /// Hands a command to a session that may have to be opened for it. Commands reach it in the order in which they are
    /// said, also where the first one waits for the session to be opened.
    async fn hand_over(
        self: &Arc<Self>,
        caller: &Caller,
        id: SessionId,
        command: Command,
    ) -> Result<(Arc<dyn Client>, Result<Receipt, ClientError>), AppError> {
        let turn = self.turn(id).await;
        let client = self.client(caller, id).await?;
        let taken = send_in_turn(caller, client.as_ref(), command, turn).await?;
        Ok((client, taken))
    }

    /// Waits until nobody who came before hands a command to a session.
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

    /// Hands a session back, whatever it does, unless it was opened again meanwhile.
    pub async fn let_go(self: &Arc<Self>, id: SessionId, client: &Arc<dyn Client>) -> Result<(), AppError> {
        self.hand_back(id, |held| held.is(client)).await
    }

    async fn hand_back(self: &Arc<Self>, id: SessionId, is_meant: impl Fn(&Held) -> bool) -> Result<(), AppError> {
        let meant = {
            let mut held = self.held();
            held.get(&id).is_some_and(is_meant).then(|| held.remove(&id)).flatten()
        };
        let Some(held) = meant else { return Ok(()) };
        let closed = self.close(Arc::clone(&held.client.0)).await;
        // One that ends leaves nothing behind.
        if self.is_ready() {
            self.remember().await;
        }
        closed
    }

    async fn close(&self, client: Arc<dyn Client>) -> Result<(), AppError> {
        let app = Arc::clone(&self.app);
        to_the_end(async move { app.close(client).await.map(drop) }).await.unwrap_or_else(|| Err(broke()))
    }

    /// Hands back what nobody needs and what does nothing; tells how many sessions are left.
    pub async fn tidy(self: &Arc<Self>) -> usize {
        self.tidy_after(REST).await
    }

    async fn tidy_after(self: &Arc<Self>, rest: Duration) -> usize {
        let is_idle =
            |held: &Held, users: usize| held.asked.elapsed() > rest && Arc::strong_count(&held.client) == users;
        let idle: Vec<(SessionId, Arc<dyn Client>)> = {
            let held = self.held();
            let idle = held.iter().filter(|(_, held)| is_idle(held, 1));
            idle.map(|(id, held)| (*id, Arc::clone(&held.client) as _)).collect()
        };
        for (id, client) in idle {
            // A window over the Unix socket does not come by here.
            if self.app.is_watched(id) {
                self.at_hand(id);
                continue;
            }
            // Somebody may have come while it was asked; one user is this.
            if !is_busy(client.as_ref()).await
                && let Err(error) = self.hand_back(id, |held| held.is(&client) && is_idle(held, 2)).await
            {
                tracing::warn!(session = %id, %error, "a session could not be handed back");
            }
        }
        self.count()
    }

    /// Opens no sessions and takes no commands any more.
    pub fn take_nothing_new(&self) {
        self.ready.send_replace(false);
    }

    /// Has everybody who follows something ask whoever goes on with it.
    pub fn goes_on_elsewhere(&self) {
        self.over.send_replace(Over::Elsewhere);
    }

    /// Lets those who work come to an end for a while, and `others`. What waits for a person waits in the log.
    pub async fn wind_down(&self, patience: Duration, others: impl Future<Output = ()>) {
        let clients: Vec<Arc<dyn Client>> = self.held().values().map(|held| Arc::clone(&held.client) as _).collect();
        let rests = clients.iter().map(|client| async {
            while is_at_work(client.as_ref()).await {
                tokio::time::sleep(LOOK).await;
            }
        });
        let _ = tokio::time::timeout(patience, futures::future::join(join_all(rests), others)).await;
        self.over.send_replace(Over::Ended);
    }

    /// Whether everything has ended.
    pub fn over(&self) -> watch::Receiver<Over> {
        self.over.subscribe()
    }
}

/// Says a command to a session, if it is nothing that only whoever may do everything says. The next one says theirs once
/// this is in line there.
async fn send_in_turn(
    caller: &Caller,
    client: &dyn Client,
    command: Command,
    turn: OwnedMutexGuard<()>,
) -> Result<Result<Receipt, ClientError>, AppError> {
    if caller.scope < Scope::Manage {
        // Also while nobody else says anything there: what is looked up is what is answered.
        match loosening::refused(client, &command).await {
            Ok(None) => {}
            Ok(Some(refused)) => return Err(refused),
            Err(error) => return Ok(Err(error)),
        }
    }
    let mut sending = client.send_as(caller.actor.clone(), command);
    let at_once = tokio::task::unconstrained(&mut sending).now_or_never();
    drop(turn);
    match at_once {
        Some(taken) => Ok(taken),
        None => Ok(sending.await),
    }
}

/// Does something to its end, also when whoever asked is gone; nothing where that was a mistake of this program. It is begun
/// at once: those who ask one after the other are in line in that order.
pub(super) async fn to_the_end<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> Option<T> {
    let mut work = AssertUnwindSafe(work).catch_unwind().boxed();
    let done = match tokio::task::unconstrained(&mut work).now_or_never() {
        Some(done) => Some(done),
        None => tokio::spawn(work).await.ok(),
    };
    done?.ok()
}

/// What is said of a mistake of this program.
pub(super) fn broke() -> AppError {
    AppError::new(Trouble::Failed, "the server failed at this by a mistake of its own")
}

/// What a command is called over wires.
fn name(command: &Command) -> String {
    let written = serde_json::to_value(command).unwrap_or_default();
    written.get("type").and_then(serde_json::Value::as_str).unwrap_or("a command").to_owned()
}

/// Nothing is begun any more.
pub(super) fn ending() -> AppError {
    let words = ErrorCode::ServerEnding.for_user();
    let error = AppError { code: Some(ErrorCode::ServerEnding), ..AppError::new(Trouble::Failed, words) };
    error.hint("Ask again in a moment.")
}

#[cfg(test)]
mod tests;
