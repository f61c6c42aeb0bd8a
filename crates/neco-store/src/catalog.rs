//! The list of sessions.

use std::collections::{HashMap, HashSet};

use futures::future::BoxFuture;
use neco_proto::event::TitleSource;
use neco_proto::{Event, Seq, SessionId};

use crate::error::StoreError;
use crate::search::{SearchHit, SearchQuery};
use crate::size::{Prune, Pruned, StoreSizes};

/// What the list knows of a session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionRecord {
    /// Its id.
    pub id: SessionId,
    /// The workspace, as an absolute path.
    pub cwd: String,
    /// What the workspace is wherever it lies; a folder that was moved keeps it.
    pub folder: Option<String>,
    /// A few words about it; empty until the first message.
    pub title: String,
    /// Who made the title; `None` while there is none.
    pub title_by: Option<TitleSource>,
    /// When it was created, in milliseconds since 1970.
    pub created_ms: i64,
    /// When it was last written to, in milliseconds since 1970.
    pub updated_ms: i64,
    /// The number of events, those it has from its parent among them.
    pub events: u64,
    /// How many messages of the person count, those it has from its parent among them; `None` until
    /// [`Catalog::count_messages`] was asked: for a fork, after going back, and of older versions.
    pub messages: Option<u64>,
    /// Whether it was opened for single requests alone.
    pub is_single: bool,
    /// The session it is a fork of, and the last event that both have.
    pub parent: Option<(SessionId, Seq)>,
}

impl SessionRecord {
    /// A new session in the folder `cwd`, without a title.
    pub fn new(id: SessionId, cwd: impl Into<String>, created_ms: i64) -> Self {
        Self {
            id,
            cwd: cwd.into(),
            folder: None,
            title: String::new(),
            title_by: None,
            created_ms,
            updated_ms: created_ms,
            events: 0,
            messages: Some(0),
            is_single: true,
            parent: None,
        }
    }
}

/// The list of sessions.
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), neco_store::StoreError> {
/// use neco_proto::SessionId;
/// use neco_store::{Catalog, MemoryStore, SessionRecord};
///
/// let store = MemoryStore::new();
/// let session = SessionId::new();
/// store.create(SessionRecord::new(session, "/tmp", 0)).await?;
/// assert_eq!(store.list(Some("/tmp"), 10).await?.len(), 1);
/// store.remove(session).await?;
/// assert!(store.list(None, 10).await?.is_empty());
/// # Ok(())
/// # }
/// ```
pub trait Catalog: Send + Sync {
    /// Adds a session; written when ready, and safe from a loss of power with its first event that somebody acts on.
    /// Its log is empty and its own, whatever the record says of events, messages and a parent. A session that is there
    /// already is [`StoreError::Write`].
    fn create(&self, record: SessionRecord) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Adds a session whose log begins with the events of `parent` up to `at`, which are not copied;
    /// durable when ready, with what was appended to `parent` before. Its own log goes on at `at + 1`.
    /// What the record says of events, messages and a parent does not matter. A session that is there already, or an `at`
    /// that `parent` does not have, is [`StoreError::Write`].
    fn fork(&self, record: SessionRecord, parent: SessionId, at: Seq) -> BoxFuture<'_, Result<(), StoreError>>;

    /// The sessions whose id begins with `prefix`, newest first, at most `limit`. Hyphens do not matter.
    fn find(&self, prefix: &str, limit: usize) -> BoxFuture<'_, Result<Vec<SessionRecord>, StoreError>>;

    /// Sessions by last use, newest first, at most `limit`; only those of `cwd` when it is given. An
    /// append counts once it is written.
    fn list(&self, cwd: Option<&str>, limit: usize) -> BoxFuture<'_, Result<Vec<SessionRecord>, StoreError>>;

    /// Sessions of the folder that `folder` identifies, whatever its path was; by last use, newest first,
    /// at most `limit`.
    fn of_folder(&self, folder: &str, limit: usize) -> BoxFuture<'_, Result<Vec<SessionRecord>, StoreError>>;

    /// Changes the title; durable when ready. It does not count as a use of the session.
    fn set_title(&self, session: SessionId, title: &str, by: TitleSource) -> BoxFuture<'_, Result<(), StoreError>>;

    /// The session's workspace is now at `cwd` and is the one that `folder` identifies; durable when ready.
    /// It does not count as a use of the session.
    fn set_folder(&self, session: SessionId, cwd: &str, folder: Option<&str>) -> BoxFuture<'_, Result<(), StoreError>>;

    /// Removes a session; durable when ready. What its forks have of it stays, for them alone.
    fn remove(&self, session: SessionId) -> BoxFuture<'_, Result<(), StoreError>>;

    /// The sessions that `session` is a fork of, nearest first, those included that were removed.
    fn ancestors(&self, session: SessionId) -> BoxFuture<'_, Result<Vec<SessionId>, StoreError>>;

    /// All sessions of which something is kept, those included that were removed and have forks.
    fn kept(&self) -> BoxFuture<'_, Result<HashSet<SessionId>, StoreError>>;

    /// How many messages of the person count in each of `sessions`, as far as they are there and can be read; what had
    /// to be counted is known from then on.
    fn count_messages(&self, sessions: Vec<SessionId>) -> BoxFuture<'_, Result<HashMap<SessionId, u64>, StoreError>>;

    /// Messages, tool results and titles that have all the words of `query`, newest first.
    fn search(&self, query: SearchQuery) -> BoxFuture<'_, Result<Vec<SearchHit>, StoreError>>;

    /// How much there is and how much room it takes.
    fn sizes(&self) -> BoxFuture<'_, Result<StoreSizes, StoreError>>;

    /// The bytes that would go with each of `sessions` if all of them went. An event counts for the session that it was
    /// written in, and not at all where forks that stay need it; what several sessions share counts for none.
    fn bytes_of(&self, sessions: Vec<SessionId>) -> BoxFuture<'_, Result<HashMap<SessionId, u64>, StoreError>>;

    /// The events of some kinds that a session has of its own, and not from a parent, after `since`, oldest first; as far
    /// as they are written.
    fn own_events(
        &self,
        session: SessionId,
        since: Seq,
        kinds: &'static [&'static str],
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>>;

    /// Removes old sessions and gives the room back, or only says which ones it would remove. What forks
    /// need stays, as with [`Catalog::remove`].
    fn prune(&self, prune: Prune) -> BoxFuture<'_, Result<Pruned, StoreError>>;
}
