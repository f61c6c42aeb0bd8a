//! A program with one session, which is a recorded log.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::{FutureExt, StreamExt, stream};
use neco_proto::app::opening::{OpenSession, OpenedSession, WhichSession};
use neco_proto::app::{App, AppError, Call, Caller};
use neco_proto::{
    Actor, Answer, Client, ClientError, Command, Event, EventBody, EventStream, Query, Receipt, Role, Seq,
    SessionSnapshot, Usage,
};
use serde_json::Value;
use tokio::sync::watch;

/// A program whose session is a log.
pub struct Recorded(pub Arc<Log>);

/// A session that does nothing any more, or as much as a gate lets through.
pub struct Log {
    pub events: Vec<Event>,
    pub gate: Option<Arc<Gate>>,
}

/// How much of a log has happened.
pub struct Gate {
    /// It has happened until this event.
    pub until: watch::Sender<Seq>,
    /// How many messages were said by way of the client: they are those that the log tells of.
    pub said: watch::Sender<usize>,
}

impl App for Recorded {
    fn call<'a>(&'a self, _: &'a Caller, call: Call) -> BoxFuture<'a, Result<Value, AppError>> {
        async move { Err(AppError::unknown(&call.name)) }.boxed()
    }

    fn open<'a>(&'a self, _: &'a Caller, wanted: OpenSession) -> BoxFuture<'a, Result<OpenedSession, AppError>> {
        let first = &self.0.events[0];
        // One that is new is followed from its beginning.
        let owner = (wanted.which != WhichSession::New).then_some(1);
        let (id, client) = (first.session_id, Arc::clone(&self.0) as Arc<dyn Client>);
        let opened = OpenedSession { id, client, folder: wanted.folder, owner, since: 0, notes: Vec::new() };
        async move { Ok(opened) }.boxed()
    }
}

impl Client for Log {
    fn send_as(&self, _: Actor, command: Command) -> BoxFuture<'_, Result<Receipt, ClientError>> {
        let is_said = matches!(command, Command::UserMessage { .. });
        let message_id = self.gate.as_ref().filter(|_| is_said).map(|gate| {
            let ids = self.events.iter().filter_map(|event| match &event.body {
                EventBody::Message(message) if message.role == Role::User => Some(message.id),
                _ => None,
            });
            let id = ids.clone().nth(*gate.said.borrow()).unwrap();
            gate.said.send_modify(|said| *said += 1);
            id
        });
        let seq = self.last_seq();
        async move { Ok(Receipt { seq, message_id }) }.boxed()
    }

    fn events(&self, since: Seq) -> EventStream {
        let events: Vec<_> = self.events.iter().filter(|event| event.seq > since).cloned().collect();
        let gate = self.gate.clone();
        let happens = move |event: Event| {
            let until = gate.as_ref().map(|gate| gate.until.subscribe());
            async move {
                if let Some(mut until) = until {
                    drop(until.wait_for(|until| *until >= event.seq).await);
                }
                Ok(event)
            }
        };
        stream::iter(events).then(happens).chain(stream::pending()).boxed()
    }

    fn ask(&self, query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
        let answer = match query {
            Query::Snapshot => Ok(Answer::Snapshot(self.snapshot())),
            Query::Tree => Ok(Answer::Tree { nodes: Vec::new() }),
            _ => Err(ClientError::Refused("this is only a log".to_owned())),
        };
        async move { answer }.boxed()
    }
}

impl Log {
    /// The last event that has happened.
    fn last_seq(&self) -> Seq {
        let last = self.events.last().unwrap().seq;
        self.gate.as_ref().map_or(last, |gate| last.min(*gate.until.borrow()))
    }

    fn snapshot(&self) -> SessionSnapshot {
        let first = &self.events[0];
        let EventBody::SessionStart(start) = &first.body else { panic!("a log begins with its session") };
        let todos = self.events.iter().rev().find_map(|event| match &event.body {
            EventBody::TodoUpdate(update) if event.agent_id == first.agent_id => Some(update.todos.clone()),
            _ => None,
        });
        SessionSnapshot {
            session_id: first.session_id,
            root_agent: first.agent_id,
            last_seq: self.last_seq(),
            cwd: start.cwd.clone(),
            title: String::new(),
            model: start.model.clone(),
            mode: start.mode,
            approval: start.approval,
            state: Default::default(),
            usage: Usage::default(),
            aside: Usage::default(),
            pending: Vec::new(),
            questions: Vec::new(),
            generation: start.generation,
            todos: todos.unwrap_or_default(),
            plan: None,
            findings: Vec::new(),
            shared: Vec::new(),
            agents: 0,
        }
    }
}
