//! A store that lives in memory, for tests and for sessions nobody wants to keep.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use neco_proto::{Event, Seq, SessionId};

use crate::catalog::{Catalog, SessionRecord};
use crate::error::StoreError;
use crate::log::{Durability, EventLog};
use crate::prefix;

/// A store that lives in memory; a clone is the same store.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    sessions: Arc<Mutex<HashMap<SessionId, Session>>>,
}

#[derive(Debug)]
struct Session {
    record: SessionRecord,
    events: Vec<Event>,
}

impl MemoryStore {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<SessionId, Session>> {
        // Every change below is made whole or not at all, so a panic elsewhere spoils nothing.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn append_all(&self, events: Vec<Event>) -> Result<(), StoreError> {
        let Some(session) = events.first().map(|event| event.session_id) else { return Ok(()) };
        let mut sessions = self.sessions();
        let found = sessions.get_mut(&session).ok_or(StoreError::UnknownSession { session })?;
        for (event, expected) in events.iter().zip(found.record.events + 1..) {
            if event.session_id != session || event.seq != expected {
                return Err(StoreError::Gap { session: event.session_id, expected, got: event.seq });
            }
        }
        for event in events {
            found.record.events = event.seq;
            found.record.updated_ms = found.record.updated_ms.max(event.ts.as_millisecond());
            found.events.push(event);
        }
        Ok(())
    }

    fn records(&self, wanted: impl Fn(&SessionRecord) -> bool) -> Vec<SessionRecord> {
        self.sessions().values().map(|session| &session.record).filter(|record| wanted(record)).cloned().collect()
    }
}

impl EventLog for MemoryStore {
    fn append(&self, events: Vec<Event>, _durability: Durability) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move { self.append_all(events) })
    }

    fn read(&self, session: SessionId, since: Seq, limit: usize) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        Box::pin(async move {
            let skip = usize::try_from(since).unwrap_or(usize::MAX);
            let sessions = self.sessions();
            let events = sessions.get(&session).map(|found| found.events.as_slice()).unwrap_or_default();
            Ok(events.iter().skip(skip).take(limit).cloned().collect())
        })
    }

    fn commit(&self, _: SessionId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }

    fn flush(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }
}

impl Catalog for MemoryStore {
    fn create(&self, record: SessionRecord) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let mut sessions = self.sessions();
            if sessions.contains_key(&record.id) {
                return Err(StoreError::Write(format!("session {} exists already", record.id)));
            }
            let record = SessionRecord { events: 0, ..record };
            sessions.insert(record.id, Session { record, events: Vec::new() });
            Ok(())
        })
    }

    fn find(&self, prefix: &str, limit: usize) -> BoxFuture<'_, Result<Vec<SessionRecord>, StoreError>> {
        let ids = prefix::ids_with(prefix);
        Box::pin(async move {
            let Some(ids) = ids else { return Ok(Vec::new()) };
            let mut found = self.records(|record| ids.contains(&record.id));
            found.sort_by_key(|record| std::cmp::Reverse((record.created_ms, record.id)));
            found.truncate(limit);
            Ok(found)
        })
    }

    fn list(&self, cwd: Option<&str>, limit: usize) -> BoxFuture<'_, Result<Vec<SessionRecord>, StoreError>> {
        let cwd = cwd.map(str::to_owned);
        Box::pin(async move {
            let mut found = self.records(|record| cwd.as_ref().is_none_or(|cwd| record.cwd == *cwd));
            found.sort_by_key(|record| std::cmp::Reverse((record.updated_ms, record.id)));
            found.truncate(limit);
            Ok(found)
        })
    }

    fn set_title(&self, session: SessionId, title: &str) -> BoxFuture<'_, Result<(), StoreError>> {
        let title = title.to_owned();
        Box::pin(async move {
            let mut sessions = self.sessions();
            let found = sessions.get_mut(&session).ok_or(StoreError::UnknownSession { session })?;
            found.record.title = title;
            Ok(())
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;

    #[tokio::test]
    async fn passes_the_conformance_suite() {
        let store = MemoryStore::new();
        conformance::check(async || store.clone()).await.unwrap();
    }
}
