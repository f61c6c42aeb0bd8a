//! A session's `Client` that knows whether somebody follows the session, and how far.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use futures::StreamExt;
use futures::future::BoxFuture;
use neco_proto::{Actor, Answer, Client, ClientError, Command, EventStream, Query, Receipt, Seq};
use tokio::sync::watch;

/// The way to a session as everybody else is given it.
pub(crate) struct Watched {
    inner: Arc<dyn Client>,
    followers: Arc<Followers>,
}

/// Who follows a session.
#[derive(Default)]
pub(crate) struct Followers {
    there: watch::Sender<usize>,
    /// The last event that one of them was handed.
    seen: AtomicU64,
}

impl Followers {
    /// Whether somebody follows it.
    pub fn are_there(&self) -> bool {
        *self.there.borrow() > 0
    }

    /// Ready when nobody follows it.
    pub async fn are_gone(&self) {
        let mut there = self.there.subscribe();
        if there.wait_for(|there| *there == 0).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    /// Whether somebody follows it, or was handed this event.
    pub fn know(&self, seq: Seq) -> bool {
        self.are_there() || self.seen.load(Ordering::SeqCst) >= seq
    }
}

/// One who follows, until this is dropped.
struct Follower(Arc<Followers>);

impl Follower {
    fn new(followers: &Arc<Followers>) -> Self {
        followers.there.send_modify(|there| *there += 1);
        Self(Arc::clone(followers))
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        self.0.there.send_modify(|there| *there -= 1);
    }
}

impl Watched {
    /// Counts those who follow a session by this.
    pub fn new(inner: Arc<dyn Client>) -> (Self, Arc<Followers>) {
        let followers = Arc::<Followers>::default();
        (Self { inner, followers: Arc::clone(&followers) }, followers)
    }
}

impl Client for Watched {
    fn send_as(&self, by: Actor, command: Command) -> BoxFuture<'_, Result<Receipt, ClientError>> {
        self.inner.send_as(by, command)
    }

    fn events(&self, since: Seq) -> EventStream {
        let follower = Follower::new(&self.followers);
        let events = self.inner.events(since).inspect(move |event| {
            if let Ok(event) = event {
                follower.0.seen.fetch_max(event.seq, Ordering::SeqCst);
            }
        });
        events.boxed()
    }

    fn ask(&self, query: Query) -> BoxFuture<'_, Result<Answer, ClientError>> {
        self.inner.ask(query)
    }
}
