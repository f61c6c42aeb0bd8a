//! One connection of a window, from its hello to its end: over a Unix socket and over a WebSocket alike.

use std::collections::HashMap;
use std::io;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use neco_proto::app::opening::OpenSession;
use neco_proto::app::{self, App, AppError, Call, Caller};
use neco_proto::{Client, ClientError, PROTOCOL, Receipt, Seq, SessionId};
use serde_json::{Map, Value};
use tokio::sync::mpsc::{self, Sender};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use tokio::task::{AbortHandle, JoinSet};

use super::frames::{Asked, Numbered, OLDEST, Opened, Reply, Request, Sent, Trouble, id_of, line};
use super::lines::{OUTBOX, Read};
use super::peer::Unwelcome;
use super::transport::{Reader, Writer};

/// Bytes of a request. A message may come with pictures.
const LONGEST_REQUEST: usize = 64 * 1024 * 1024;

/// Bytes of a hello; nobody has to be trusted with more before it is heard.
pub(super) const LONGEST_HELLO: usize = 64 * 1024;

/// Bytes of replies that wait for one window to read them.
const WAITING: usize = 8 * 1024 * 1024;

/// Bytes that room is counted in.
const UNIT: usize = 1024;

/// Bytes of a reply that a window reads.
pub(crate) const LONGEST_REPLY: usize = 256 * 1024 * 1024;

/// How long a window may take to say hello.
const HELLO: Duration = Duration::from_secs(5);

/// How long one may that is not welcome: it has a place of those who are.
const SHORT_HELLO: Duration = Duration::from_secs(1);

/// Questions that are worked on at a time.
const AT_WORK: usize = 8;

/// Commands, and beside them questions, that have no answer yet; more are refused.
const UNANSWERED: usize = 32;

/// Bytes of all that was asked and has no answer yet; more is refused.
const ASKED: usize = 128 * 1024 * 1024;

/// The same for a connection over a network.
const WEB_ASKED: usize = 16 * 1024 * 1024;

/// Streams of events, and answers that come bit by bit, on one connection.
const STREAMS: usize = 4;

/// The same where one connection is for many sessions.
const WEB_STREAMS: usize = 64;

/// Whether there is still something that is served.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Over {
    /// There is.
    #[default]
    Not,
    /// It has come to its end.
    Ended,
    /// Another process goes on with it: whoever follows something asks there for what comes next.
    Elsewhere,
}

/// Who answers what is asked over connections.
pub(crate) trait Host: Send + Sync + 'static {
    /// The version of the program.
    fn version(&self) -> &str;

    /// Whether this session is served here, or the program where none is named.
    fn serves(&self, session: Option<SessionId>) -> bool;

    /// Whether something more may be asked now; a process of this machine may always.
    fn may_ask(&self) -> bool {
        true
    }

    /// Whether everything that is served has ended.
    fn over(&self) -> watch::Receiver<Over>;

    /// The session that a question is about.
    fn client(&self, session: Option<SessionId>) -> BoxFuture<'_, Result<Arc<dyn Client>, ClientError>>;

    /// Hands over a command.
    fn send(&self, session: Option<SessionId>, sent: Sent) -> BoxFuture<'_, Result<Receipt, ClientError>>;

    /// The program that calls are made to.
    fn app(&self) -> &dyn App;

    /// Who somebody is that claims to be `claimed`.
    fn caller(&self, claimed: Caller) -> Caller;

    /// Whether a call changes something, so that it is done to its end whoever waits for it.
    fn changes(&self, call: &Call) -> bool;

    /// Does `work` once for each key, and from when it is begun to its end also when nobody waits for it any more; `asked`
    /// is all of what is asked.
    fn once(&self, key: Option<String>, asked: Vec<u8>, work: BoxFuture<'static, Reply>) -> BoxFuture<'static, Reply>;

    /// Opens a session.
    fn open(&self, wanted: OpenSession) -> BoxFuture<'_, Result<Opened, AppError>>;
}

/// Serves a window until it goes or what is served ends.
pub(crate) async fn serve(
    (read, write): (Reader, Writer),
    host: Arc<dyn Host>,
    welcome: Result<(), Unwelcome>,
) -> io::Result<()> {
    let (lines_in, lines) = mpsc::channel(OUTBOX);
    let is_web = matches!(read, Reader::Web(_));
    let connection = Connection {
        host,
        session: None,
        outbox: Outbox { lines: lines_in, room: Arc::new(Semaphore::new(WAITING / UNIT)) },
        commands: Arc::new(Semaphore::new(UNANSWERED)),
        questions: Arc::new(Semaphore::new(UNANSWERED)),
        at_work: Arc::new(Semaphore::new(AT_WORK)),
        streams: Arc::new(Semaphore::new(if is_web { WEB_STREAMS } else { STREAMS })),
        asked: Arc::new(Semaphore::new(if is_web { WEB_ASKED } else { ASKED } / UNIT)),
        tasks: JoinSet::new(),
        cancellable: HashMap::new(),
    };
    let writing = write.say_all(lines);
    tokio::pin!(writing);
    tokio::select! {
        written = &mut writing => written,
        () = connection.talk(read, welcome) => writing.await,
    }
}

/// The way to a window, with room for so many bytes that it has not read yet.
#[derive(Clone)]
struct Outbox {
    lines: Sender<Waiting>,
    room: Arc<Semaphore>,
}

/// A line on its way, and the room that it takes up.
struct Waiting {
    line: Vec<u8>,
    _room: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Waiting {
    fn as_ref(&self) -> &[u8] {
        &self.line
    }
}

impl Outbox {
    /// Sends a line once there is room for it, for one that is too big all of it; false when nobody listens any more.
    async fn send(&self, line: Vec<u8>) -> bool {
        let units = (line.len() / UNIT + 1).min(WAITING / UNIT);
        let units = u32::try_from(units).unwrap_or(u32::MAX);
        match Arc::clone(&self.room).acquire_many_owned(units).await {
            Ok(room) => self.lines.send(Waiting { line, _room: room }).await.is_ok(),
            Err(_) => false,
        }
    }
}

struct Connection {
    host: Arc<dyn Host>,
    /// The session that all is about that names no other.
    session: Option<SessionId>,
    outbox: Outbox,
    /// Slow questions keep no command waiting.
    commands: Arc<Semaphore>,
    questions: Arc<Semaphore>,
    /// Questions that are not only waiting.
    at_work: Arc<Semaphore>,
    streams: Arc<Semaphore>,
    /// Room for what was asked and has no answer yet.
    asked: Arc<Semaphore>,
    /// What is being worked on; it ends with the connection.
    tasks: JoinSet<()>,
    /// What of it ends when nobody waits for it any more.
    cancellable: HashMap<u64, AbortHandle>,
}

impl Connection {
    async fn talk(mut self, mut lines: Reader, welcome: Result<(), Unwelcome>) {
        if !self.hello(&mut lines, welcome).await {
            return;
        }
        lines.allow(LONGEST_REQUEST);
        let mut over = self.host.over();
        loop {
            let read = tokio::select! {
                biased;
                _ = over.wait_for(|over| *over != Over::Not) => break,
                Some(_) = self.tasks.join_next() => {
                    self.cancellable.retain(|_, task| !task.is_finished());
                    continue;
                }
                read = lines.next() => read,
            };
            match read {
                Ok(Read::Line(line)) if self.take(&line).await => {}
                Ok(Read::TooLong) => {
                    let words = format!("a line is longer than {LONGEST_REQUEST} bytes");
                    return self.answer(0, Reply::Error(Trouble::Refused(words))).await;
                }
                Ok(Read::Line(_) | Read::End) | Err(_) => return,
            }
        }
        if *over.borrow() == Over::Elsewhere {
            self.cancellable.values().for_each(AbortHandle::abort);
        }
        // The session is over, so what is asked of it has an answer and every stream an end.
        while self.tasks.join_next().await.is_some() {}
    }

    /// Hears the hello and answers it; false when nothing more is to be said.
    async fn hello(&mut self, lines: &mut Reader, welcome: Result<(), Unwelcome>) -> bool {
        let patience = if welcome.is_ok() { HELLO } else { SHORT_HELLO };
        let Ok(Ok(Read::Line(first))) = tokio::time::timeout(patience, lines.next()).await else { return false };
        let (id, heard) = match serde_json::from_slice(&first) {
            Ok(Numbered { id, says: Request::Hello { protocol, session_id, version }, .. }) => {
                self.session = session_id;
                let own = self.host.serves(session_id);
                (id, welcome.and_then(|()| self.understood(protocol, version, own)))
            }
            Ok(Numbered {
                id,
                says:
                    Request::Send(_)
                    | Request::Ask(_)
                    | Request::Events { .. }
                    | Request::Call(_)
                    | Request::Watch(_)
                    | Request::Open(_)
                    | Request::Cancel,
                ..
            }) => (id, Err(Unwelcome::NoHello)),
            Err(_) => (id_of(&first).unwrap_or_default(), Err(Unwelcome::NotUnderstood)),
        };
        let is_welcome = heard.is_ok();
        let reply = match heard {
            Ok(protocol) => {
                Reply::Welcome { protocol, version: self.host.version().to_owned(), pid: std::process::id() }
            }
            Err(why) => Reply::NotWelcome { why: why.to_string() },
        };
        self.answer(id, reply).await;
        is_welcome
    }

    /// The protocol that is spoken with a window that speaks `protocol` and all that are older.
    fn understood(&self, protocol: u32, version: Option<String>, own_session: bool) -> Result<u32, Unwelcome> {
        if protocol < OLDEST {
            let theirs = version.unwrap_or_else(|| "of an older version".to_owned());
            return Err(Unwelcome::OldProtocol { own: self.host.version().to_owned(), theirs, protocol });
        }
        own_session.then_some(protocol.min(PROTOCOL)).ok_or(Unwelcome::OtherSession)
    }

    /// Begins what a line asks for; false when the line makes no sense at all.
    async fn take(&mut self, line: &[u8]) -> bool {
        match serde_json::from_slice(line) {
            // It asks for nothing, and makes room.
            Ok(Numbered { id, says: Request::Cancel, .. }) => {
                self.cancellable.remove(&id).iter().for_each(AbortHandle::abort);
                true
            }
            Ok(Numbered { id, session, key, says }) => {
                let units = u32::try_from(line.len() / UNIT + 1).unwrap_or(u32::MAX);
                let room = Arc::clone(&self.asked).try_acquire_many_owned(units);
                match room {
                    _ if !self.host.may_ask() => {
                        self.refuse(id, "that is too much in one minute".to_owned()).await;
                    }
                    Err(_) => self.refuse(id, "what was asked before fills the room that there is".to_owned()).await,
                    Ok(room) => {
                        let once = Once::read(key, line);
                        self.begin(id, session.or(self.session), once, says, room).await;
                    }
                }
                true
            }
            Err(error) => {
                let id = id_of(line);
                let words = format!("the request is not understood: {error}");
                self.answer(id.unwrap_or_default(), Reply::Error(Trouble::Refused(words))).await;
                id.is_some()
            }
        }
    }

    async fn begin(
        &mut self,
        id: u64,
        session: Option<SessionId>,
        once: Once,
        request: Request,
        room: OwnedSemaphorePermit,
    ) {
        let (host, outbox) = (Arc::clone(&self.host), self.outbox.clone());
        match request {
            Request::Hello { .. } => {
                self.refuse(id, "hello was said already".to_owned()).await;
            }
            Request::Events { since } => {
                let follows = async move {
                    match host.client(session).await {
                        Ok(client) => events(id, since, client, &outbox).await,
                        Err(error) => drop(say(id, Reply::Error(error.into()), &outbox).await),
                    }
                };
                self.follow(id, broke(), follows, room).await;
            }
            Request::Watch(asked) => {
                let follows = async move { items(id, asked, host.as_ref(), &outbox).await };
                self.follow(id, call_broke(), follows, room).await;
            }
            Request::Send(sent) => {
                let reply = async move {
                    let taken = host.send(session, sent).await;
                    taken.map(|Receipt { seq, message_id }| Reply::Taken { seq, message_id }).into()
                };
                let reply = once.of(self.host.as_ref(), caught(reply, broke()));
                self.command(id, reply, room).await;
            }
            Request::Open(wanted) => {
                let reply = async move { host.open(*wanted).await.map_or_else(Reply::NotCalled, Reply::Opened) };
                let reply = once.of(self.host.as_ref(), caught(reply, call_broke()));
                self.command(id, reply, room).await;
            }
            Request::Call(Asked { caller, call }) => {
                let changes = self.host.changes(&call);
                let reply = async move {
                    let caller = host.caller(caller);
                    host.app().call(&caller, call).await.map_or_else(Reply::NotCalled, Reply::Called)
                };
                let reply = caught(reply, call_broke());
                let reply = if changes { once.of(self.host.as_ref(), reply) } else { reply };
                self.question(id, reply, room).await;
            }
            Request::Ask(query) => {
                let reply = async move {
                    match host.client(session).await {
                        Ok(client) => client.ask(query).await.map(|answer| Reply::Answer(Box::new(answer))).into(),
                        Err(error) => Reply::Error(error.into()),
                    }
                };
                self.question(id, caught(reply, broke()), room).await;
            }
            Request::Cancel => {}
        }
    }

    /// Works on a stream, if there are not too many.
    async fn follow(
        &mut self,
        id: u64,
        broke: Reply,
        stream: impl Future<Output = ()> + Send + 'static,
        room: OwnedSemaphorePermit,
    ) {
        let Ok(permit) = Arc::clone(&self.streams).try_acquire_owned() else {
            return self.refuse(id, "this connection has as many streams as it may; cancel one".to_owned()).await;
        };
        let outbox = self.outbox.clone();
        let task = self.tasks.spawn(async move {
            if AssertUnwindSafe(stream).catch_unwind().await.is_err() {
                say(id, broke, &outbox).await;
            }
            drop((permit, room));
        });
        self.cancellable.insert(id, task);
    }

    /// Hands over a command and waits aside for its reply. Commands reach the session in the order in which they were
    /// said: each is on its way before the next one is read.
    async fn command(&mut self, id: u64, mut reply: BoxFuture<'static, Reply>, room: OwnedSemaphorePermit) {
        let Ok(permit) = Arc::clone(&self.commands).try_acquire_owned() else {
            return self.refuse(id, format!("{UNANSWERED} commands wait for their answers already")).await;
        };
        // Also when this task has done much in one go: whoever is not polled is not in line.
        let at_once = tokio::task::unconstrained(&mut reply).now_or_never();
        let outbox = self.outbox.clone();
        self.tasks.spawn(async move {
            let reply = match at_once {
                Some(reply) => reply,
                None => reply.await,
            };
            say(id, reply, &outbox).await;
            drop((permit, room));
        });
    }

    /// Works out the reply to a question, once there is a place for that, as long as somebody waits for it.
    async fn question(&mut self, id: u64, reply: BoxFuture<'static, Reply>, room: OwnedSemaphorePermit) {
        let Ok(permit) = Arc::clone(&self.questions).try_acquire_owned() else {
            return self.refuse(id, format!("{UNANSWERED} questions wait for their answers already")).await;
        };
        let (at_work, outbox) = (Arc::clone(&self.at_work), self.outbox.clone());
        let task = self.tasks.spawn(async move {
            let _place = at_work.acquire().await;
            say(id, reply.await, &outbox).await;
            drop((permit, room));
        });
        self.cancellable.insert(id, task);
    }

    async fn refuse(&self, id: u64, words: String) {
        self.answer(id, Reply::Error(Trouble::Refused(words))).await;
    }

    async fn answer(&self, id: u64, reply: Reply) {
        say(id, reply, &self.outbox).await;
    }
}

/// The key of a line, and what it asks for.
struct Once {
    key: Option<String>,
    asked: Vec<u8>,
}

impl Once {
    fn read(key: Option<String>, line: &[u8]) -> Self {
        let read = |_: &String| serde_json::from_slice::<Map<String, Value>>(line).ok();
        let fields = key.as_ref().and_then(read).map(|mut fields| {
            // Whoever says it again may give it another number.
            fields.remove("id");
            Value::Object(fields).to_string().into_bytes()
        });
        Self { key, asked: fields.unwrap_or_default() }
    }

    fn of(self, host: &dyn Host, work: BoxFuture<'static, Reply>) -> BoxFuture<'static, Reply> {
        host.once(self.key, self.asked, work)
    }
}

/// A reply also where working it out panics: whoever waits for it learns that.
fn caught(reply: impl Future<Output = Reply> + Send + 'static, broke: Reply) -> BoxFuture<'static, Reply> {
    AssertUnwindSafe(reply).catch_unwind().map(|reply| reply.unwrap_or(broke)).boxed()
}

/// What is said of a mistake of this program.
const BROKE: &str = "the process that has the session open failed at this by a mistake of its own";

fn broke() -> Reply {
    Reply::Error(Trouble::Refused(BROKE.to_owned()))
}

fn call_broke() -> Reply {
    Reply::NotCalled(AppError::new(app::Trouble::Failed, BROKE))
}

/// Sends the events after `since` until there are no more. A window that does not read makes this
/// wait, and nobody else: it is served from the log when it reads again.
async fn events(id: u64, since: Seq, client: Arc<dyn Client>, outbox: &Outbox) {
    let mut events = client.events(since);
    while let Some(event) = events.next().await {
        let (reply, over) = match event {
            Ok(event) => (Reply::Event(Box::new(event)), false),
            Err(error) => (Reply::Error(error.into()), true),
        };
        if !say(id, reply, outbox).await || over {
            return;
        }
    }
    say(id, Reply::End, outbox).await;
}

/// Sends an answer bit by bit. A window that does not read makes whoever works on it wait.
async fn items(id: u64, Asked { caller, call }: Asked, host: &dyn Host, outbox: &Outbox) {
    let caller = host.caller(caller);
    let mut items = host.app().stream(&caller, call);
    while let Some(item) = items.next().await {
        let (reply, over) =
            item.map_or_else(|error| (Reply::NotCalled(error), true), |item| (Reply::Item(item), false));
        if !say(id, reply, outbox).await || over {
            return;
        }
    }
    say(id, Reply::End, outbox).await;
}

/// Says something; false when nobody listens any more.
async fn say(id: u64, reply: Reply, outbox: &Outbox) -> bool {
    let said = match line(id, reply) {
        Ok(said) if said.len() <= LONGEST_REPLY => Ok(said),
        Ok(said) => Err(format!("{} bytes are too much for a window in another process", said.len())),
        Err(error) => Err(format!("it can't be written: {error}")),
    };
    let said = said.or_else(|words| line(id, Reply::Error(ClientError::Refused(words).into())));
    match said {
        Ok(said) => outbox.send(said).await,
        Err(_) => false,
    }
}
