//! The append-only event log.

use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use neco_proto::{Event, Seq, SessionId};

use crate::error::StoreError;

/// When an append is good enough to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Written within 100 ms, together with whatever else waits; the append does not wait for it. A process that is
    /// killed then loses nothing of it. What only shows how the work goes on is safe from a loss of power with the
    /// first other event that follows.
    Soon,
    /// On the disk, against loss of power too, before the append is ready.
    Now,
}

/// The append-only event log of all sessions. Each has one writer at a time; readers never wait for it.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), neco_store::StoreError> {
/// use neco_proto::SessionId;
/// use neco_store::{Catalog, Durability, EventLog, MemoryStore, SessionRecord, StoreError};
///
/// let store = MemoryStore::new();
/// let session = SessionId::new();
/// store.create(SessionRecord::new(session, "/tmp", 0)).await?;
/// let lease = store.lease(session).await?;
/// assert!(matches!(store.lease(session).await, Err(StoreError::InUse { .. })));
/// store.append(&lease, Vec::new(), Durability::Now).await?;
/// drop(lease);
/// assert!(!store.is_leased(session).await);
/// # Ok(())
/// # }
/// ```
pub trait EventLog: Send + Sync {
    /// Takes the right to write `session`. Whoever else wants it meanwhile is told [`StoreError::InUse`].
    fn lease(&self, session: SessionId) -> BoxFuture<'_, Result<Lease, StoreError>>;

    /// Whether somebody has the right to write `session` now.
    fn is_leased(&self, session: SessionId) -> BoxFuture<'_, bool>;

    /// Adds `events` of the session that `lease` is for, in order. Their `seq` go on from the last one without a gap;
    /// anything else is [`StoreError::Gap`]; events of another session are [`StoreError::NotLeased`]. With [`Durability::Soon`] a later failure to write is
    /// reported by the next append or by [`EventLog::flush`].
    ///
    /// The session must be in the catalogue. An error means that none of `events` is in the log. An
    /// append that is dropped before it is ready may or may not have happened.
    fn append<'a>(
        &'a self,
        lease: &'a Lease,
        events: Vec<Event>,
        durability: Durability,
    ) -> BoxFuture<'a, Result<(), StoreError>>;

    /// Events of `session` after `since`, oldest first, at most `limit`; appended but not yet
    /// written ones included.
    fn read(&self, session: SessionId, since: Seq, limit: usize) -> BoxFuture<'_, Result<Vec<Event>, StoreError>>;

    /// Every event of `session` after `since`, oldest first: those that are there, then each as it is appended, in
    /// this process at once, in another one after a moment. What is appended with [`Durability::Now`] comes when it is on
    /// the disk. It ends with the first failure only.
    fn subscribe(self: Arc<Self>, session: SessionId, since: Seq) -> BoxStream<'static, Result<Event, StoreError>>;

    /// Ready when everything appended to `session` so far is on the disk.
    fn commit(&self, session: SessionId) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Ready when the events of `session` up to `last` are on the disk; those after the last one that somebody acts on
    /// may only be written. It hastens nothing: whoever can't wait for the next write commits.
    /// An error says that they are not in the log after all.
    fn written(&self, session: SessionId, last: Seq) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Ready when everything appended so far is on the disk.
    fn flush(&self) -> BoxFuture<'_, Result<(), StoreError>>;
}

/// Appends `events` of one session with a right to it that is taken and given back for that.
/// The error is what [`EventLog::lease`] and [`EventLog::append`] say.
pub async fn lease_and_append(
    log: &dyn EventLog,
    events: Vec<Event>,
    durability: Durability,
) -> Result<(), StoreError> {
    let Some(session) = events.first().map(|event| event.session_id) else { return Ok(()) };
    let lease = log.lease(session).await?;
    log.append(&lease, events, durability).await
}

/// The right to write one session, which one owner has at a time; given back when it is dropped.
///
/// What stands behind it is the store's own: a lock that the kernel keeps, or a row with a number that only grows.
pub struct Lease {
    session: SessionId,
    _held: Box<dyn Send + Sync>,
}

impl Lease {
    /// The right to write `session`, for as long as `held` lives.
    pub(crate) fn new(session: SessionId, held: impl Send + Sync + 'static) -> Self {
        Self { session, _held: Box::new(held) }
    }

    /// The session that may be written.
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// Refuses events of other sessions.
    pub(crate) fn check(&self, events: &[Event]) -> Result<(), StoreError> {
        match events.iter().find(|event| event.session_id != self.session) {
            Some(event) => Err(StoreError::NotLeased { session: event.session_id }),
            None => Ok(()),
        }
    }
}

impl fmt::Debug for Lease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Lease").field("session", &self.session).finish_non_exhaustive()
    }
}
