//! A session that is made up.

use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt};
use jiff::Timestamp;
use neco_proto::event::*;
use neco_proto::*;
use tokio::sync::mpsc;
use tokio::task::AbortHandle;

use crate::script;

/// What a script needs: a way to let things happen, and the answers of the person.
#[derive(Clone)]
pub struct Stage {
    pub root: AgentId,
    session: SessionId,
    state: Arc<Mutex<State>>,
    answered: Arc<tokio::sync::Notify>,
}

#[derive(Default)]
struct State {
    log: Vec<Event>,
    listeners: Vec<mpsc::UnboundedSender<Event>>,
    at: AgentState,
    mode: Mode,
    decision: Option<Decision>,
    work: Option<AbortHandle>,
}

impl Stage {
    pub fn new() -> Self {
        Self { root: AgentId::new(), session: SessionId::new(), state: Arc::default(), answered: Arc::default() }
    }

    pub fn happen(&self, body: EventBody) {
        self.happen_to(self.root, body);
    }

    pub fn happen_to(&self, agent_id: AgentId, body: EventBody) {
        let mut state = self.lock();
        if let EventBody::StateChange(change) = &body {
            state.at = change.to;
        }
        let seq = state.log.len() as u64 + 1;
        let event = Event::new(seq, Timestamp::now(), self.session, agent_id, None, body);
        state.log.push(event.clone());
        state.listeners.retain(|listener| listener.send(event.clone()).is_ok());
    }

    pub fn enter(&self, to: AgentState) {
        let from = self.lock().at;
        self.happen(EventBody::StateChange(StateChange { from, to, iteration: 1 }));
    }

    /// What the person decided about the call that waits.
    pub async fn decision(&self) -> Decision {
        loop {
            if let Some(decision) = self.lock().decision.take() {
                return decision;
            }
            self.answered.notified().await;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn perform(&self, text: String) {
        self.happen(EventBody::Message(Message::user(&text)));
        let stage = self.clone();
        let work = tokio::spawn(async move { script::perform(stage, text).await });
        self.lock().work = Some(work.abort_handle());
    }

    fn obey(&self, command: Command) -> Result<(), ClientError> {
        match command {
            Command::UserMessage { content, .. } | Command::Steer { text: content } => {
                if self.lock().at.is_at_work() {
                    let message = Message::user(&content);
                    self.happen(EventBody::MessageQueued(MessageQueued { when: Admission::AfterWork, message }));
                } else {
                    self.perform(content);
                }
            }
            Command::Approve { call_id, decision } => {
                self.lock().decision = Some(decision.clone());
                self.happen(EventBody::PermissionDecision(PermissionDecision { call_id, decision, by: None }));
                self.answered.notify_one();
            }
            Command::Answer { question_id, reply } => {
                self.happen(EventBody::QuestionAnswer(QuestionAnswer { question_id, reply: Some(reply), by: None }));
                self.lock().decision = Some(Decision::Once);
                self.answered.notify_one();
            }
            Command::Cancel => {
                if let Some(work) = self.lock().work.take() {
                    work.abort();
                }
                script::complete(self, CompleteReason::Cancelled, "");
            }
            Command::SetMode { mode } => {
                self.lock().mode = mode;
                let change = ModeChange { mode: Some(mode), ..ModeChange::default() };
                self.happen(EventBody::ModeChange(change));
            }
            _ => return Err(ClientError::Refused("this session is made up".to_owned())),
        }
        Ok(())
    }
}

impl Client for Stage {
    fn send_as(&self, _: Actor, command: Command) -> BoxFuture<'_, Result<Receipt, ClientError>> {
        async move {
            self.obey(command)?;
            Ok(Receipt { seq: self.lock().log.len() as u64, message_id: None })
        }
        .boxed()
    }

    fn events(&self, since: Seq) -> EventStream {
        let (sender, receiver) = mpsc::unbounded_channel();
        let mut state = self.lock();
        let past: Vec<Event> = state.log.iter().filter(|event| event.seq > since).cloned().collect();
        state.listeners.push(sender);
        let live = futures::stream::unfold(receiver, |mut receiver| async move {
            let event = receiver.recv().await?;
            Some((event, receiver))
        });
        futures::stream::iter(past).chain(live).map(Ok).boxed()
    }

    fn ask(&self, query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
        async move {
            let state = self.lock();
            match query {
                Query::Snapshot => Ok(Answer::Snapshot(SessionSnapshot {
                    session_id: self.session,
                    root_agent: self.root,
                    last_seq: state.log.len() as u64,
                    cwd: "/made/up".to_owned(),
                    title: String::new(),
                    model: "scripted/demo".to_owned(),
                    mode: state.mode,
                    approval: ApprovalMode::default(),
                    state: state.at,
                    usage: Usage::default(),
                    aside: Usage::default(),
                    pending: Vec::new(),
                    questions: Vec::new(),
                    generation: 4,
                    todos: Vec::new(),
                    plan: None,
                    findings: Vec::new(),
                    shared: Vec::new(),
                    agents: 0,
                })),
                Query::RewindPoints => Ok(Answer::RewindPoints { points: points(&state.log) }),
                _ => Err(ClientError::Refused("this session is made up".to_owned())),
            }
        }
        .boxed()
    }
}

fn points(log: &[Event]) -> Vec<RewindPoint> {
    let said = log.iter().filter_map(|event| match &event.body {
        EventBody::Message(message) if message.role == Role::User => Some((event, message)),
        _ => None,
    });
    let point = |(index, (event, message)): (usize, (&Event, &Message))| RewindPoint {
        number: index as u64 + 1,
        message_id: message.id,
        seq: event.seq,
        ts: event.ts,
        text: message.text(),
        calls: 1,
        files: false,
        changed: ChangedFiles::default(),
    };
    said.enumerate().map(point).collect()
}
