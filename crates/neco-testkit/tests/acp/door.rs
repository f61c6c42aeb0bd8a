//! A program with one session, which is open already.

use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::poll_fn;
use futures::{FutureExt, StreamExt};
use neco_proto::app::opening::{OpenSession, OpenedSession};
use neco_proto::app::{App, AppError, Call, Caller};
use neco_proto::{Actor, Answer, Client, ClientError, Command, EventStream, Query, Receipt, Seq, SessionId};
use serde_json::Value;
use std::task::Poll;
use tokio_util::sync::CancellationToken;

/// The program.
pub struct Door(pub Arc<Listened>);

/// A session, and whether whoever follows it has heard all of it.
pub struct Listened {
    pub session: Arc<dyn Client>,
    pub id: SessionId,
    pub heard_all: CancellationToken,
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
        let heard_all = self.heard_all.clone();
        let end = poll_fn(move |_| {
            heard_all.cancel();
            Poll::Ready(None)
        });
        self.session.events(since).chain(end).boxed()
    }

    fn ask(&self, query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
        self.session.ask(query)
    }
}
