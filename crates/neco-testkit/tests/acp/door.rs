//! A program with one session, which is open already.

use std::sync::Arc;
use std::task::Poll;

use futures::future::BoxFuture;
use futures::stream::poll_fn;
use futures::{FutureExt, StreamExt};
use neco_proto::app::opening::{OpenSession, OpenedSession};
use neco_proto::app::{App, AppError, Call, Caller};
use neco_proto::{Actor, Answer, Client, ClientError, Command, EventStream, Query, Receipt, Seq, SessionId};
use serde_json::Value;
use tokio::sync::watch;

/// The program.
pub struct Door(pub Arc<Listened>);

/// A session, and how much of it whoever follows it has taken in.
pub struct Listened {
    pub session: Arc<dyn Client>,
    pub id: SessionId,
    pub heard: watch::Sender<Seq>,
}

impl App for Door {
    fn call<'a>(&'a self, _: &'a Caller, call: Call) -> BoxFuture<'a, Result<Value, AppError>> {
        async move { Err(AppError::unknown(&call.name)) }.boxed()
    }

    fn open<'a>(&'a self, _: &'a Caller, wanted: OpenSession) -> BoxFuture<'a, Result<OpenedSession, AppError>> {
        let (id, client) = (self.0.id, Arc::clone(&self.0) as Arc<dyn Client>);
        let opened = OpenedSession { id, client, folder: wanted.folder, owner: None, since: 0, notes: Vec::new() };
        async move { Ok(opened) }.boxed()
    }
}

impl Client for Listened {
    fn send_as(&self, by: Actor, command: Command) -> BoxFuture<'_, Result<Receipt, ClientError>> {
        self.session.send_as(by, command)
    }

    fn events(&self, since: Seq) -> EventStream {
        let (heard, mut last, mut events) = (self.heard.clone(), since, self.session.events(since));
        let events = poll_fn(move |context| {
            // Whoever asks for the next one has taken in the last one.
            heard.send_replace(last);
            let next = events.poll_next_unpin(context);
            if let Poll::Ready(Some(Ok(event))) = &next {
                last = event.seq;
            }
            next
        });
        events.boxed()
    }

    fn ask(&self, query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
        self.session.ask(query)
    }
}
