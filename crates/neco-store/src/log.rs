//! The append-only event log.

use futures::future::BoxFuture;
use neco_proto::{Event, Seq, SessionId};

use crate::error::StoreError;

/// When an append is good enough to go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// Written within 100 ms, together with whatever else waits; the append does not wait for it.
    Soon,
    /// On the disk, against loss of power too, before the append is ready.
    Now,
}

/// The append-only event log of all sessions. One writer; readers never wait for it.
pub trait EventLog: Send + Sync {
    /// Adds `events` of one session in order. Their `seq` go on from the last one without a gap;
    /// anything else is [`StoreError::Gap`]. With [`Durability::Soon`] a later failure to write is
    /// reported by the next append or by [`EventLog::flush`].
    ///
    /// The session must be in the catalogue. An error means that none of `events` is in the log. An
    /// append that is dropped before it is ready may or may not have happened.
    fn append(&self, events: Vec<Event>, durability: Durability) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Events of `session` after `since`, oldest first, at most `limit`; appended but not yet
    /// written ones included.
    fn read(&self, session: SessionId, since: Seq, limit: usize) -> BoxFuture<'_, Result<Vec<Event>, StoreError>>;

    /// Ready when everything appended to `session` so far is on the disk.
    fn commit(&self, session: SessionId) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Ready when the events of `session` up to `last` are on the disk. It hastens nothing: whoever can't wait for the
    /// next write commits. An error says that they are not in the log after all.
    fn written(&self, session: SessionId, last: Seq) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Ready when everything appended so far is on the disk.
    fn flush(&self) -> BoxFuture<'_, Result<(), StoreError>>;
}
