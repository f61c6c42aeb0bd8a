//! The sessions that the server holds: opened when somebody needs one, handed back when nobody has for long.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::{BoxFuture, join_all};
use neco_proto::app::opening::{OpenSession, OpenedSession, WhichSession};
use neco_proto::app::sessions::{ListSessions, SessionRow, SessionState};
use neco_proto::app::{App, AppError, Caller, Described, Scope, Trouble};
use neco_proto::{Actor, Answer, Client, ClientError, Command, EventStream, Query, Receipt, Seq, SessionId};
use tokio::sync::{OwnedMutexGuard, watch};

use super::access::Rights;
use super::audit::{Audit, Audited, Line};
use super::left::Left;
use super::loosening;
use super::numbers::Numbers;
use crate::remote::desk::Over;
use crate::remote::frames::{Opened, Sent};

/// How long nobody needs a session that does nothing before it is handed back.
const REST: Duration = Duration::from_secs(15 * 60);

/// Sessions that are held at a time.
const MOST: usize = 1024;

/// Sessions of a list that are looked at at a time.
const PAGE: usize = 100;

/// How often it is tried to open a session that was handed over.
const TRIES: usize = 3;

/// How long a session may take to say how it stands.
const SOON: Duration = Duration::from_secs(5);

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
    /// The sessions that another server handed over and that are not open yet, as they are opened. Held while one of them
    /// is: nobody opens it otherwise meanwhile.
    handed: tokio::sync::Mutex<Vec<Handed>>,
    /// Whether everything has ended.
    over: watch::Sender<Over>,
    /// Whether sessions are opened and commands taken.
    ready: watch::Sender<bool>,
}

/// The turn of whoever hands a command to one session.
type Turn = tokio::sync::Mutex<()>;

/// A session that was handed over, and how often it could not be opened.
struct Handed {
    wanted: OpenSession,
    tried: usize,
}

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
        let handed = handed.into_iter().map(|wanted| Handed { wanted, tried: 0 });
        let handed = tokio::sync::Mutex::new(handed.collect());
        let (over, ready) = (watch::Sender::default(), watch::Sender::new(true));
        let (held, turns, numbers) = (Mutex::default(), Mutex::default(), Numbers::default());
        let (audit, left) = (Audit::of(folder), Left::of(folder));
        let app = Arc::new(Audited { app, calls, audit: audit.clone() });
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
                for id in stopped {
                    match self.client(&Caller::person(), id).await {
                        Ok(_) => tracing::info!(session = %id, "a session is back that was at work in a crash"),
                        Err(error) => tracing::warn!(session = %id, %error, "a session could not be brought back"),
                    }
                }
                self.left.are_back();
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

    /// Nobody has to bring back what is held: this server ends as it should.
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

    /// Opens the sessions that were handed over and whose ids begin so, as they were open before. One that can't be opened
    /// is tried again when somebody asks for it, a few times.
    pub async fn open_handed(self: &Arc<Self>, id: &str) {
        let is_meant = |handed: &Handed| matches!(&handed.wanted.which, WhichSession::Id(own) if own.starts_with(id));
        let (mut handed, mut again) = (self.handed.lock().await, Vec::new());
        while let Some(at) = handed.iter().position(is_meant) {
            let Handed { wanted, tried } = handed.swap_remove(at);
            if let Err(error) = self.open_now(&Caller::person(), wanted.clone()).await {
                tracing::error!(%error, "a session that was handed over could not be opened");
                again.push(Handed { wanted, tried: tried + 1 });
            }
        }
        handed.extend(again.into_iter().filter(|handed| handed.tried < TRIES));
    }

    async fn open_now(self: &Arc<Self>, caller: &Caller, wanted: OpenSession) -> Result<Opened, AppError> {
        if !self.is_ready() {
            return Err(AppError::new(Trouble::Failed, "the server is about to end"));
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
            return Err(ClientError::Gone.into());
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
        to_the_end(async move { app.close(client).await.map(drop) }).await
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
        let _ = self.ready.send(false);
    }

    /// Has everybody who follows something ask whoever goes on with it.
    pub fn goes_on_elsewhere(&self) {
        let _ = self.over.send(Over::Elsewhere);
    }

    /// Lets those who work come to an end for a while. What waits for a person waits in the log.
    pub async fn wind_down(&self, patience: Duration) {
        let clients: Vec<Arc<dyn Client>> = self.held().values().map(|held| Arc::clone(&held.client) as _).collect();
        let rests = clients.iter().map(|client| async {
            while is_at_work(client.as_ref()).await {
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
        let _ = tokio::time::timeout(patience, join_all(rests)).await;
        let _ = self.over.send(Over::Ended);
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

/// Does something to its end, also when whoever asked is gone. It is begun at once: those who ask one after the other are
/// in line in that order.
pub(super) async fn to_the_end<T: Send + 'static>(
    work: impl Future<Output = Result<T, AppError>> + Send + 'static,
) -> Result<T, AppError> {
    let mut work = work.boxed();
    match tokio::task::unconstrained(&mut work).now_or_never() {
        Some(done) => done,
        None => tokio::spawn(work).await.unwrap_or_else(|_| {
            Err(AppError::new(Trouble::Failed, "the server failed at this by a mistake of its own"))
        }),
    }
}

/// What a command is called over wires.
fn name(command: &Command) -> String {
    let written = serde_json::to_value(command).unwrap_or_default();
    written.get("type").and_then(serde_json::Value::as_str).unwrap_or("a command").to_owned()
}

/// Whether the agent of a session works and waits for nobody.
async fn is_at_work(client: &dyn Client) -> bool {
    match tokio::time::timeout(SOON, client.ask(Query::Snapshot)).await {
        Ok(Ok(Answer::Snapshot(snapshot))) => {
            snapshot.state.is_at_work() && snapshot.pending.is_empty() && snapshot.questions.is_empty()
        }
        Ok(Ok(_) | Err(_)) | Err(_) => false,
    }
}

/// Whether nothing can be asked of a session any more.
async fn is_gone(client: &dyn Client) -> bool {
    matches!(tokio::time::timeout(SOON, client.ask(Query::Snapshot)).await, Ok(Err(ClientError::Gone)))
}

/// Whether somebody works in a session or waits for a person.
async fn is_busy(client: &dyn Client) -> bool {
    match tokio::time::timeout(SOON, client.ask(Query::Snapshot)).await {
        Ok(Ok(Answer::Snapshot(snapshot))) => {
            snapshot.state.is_at_work()
                || snapshot.agents > 0
                || !snapshot.pending.is_empty()
                || !snapshot.questions.is_empty()
        }
        // Whoever does not answer may well be at work.
        Err(_) => true,
        Ok(_) => false,
    }
}

#[cfg(test)]
mod tests;
