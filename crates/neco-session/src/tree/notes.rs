//! What is noticed of agents as their events are recorded. Whoever records never waits for the tree: notes
//! of one agent add up until they are taken.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use neco_proto::event::{AgentComplete, ModeChange};
use neco_proto::{AgentId, CallId, Event, EventBody, MessageId, QuestionId, Role, Usage};
use tokio::sync::Notify;
use tokio::time::Instant;

use super::slot::InFlight;

/// What is noticed of agents.
#[derive(Default)]
pub(super) struct Notes {
    inner: Mutex<Inner>,
    fresh: Notify,
}

#[derive(Default)]
struct Inner {
    notes: HashMap<AgentId, Note>,
    /// Which agent waits for a decision or an answer.
    calls: HashMap<CallId, AgentId>,
    questions: HashMap<QuestionId, AgentId>,
    /// How long each waited for the person or was paused.
    waits: HashMap<AgentId, Waits>,
    /// When each was last heard of.
    heard: HashMap<AgentId, Instant>,
    closed: bool,
}

/// How long an agent did nothing because others wanted it so.
#[derive(Default)]
struct Waits {
    before: Duration,
    since: Option<Instant>,
    paused: bool,
}

/// What is noticed of one agent.
#[derive(Debug, Default)]
pub(super) struct Note {
    pub usage: Option<Usage>,
    /// Its last words.
    pub said: Option<String>,
    /// What went wrong last.
    pub error: Option<String>,
    /// Ends of its work.
    pub completes: Vec<AgentComplete>,
    pub at_work: Option<bool>,
    /// Messages that entered its conversation.
    pub admitted: Vec<MessageId>,
    /// How it works from now on.
    pub modes: Vec<ModeChange>,
    /// Whether its task ended, and whether by itself.
    pub gone: Option<Gone>,
}

/// How an agent's task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Gone {
    /// As it should.
    Ended,
    /// It could not record its events any more.
    Lost,
    /// It panicked.
    Crashed,
}

impl Notes {
    /// Takes note of an event. Called while events have their order, so it does next to nothing.
    pub fn take_note(&self, event: &Event) {
        let agent = event.agent_id;
        let mut inner = self.lock();
        if let Some(heard) = inner.heard.get_mut(&agent) {
            *heard = Instant::now();
        }
        let fresh = inner.note(event);
        drop(inner);
        if fresh {
            self.fresh.notify_one();
        }
    }

    /// An agent's task ended.
    pub fn gone(&self, agent: AgentId, how: Gone) {
        self.lock().notes.entry(agent).or_default().gone = Some(how);
        self.fresh.notify_one();
    }

    /// From now on it is noticed when an agent was last heard of.
    pub fn listen_to(&self, agent: AgentId) {
        self.lock().heard.insert(agent, Instant::now());
    }

    /// Nobody listens to it any more.
    pub fn forget(&self, agent: AgentId) {
        let mut inner = self.lock();
        inner.heard.remove(&agent);
        inner.waits.remove(&agent);
        // What it used is paid for, whoever it was.
        let used = inner.notes.remove(&agent).and_then(|note| note.usage);
        if used.is_some() {
            inner.of(agent).usage = used;
        }
        inner.calls.retain(|_, whose| *whose != agent);
        inner.questions.retain(|_, whose| *whose != agent);
    }

    /// When it was last heard of, unless it waits for the person.
    pub fn silent_since(&self, agent: AgentId) -> Option<Instant> {
        let inner = self.lock();
        let waits = inner.calls.values().chain(inner.questions.values()).any(|whose| *whose == agent);
        inner.heard.get(&agent).copied().filter(|_| !waits)
    }

    pub fn paused(&self, agent: AgentId) {
        let mut inner = self.lock();
        inner.waits.entry(agent).or_default().paused = true;
        inner.count_wait(agent);
    }

    /// An agent goes on: it is listened to from now on.
    pub fn goes_on(&self, agent: AgentId) {
        let mut inner = self.lock();
        inner.waits.entry(agent).or_default().paused = false;
        inner.count_wait(agent);
        inner.heard.insert(agent, Instant::now());
    }

    /// How long an agent waited for the person or was paused.
    pub fn waited(&self, agent: AgentId) -> Duration {
        let inner = self.lock();
        let Some(waits) = inner.waits.get(&agent) else { return Duration::ZERO };
        waits.before + waits.since.map_or(Duration::ZERO, |since| since.elapsed())
    }

    /// Who waits for a decision on a call.
    pub fn asks_about(&self, call: &CallId) -> Option<AgentId> {
        self.lock().calls.get(call).copied()
    }

    /// Who waits for the answer to a question.
    pub fn asked(&self, question: QuestionId) -> Option<AgentId> {
        self.lock().questions.get(&question).copied()
    }

    /// No more notes are taken.
    pub fn close(&self) {
        self.lock().closed = true;
        self.fresh.notify_one();
    }

    /// Ready when there are notes; says whether there are, or none will come any more.
    pub async fn is_next(&self) -> bool {
        loop {
            {
                let inner = self.lock();
                if inner.closed || !inner.notes.is_empty() {
                    return !inner.closed;
                }
            }
            self.fresh.notified().await;
        }
    }

    /// All notes that there are.
    pub fn take(&self) -> Vec<(AgentId, Note)> {
        self.lock().notes.drain().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    /// Whether something is to be done about it.
    fn note(&mut self, event: &Event) -> bool {
        if self.closed {
            return false;
        }
        let fresh = self.note_body(event);
        if !self.calls.is_empty() || !self.questions.is_empty() || self.waits.contains_key(&event.agent_id) {
            self.count_wait(event.agent_id);
        }
        fresh
    }

    /// Begins or ends the time that an agent waits.
    fn count_wait(&mut self, agent: AgentId) {
        let asks = self.calls.values().chain(self.questions.values()).any(|whose| *whose == agent);
        let waits = self.waits.entry(agent).or_default();
        match (asks || waits.paused, waits.since) {
            (true, None) => waits.since = Some(Instant::now()),
            (false, Some(since)) => {
                waits.before += since.elapsed();
                waits.since = None;
            }
            (true, Some(_)) | (false, None) => {}
        }
    }

    fn note_body(&mut self, event: &Event) -> bool {
        let agent = event.agent_id;
        match &event.body {
            EventBody::PermissionRequest(request) => drop(self.calls.insert(request.call_id.clone(), agent)),
            EventBody::PermissionDecision(decided) => drop(self.calls.remove(&decided.call_id)),
            EventBody::ToolCallEnd(end) => drop(self.calls.remove(&end.call_id)),
            EventBody::Question(question) => drop(self.questions.insert(question.question_id, agent)),
            EventBody::QuestionAnswer(answer) => drop(self.questions.remove(&answer.question_id)),
            _ => return self.note_work(event),
        }
        false
    }

    fn note_work(&mut self, event: &Event) -> bool {
        let agent = event.agent_id;
        match &event.body {
            EventBody::Usage(used) => {
                let usage = self.of(agent).usage.get_or_insert_default();
                *usage += used.usage;
            }
            EventBody::Error(error) => self.of(agent).error = Some(error.message.clone()),
            EventBody::AgentComplete(complete) => {
                let note = self.of(agent);
                note.completes.push(complete.clone());
                note.at_work = Some(false);
            }
            EventBody::StateChange(change) => self.of(agent).at_work = Some(change.to.is_at_work()),
            EventBody::ModeChange(change) => self.of(agent).modes.push(change.clone()),
            EventBody::Message(message) => {
                let note = self.of(agent);
                match message.role {
                    Role::User => note.admitted.push(message.id),
                    Role::Assistant => {
                        note.said = Some(message.text()).filter(|text| !text.trim().is_empty());
                    }
                    Role::Tool => {}
                }
            }
            // Nothing else concerns anybody but the agent itself.
            _ => return false,
        }
        true
    }

    fn of(&mut self, agent: AgentId) -> &mut Note {
        self.notes.entry(agent).or_default()
    }
}

impl Note {
    /// What entered its conversation is no longer under way.
    pub fn settle(&self, in_flight: &mut InFlight) {
        for message in &self.admitted {
            in_flight.remove(*message);
        }
    }
}
