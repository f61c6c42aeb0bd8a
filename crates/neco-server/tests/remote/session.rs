//! A session that does what a test tells it, and a folder for its socket.

use std::sync::{Arc, Mutex};

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use jiff::Timestamp;
use neco_proto::app::blobs::{BlobPiece, ReadBytes};
use neco_proto::app::sessions::{ListSessions, SessionPage};
use neco_proto::app::{App, AppError, Call, Caller, Request};
use neco_proto::event::{AgentNode, AgentState, PermissionRequest, StreamChunk};
use neco_proto::{
    Actor, AgentId, Answer, ApprovalMode, Client, ClientError, Command, Event, EventBody, EventStream, Message, Mode,
    Query, Receipt, Seq, SessionId, SessionSnapshot, Usage,
};
use neco_server::{RemoteClient, Server, SocketPlaces};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::sync::watch;

/// Bytes of everything that is asked for; more than come at a time.
pub const BYTES: u64 = ReadBytes::MOST + 1000;

/// The byte at a place.
pub fn byte_at(place: u64) -> u8 {
    (place % 251) as u8
}

/// A session without an agent.
pub struct FakeSession {
    pub id: SessionId,
    agent: AgentId,
    log: Arc<Mutex<Vec<Event>>>,
    pub commands: Mutex<Vec<(Actor, Command)>>,
    /// What waits for a yes.
    pub pending: Mutex<Vec<PermissionRequest>>,
    pub approval: Mutex<ApprovalMode>,
    /// The agents below the root.
    pub below: Mutex<Vec<AgentNode>>,
    pub callers: Mutex<Vec<Caller>>,
    /// Commands wait for this, one after the other.
    pub busy: tokio::sync::Mutex<()>,
    /// How many calls that never end are being answered.
    pub stuck: Arc<watch::Sender<usize>>,
    /// The last event, and whether there will be more.
    last: watch::Sender<(Seq, bool)>,
}

/// A program with one session and nothing else.
impl App for FakeSession {
    fn call<'a>(&'a self, caller: &'a Caller, call: Call) -> BoxFuture<'a, Result<Value, AppError>> {
        self.callers.lock().unwrap().push(caller.clone());
        if call.name == "sessions.ponder" {
            self.stuck.send_modify(|stuck| *stuck += 1);
            let ends = Ends(Arc::clone(&self.stuck));
            return Box::pin(async move {
                let _ends = ends;
                std::future::pending().await
            });
        }
        if call.name == ReadBytes::ROUTE.name {
            return Box::pin(async move {
                let ReadBytes { start, end, .. } = call.clone().read()?;
                let end = end.min(start + ReadBytes::MOST).min(BYTES);
                let bytes = (start..end).map(byte_at).collect();
                call.answer::<ReadBytes>(BlobPiece { bytes, total: BYTES })
            });
        }
        assert_ne!(call.name, "sessions.stumble", "a mistake of the program");
        Box::pin(async move { call.answer::<ListSessions>(SessionPage { more: 7, ..SessionPage::default() }) })
    }

    fn stream<'a>(&'a self, _: &'a Caller, call: Call) -> BoxStream<'a, Result<Value, AppError>> {
        let items = stream::iter([1, 2, 3]).map(|number| Ok(json!(number)));
        if call.name == "sessions.ponder" {
            self.stuck.send_modify(|stuck| *stuck += 1);
            let ends = Ends(Arc::clone(&self.stuck));
            return items.chain(stream::pending()).inspect(move |_| _ = &ends).boxed();
        }
        if call.name == "sessions.stumble" {
            return items.chain(stream::once(async { panic!("a mistake of the program") })).boxed();
        }
        items.chain(stream::once(async move { Err(AppError::unknown(&call.name)) })).boxed()
    }
}

/// A call that is being answered, until it is dropped.
struct Ends(Arc<watch::Sender<usize>>);

impl Drop for Ends {
    fn drop(&mut self) {
        self.0.send_modify(|stuck| *stuck -= 1);
    }
}

impl FakeSession {
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            id: SessionId::new(),
            agent: AgentId::new(),
            log: Arc::default(),
            commands: Mutex::default(),
            pending: Mutex::default(),
            approval: Mutex::default(),
            below: Mutex::default(),
            callers: Mutex::default(),
            busy: tokio::sync::Mutex::default(),
            stuck: Arc::default(),
            last: watch::Sender::new((0, false)),
        })
    }

    pub fn add(&self, body: EventBody) -> Seq {
        self.add_with(body, serde_json::Map::new())
    }

    /// Adds an event with fields that nobody here knows.
    pub fn add_with(&self, body: EventBody, more: serde_json::Map<String, Value>) -> Seq {
        let mut log = self.log.lock().unwrap();
        let seq = log.len() as Seq + 1;
        let (session_id, agent_id) = (self.id, self.agent);
        let event = Event::new(seq, Timestamp::UNIX_EPOCH, session_id, agent_id, None, body);
        log.push(Event { more, ..event });
        self.last.send_replace((seq, false));
        seq
    }

    /// Has happened what happened in another session.
    pub fn tell(&self, events: &[Event]) {
        let mut log = self.log.lock().unwrap();
        log.extend_from_slice(events);
        self.last.send_replace((log.len() as Seq, false));
    }

    /// Says `count` things.
    pub fn babble(&self, count: usize) {
        for number in 0..count {
            self.add(chunk(&format!("word {number} ")));
        }
    }

    pub fn end(&self) {
        self.last.send_modify(|(_, over)| *over = true);
    }

    pub fn log(&self) -> Vec<Event> {
        self.log.lock().unwrap().clone()
    }
}

pub fn chunk(text: &str) -> EventBody {
    EventBody::StreamChunk(StreamChunk { text: text.to_owned() })
}

impl Client for FakeSession {
    fn send_as(&self, by: Actor, command: Command) -> BoxFuture<'_, Result<Receipt, ClientError>> {
        Box::pin(async move {
            let _free = self.busy.lock().await;
            if matches!(command, Command::Compact { .. }) {
                return Err(ClientError::Refused("there is nothing to compact".to_owned()));
            }
            let seq = self.log().len() as Seq;
            let message = match &command {
                Command::UserMessage { content, .. } | Command::Steer { text: content } => Some(Message::user(content)),
                _ => None,
            };
            let message_id = message.as_ref().map(|message| message.id);
            if let Some(message) = message {
                self.add(EventBody::Message(message));
            }
            self.commands.lock().unwrap().push((by, command));
            Ok(Receipt { seq, message_id })
        })
    }

    fn events(&self, since: Seq) -> EventStream {
        let state = (Arc::clone(&self.log), self.last.subscribe(), since);
        Box::pin(stream::unfold(state, |(log, mut last, seen)| async move {
            let (reached, _) = *last.wait_for(|(last, over)| *last > seen || *over).await.ok()?;
            let event = (reached > seen).then(|| log.lock().unwrap()[seen as usize].clone())?;
            Some((Ok(event), (log, last, seen + 1)))
        }))
    }

    fn ask(&self, query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
        Box::pin(async move {
            match query {
                Query::Snapshot => Ok(Answer::Snapshot(self.snapshot())),
                Query::Tree => Ok(Answer::Tree { nodes: self.below.lock().unwrap().clone() }),
                other => Err(ClientError::Refused(format!("{other:?} is not known here"))),
            }
        })
    }
}

impl FakeSession {
    fn snapshot(&self) -> SessionSnapshot {
        SessionSnapshot {
            session_id: self.id,
            root_agent: self.agent,
            last_seq: self.log().len() as Seq,
            cwd: "/project".to_owned(),
            title: String::new(),
            model: "play/a".to_owned(),
            mode: Mode::Agent,
            approval: *self.approval.lock().unwrap(),
            state: AgentState::Idle,
            usage: Usage::default(),
            aside: Usage::default(),
            pending: self.pending.lock().unwrap().clone(),
            questions: Vec::new(),
            generation: 8,
            todos: Vec::new(),
            plan: None,
            findings: Vec::new(),
            shared: Vec::new(),
            agents: u32::try_from(self.below.lock().unwrap().iter().filter(|node| node.state.is_live()).count())
                .unwrap(),
        }
    }
}

/// A session that is served.
pub struct Stage {
    pub session: Arc<FakeSession>,
    pub server: Server,
    pub places: SocketPlaces,
    pub folder: TempDir,
}

impl Stage {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let places = SocketPlaces::new(folder.path().join("sockets"), Vec::new());
        let session = FakeSession::new();
        let server = Server::open(session.clone(), session.clone(), session.id, &places, "0.0.0-test").unwrap();
        Self { session, server, places, folder }
    }

    pub async fn window(&self) -> RemoteClient {
        RemoteClient::attach(&self.places, self.session.id).await.unwrap()
    }

    pub fn socket(&self) -> std::path::PathBuf {
        self.folder.path().join("sockets").join(format!("{}.sock", self.session.id))
    }
}
