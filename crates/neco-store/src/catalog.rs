//! The list of sessions.

use futures::future::BoxFuture;
use neco_proto::SessionId;

use crate::error::StoreError;

/// What the list knows of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRecord {
    /// Its id.
    pub id: SessionId,
    /// The workspace, as an absolute path.
    pub cwd: String,
    /// A few words about it; empty until the first message.
    pub title: String,
    /// When it was created, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it was last written to, in milliseconds since 1970.
    pub updated_ms: i64,
    /// The number of events.
    pub events: u64,
}

/// The list of sessions.
pub trait Catalog: Send + Sync {
    /// Adds a session; durable when ready. Its log is empty, whatever `record.events` says. A session
    /// that is there already is [`StoreError::Write`].
    fn create(&self, record: SessionRecord) -> BoxFuture<'_, Result<(), StoreError>>;

    /// The sessions whose id begins with `prefix`, newest first, at most `limit`. Hyphens do not matter.
    fn find(&self, prefix: &str, limit: usize) -> BoxFuture<'_, Result<Vec<SessionRecord>, StoreError>>;

    /// Sessions by last use, newest first, at most `limit`; only those of `cwd` when it is given. An
    /// append counts once it is written.
    fn list(&self, cwd: Option<&str>, limit: usize) -> BoxFuture<'_, Result<Vec<SessionRecord>, StoreError>>;

    /// Changes the title; durable when ready. It does not count as a use of the session.
    fn set_title(&self, session: SessionId, title: &str) -> BoxFuture<'_, Result<(), StoreError>>;
}
