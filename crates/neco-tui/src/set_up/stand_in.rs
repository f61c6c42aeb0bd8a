//! A session that is none: notes and questions for the window, answers from it. Lives in memory only.

use std::sync::{Arc, Mutex, PoisonError};

use futures::StreamExt;
use futures::future::BoxFuture;
use jiff::Timestamp;
use neco_proto::event::{AgentState, Notification, NotificationLevel, QuestionAnswer, StateChange};
use neco_proto::{
    Actor, AgentId, Answer, Client, ClientError, Command, Event, EventBody, EventStream, ItemAnswer, Query, Question,
    QuestionId, QuestionItem, Receipt, Reply, Seq, SessionId, SessionSnapshot, Subject,
};
use tokio::sync::{mpsc, watch};

/// What a person who has no model is told when they write something.
const NO_MODEL: &str = "No model yet: choose one above; Esc leaves";

/// The session that the window sees.
pub struct StandIn {
    session: SessionId,
    agent: AgentId,
    cwd: String,
    log: Arc<Log>,
    open: Mutex<Option<Question>>,
    answers: mpsc::UnboundedSender<Option<ItemAnswer>>,
}

/// What happened so far.
struct Log {
    events: Mutex<Vec<Event>>,
    /// How many events there are, and whether there will be no more.
    grown: watch::Sender<(usize, bool)>,
}

impl Log {
    fn len(&self) -> usize {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn get(&self, at: usize) -> Option<Event> {
        self.events.lock().unwrap_or_else(PoisonError::into_inner).get(at).cloned()
    }
}

/// The other end: what the person answered.
pub struct Answers(mpsc::UnboundedReceiver<Option<ItemAnswer>>);

impl StandIn {
    /// An empty one.
    pub fn new(cwd: String) -> (Arc<Self>, Answers) {
        // Unbounded: a person answers one question at a time.
        let (answers, answered) = mpsc::unbounded_channel();
        let stand_in = Self {
            session: SessionId::new(),
            agent: AgentId::new(),
            cwd,
            log: Arc::new(Log { events: Mutex::default(), grown: watch::channel((0, false)).0 }),
            open: Mutex::default(),
            answers,
        };
        (Arc::new(stand_in), Answers(answered))
    }

    /// Tells the person something.
    pub fn say(&self, level: NotificationLevel, text: impl Into<String>) {
        self.happen(EventBody::Notification(Notification::new(level, text.into())));
    }

    /// Something is waited for, which Esc stops; or no more.
    pub fn works(&self, works: bool) {
        let (idle, works_now) = (AgentState::Idle, AgentState::Streaming);
        let (from, to) = if works { (idle, works_now) } else { (works_now, idle) };
        self.happen(EventBody::StateChange(StateChange { from, to, iteration: 1 }));
    }

    /// Asks the person something, of which one item is to be answered.
    pub fn ask(&self, items: Vec<QuestionItem>) {
        let subject = Subject::Choices { items };
        let question = Question { question_id: QuestionId::new(), call_id: None, subject };
        // Whoever looks at how things stand sees both the question and its event, or neither.
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        *open = Some(question.clone());
        self.happen(EventBody::Question(question));
    }

    /// There will be no more.
    pub fn end(&self) {
        self.log.grown.send_modify(|(_, over)| *over = true);
    }

    fn happen(&self, body: EventBody) {
        let mut events = self.log.events.lock().unwrap_or_else(PoisonError::into_inner);
        let seq = events.len() as Seq + 1;
        let (session_id, agent_id) = (self.session, self.agent);
        events.push(Event::new(seq, Timestamp::now(), session_id, agent_id, None, body));
        let count = events.len();
        drop(events);
        self.log.grown.send_modify(|grown| grown.0 = count);
    }

    fn take(&self, command: Command) -> Result<Receipt, ClientError> {
        match command {
            Command::Answer { question_id, reply } => self.answered(question_id, reply)?,
            Command::Cancel | Command::StopAll | Command::Shutdown => {
                let _ = self.answers.send(None);
            }
            _ => return Err(ClientError::Refused(NO_MODEL.to_owned())),
        }
        Ok(Receipt { seq: self.log.len() as Seq, message_id: None })
    }

    fn answered(&self, question_id: QuestionId, reply: Reply) -> Result<(), ClientError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.take_if(|question| question.question_id == question_id).is_none() {
            return Err(ClientError::Refused("No longer asked".to_owned()));
        }
        drop(open);
        let answer = match &reply {
            Reply::Choices { answers } => answers.iter().find(|answer| **answer != ItemAnswer::default()).cloned(),
            _ => None,
        };
        self.happen(EventBody::QuestionAnswer(QuestionAnswer { question_id, reply: Some(reply), by: None }));
        let _ = self.answers.send(answer);
        Ok(())
    }

    fn snapshot(&self) -> Result<SessionSnapshot, ClientError> {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let (last, open) = (self.log.len(), open.clone());
        // The fields that say nothing here are left to what they are without being said.
        let value = serde_json::json!({
            "session_id": self.session, "root_agent": self.agent, "last_seq": last, "cwd": self.cwd,
            "model": "no model yet", "mode": "agent", "approval": "ask_first", "state": "idle",
            "usage": neco_proto::Usage::default(), "pending": [], "questions": open.into_iter().collect::<Vec<_>>(),
        });
        serde_json::from_value(value).map_err(|error| ClientError::Refused(error.to_string()))
    }
}

impl Answers {
    /// What the person answers next; none when they do not want to.
    pub async fn next(&mut self) -> Option<ItemAnswer> {
        self.0.recv().await.flatten()
    }

    /// What came before something was asked is no answer to it.
    pub fn forget(&mut self) {
        while self.0.try_recv().is_ok() {}
    }
}

impl Client for StandIn {
    fn send_as(&self, _: Actor, command: Command) -> BoxFuture<'_, Result<Receipt, ClientError>> {
        Box::pin(async move { self.take(command) })
    }

    fn events(&self, since: Seq) -> EventStream {
        let log = Arc::clone(&self.log);
        let grown = log.grown.subscribe();
        let at = usize::try_from(since).unwrap_or(usize::MAX);
        futures::stream::unfold((log, grown, at), |(log, mut grown, at)| async move {
            loop {
                let (_, over) = *grown.borrow_and_update();
                if let Some(event) = log.get(at) {
                    return Some((Ok(event), (log, grown, at + 1)));
                }
                if over || grown.changed().await.is_err() {
                    return None;
                }
            }
        })
        .boxed()
    }

    fn ask(&self, query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
        Box::pin(async move {
            match query {
                Query::Snapshot => Ok(Answer::Snapshot(self.snapshot()?)),
                _ => Err(ClientError::Refused(NO_MODEL.to_owned())),
            }
        })
    }
}
