//! A store that lives in memory, for tests and for sessions nobody wants to keep.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use futures::stream::BoxStream;
use neco_proto::app::sessions::FoundRole;
use neco_proto::event::TitleSource;
use neco_proto::{Event, Seq, SessionId};

use crate::catalog::{Catalog, SessionRecord};
use crate::error::StoreError;
use crate::lineage::{Ancestor, ids_with, segments};
use crate::live::Live;
use crate::log::{Durability, EventLog, Lease};
use crate::said::{Change, messages_in};
use crate::search::snippet::{has_all, snippet_of};
use crate::search::terms::{Term, terms_of};
use crate::search::text::text_of;
use crate::search::{SearchCursor, SearchHit, SearchQuery};
use crate::size::{Prune, Pruned, StoreSizes};

/// A store that lives in memory; a clone is the same store.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore {
    sessions: Arc<Mutex<Sessions>>,
    live: Arc<Live>,
}

#[derive(Debug, Default)]
struct Sessions(HashMap<SessionId, Session>);

#[derive(Debug)]
struct Session {
    record: SessionRecord,
    /// Those after what it has from its parent.
    events: Vec<Event>,
    /// Whether it is kept for its forks alone.
    is_removed: bool,
}

impl MemoryStore {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        // Every change below is made whole or not at all, so a panic elsewhere spoils nothing.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn append_all(&self, session: SessionId, events: &[Event]) -> Result<(), StoreError> {
        let mut sessions = self.sessions();
        let found = sessions.known(session)?;
        for (event, expected) in events.iter().zip(found.record.events + 1..) {
            if event.seq != expected {
                return Err(StoreError::Gap { session, expected, got: event.seq });
            }
        }
        for event in events {
            found.record.events = event.seq;
            found.record.updated_ms = found.record.updated_ms.max(event.ts.as_millisecond());
            found.events.push(event.clone());
        }
        let change = Change::of(events);
        found.record.is_single &= change.is_single;
        if change.messages != Some(0) {
            sessions.count(session);
        }
        Ok(())
    }

    fn listed(&self, wanted: impl Fn(&SessionRecord) -> bool, limit: usize) -> Vec<SessionRecord> {
        let mut found = self.sessions().records(wanted);
        found.sort_by_key(|record| Reverse((record.updated_ms, record.id)));
        found.truncate(limit);
        found
    }
}

impl Sessions {
    /// A session that was not removed.
    fn known(&mut self, session: SessionId) -> Result<&mut Session, StoreError> {
        let found = self.0.get_mut(&session).filter(|found| !found.is_removed);
        found.ok_or(StoreError::UnknownSession { session })
    }

    fn records(&self, wanted: impl Fn(&SessionRecord) -> bool) -> Vec<SessionRecord> {
        let known = self.0.values().filter(|session| !session.is_removed);
        known.map(|session| &session.record).filter(|record| wanted(record)).cloned().collect()
    }

    /// Counts the messages of a session anew.
    fn count(&mut self, session: SessionId) {
        let messages = messages_in(&self.read(session, 0, usize::MAX));
        if let Some(found) = self.0.get_mut(&session) {
            found.record.messages = Some(messages);
        }
    }

    fn add(&mut self, record: SessionRecord) -> Result<(), StoreError> {
        if self.0.contains_key(&record.id) {
            return Err(StoreError::exists(record.id));
        }
        self.0.insert(record.id, Session { record, events: Vec::new(), is_removed: false });
        Ok(())
    }

    fn ancestors(&self, session: SessionId) -> Vec<Ancestor> {
        let mut ancestors = Vec::new();
        let mut next = Some(session);
        while let Some(found) = next.and_then(|id| self.0.get(&id)) {
            ancestors.push(Ancestor { id: found.record.id, base: found.base() });
            next = found.record.parent.map(|(parent, _)| parent);
        }
        ancestors
    }

    fn read(&self, session: SessionId, since: Seq, limit: usize) -> Vec<Event> {
        if self.0.get(&session).is_none_or(|found| found.is_removed) {
            return Vec::new();
        }
        let mut events = Vec::new();
        for segment in segments(&self.ancestors(session), since) {
            let Some(owner) = self.0.get(&segment.owner) else { continue };
            let skip = usize::try_from(segment.after - owner.base()).unwrap_or(usize::MAX);
            let own = owner.events.iter().skip(skip).take_while(|event| event.seq <= segment.last);
            let room = limit - events.len();
            events.extend(own.take(room).map(|event| Event { session_id: session, ..event.clone() }));
        }
        events
    }

    /// The forks of `session`, with the last event that each has of it.
    fn forks(&self, session: SessionId) -> Vec<(SessionId, Seq)> {
        let parents = self.0.values().filter_map(|fork| fork.record.parent.map(|parent| (fork.record.id, parent)));
        parents.filter(|(_, (parent, _))| *parent == session).map(|(fork, (_, at))| (fork, at)).collect()
    }

    /// Lets go of what nobody needs of a session that was removed.
    fn release(&mut self, session: SessionId) {
        let Some(removed) = self.0.get(&session).filter(|found| found.is_removed) else { return };
        let (base, parent) = (removed.base(), removed.record.parent);
        let mut needed = None;
        for (fork, at) in self.forks(session) {
            if at > base {
                needed = needed.max(Some(at));
            } else if let Some(fork) = self.0.get_mut(&fork) {
                fork.record.parent = parent.map(|(grandparent, _)| (grandparent, at));
            }
        }
        match (needed, self.0.get_mut(&session)) {
            (Some(last), Some(kept)) => {
                kept.events.retain(|event| event.seq <= last);
                kept.record.events = last;
            }
            (Some(_), None) => {}
            (None, _) => {
                self.0.remove(&session);
                parent.into_iter().for_each(|(grandparent, _)| self.release(grandparent));
            }
        }
    }

    fn remove(&mut self, session: SessionId) -> Result<(), StoreError> {
        self.known(session)?.is_removed = true;
        self.release(session);
        Ok(())
    }

    /// The session through which an event of `session` can be seen: itself, or the fork that was used last.
    fn shown_as(&self, session: SessionId, seq: Seq, cwd: Option<&str>) -> Option<&SessionRecord> {
        let found = self.0.get(&session)?;
        if !found.is_removed && cwd.is_none_or(|cwd| found.record.cwd == cwd) {
            return Some(&found.record);
        }
        let forks = self.forks(session).into_iter().filter(|(_, at)| *at >= seq);
        let shown = forks.filter_map(|(fork, _)| self.shown_as(fork, seq, cwd));
        shown.max_by_key(|record| (record.updated_ms, record.id))
    }

    fn search(&self, query: &SearchQuery, terms: &[Term]) -> Vec<SearchHit> {
        let fits = |record: &SessionRecord, ts_ms: i64| {
            query.cwd.as_ref().is_none_or(|cwd| record.cwd == *cwd)
                && query.since_ms.is_none_or(|since| ts_ms >= since)
                && query.until_ms.is_none_or(|until| ts_ms < until)
        };
        let (mut titles, mut said) = (Vec::new(), Vec::new());
        for session in self.0.values() {
            let record = &session.record;
            let parent = record.parent.and_then(|(parent, _)| self.0.get(&parent)).filter(|parent| !parent.is_removed);
            // A fork that is called as its parent is shows nothing that the parent does not.
            let is_shown = parent.is_some_and(|parent| {
                parent.record.title == record.title && fits(&parent.record, parent.record.updated_ms)
            });
            if !session.is_removed && !is_shown && has_all(&record.title, terms) && fits(record, record.updated_ms) {
                titles.push(hit(record, 0, record.updated_ms, FoundRole::Title, &record.title, terms));
            }
            for event in &session.events {
                let Some((role, text)) = text_of(&event.body).filter(|(_, text)| has_all(text, terms)) else {
                    continue;
                };
                let ts_ms = event.ts.as_millisecond();
                let shown =
                    self.shown_as(record.id, event.seq, query.cwd.as_deref()).filter(|record| fits(record, ts_ms));
                said.extend(shown.map(|record| hit(record, event.seq, ts_ms, role, &text, terms)));
            }
        }
        for hits in [&mut titles, &mut said] {
            hits.sort_by_key(|hit| Reverse((hit.ts_ms, hit.seq, hit.session)));
        }
        titles.append(&mut said);
        if let Some(after) = query.after {
            let place = |cursor: SearchCursor| (cursor.seq == 0, cursor.ts_ms, cursor.seq, cursor.session);
            titles.retain(|hit| place(hit.cursor) < place(after));
        }
        titles.truncate(query.limit);
        titles
    }

    fn bytes_of(&self, sessions: &[SessionId]) -> HashMap<SessionId, u64> {
        let needed = |session: &SessionId| {
            let forks = self.0.values().filter(|fork| !sessions.contains(&fork.record.id));
            let of_it = forks.filter_map(|fork| fork.record.parent.filter(|(parent, _)| parent == session));
            of_it.map(|(_, at)| at).max().unwrap_or(0)
        };
        let bytes = |session: &SessionId| {
            let own = self.0.get(session).into_iter().flat_map(|found| &found.events);
            let gone = own.filter(|event| event.seq > needed(session));
            gone.map(|event| serde_json::to_string(event).map_or(0, |json| json.len() as u64)).sum()
        };
        sessions.iter().map(|session| (*session, bytes(session))).collect()
    }

    fn sizes(&self) -> StoreSizes {
        let count = |wanted: fn(&Session) -> bool| self.0.values().filter(|session| wanted(session)).count() as u64;
        StoreSizes {
            sessions: count(|session| !session.is_removed),
            forks: count(|session| !session.is_removed && session.record.parent.is_some()),
            kept_for_forks: count(|session| session.is_removed),
            events: self.0.values().map(|session| session.events.len() as u64).sum(),
            ..StoreSizes::default()
        }
    }
}

impl Session {
    fn base(&self) -> Seq {
        self.record.parent.map_or(0, |(_, at)| at)
    }
}

fn hit(record: &SessionRecord, seq: Seq, ts_ms: i64, role: FoundRole, text: &str, terms: &[Term]) -> SearchHit {
    let (title, cwd) = (record.title.clone(), record.cwd.clone());
    let cursor = SearchCursor { ts_ms, session: record.id, seq };
    SearchHit { session: record.id, seq, ts_ms, role, snippet: snippet_of(text, terms), title, cwd, cursor }
}

impl EventLog for MemoryStore {
    fn lease(&self, session: SessionId) -> BoxFuture<'_, Result<Lease, StoreError>> {
        let claim = self.live.claim(session).ok_or(StoreError::InUse { session, pid: std::process::id() });
        Box::pin(async move { Ok(Lease::new(session, claim?)) })
    }

    fn is_leased(&self, session: SessionId) -> BoxFuture<'_, bool> {
        Box::pin(async move { self.live.is_claimed(session) })
    }

    fn append<'a>(
        &'a self,
        lease: &'a Lease,
        events: Vec<Event>,
        _durability: Durability,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            lease.check(&events)?;
            self.append_all(lease.session(), &events)?;
            self.live.publish(events);
            Ok(())
        })
    }

    fn subscribe(self: Arc<Self>, session: SessionId, since: Seq) -> BoxStream<'static, Result<Event, StoreError>> {
        let live = Arc::clone(&self.live);
        live.follow(self, session, since)
    }

    fn read(&self, session: SessionId, since: Seq, limit: usize) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        Box::pin(async move { Ok(self.sessions().read(session, since, limit)) })
    }

    fn commit(&self, _: SessionId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }

    fn written(&self, _: SessionId, _: Seq) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }

    fn flush(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async { Ok(()) })
    }
}

impl Catalog for MemoryStore {
    fn create(&self, record: SessionRecord) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.sessions().add(SessionRecord { events: 0, messages: Some(0), is_single: true, parent: None, ..record })
        })
    }

    fn fork(&self, record: SessionRecord, parent: SessionId, at: Seq) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let mut sessions = self.sessions();
            if sessions.known(parent)?.record.events < at {
                return Err(StoreError::not_that_far(parent, at));
            }
            let id = record.id;
            sessions.add(SessionRecord { events: at, is_single: false, parent: Some((parent, at)), ..record })?;
            sessions.count(id);
            Ok(())
        })
    }

    fn find(&self, prefix: &str, limit: usize) -> BoxFuture<'_, Result<Vec<SessionRecord>, StoreError>> {
        let ids = ids_with(prefix);
        Box::pin(async move {
            let Some(ids) = ids else { return Ok(Vec::new()) };
            let mut found = self.sessions().records(|record| ids.contains(&record.id));
            found.sort_by_key(|record| Reverse((record.created_ms, record.id)));
            found.truncate(limit);
            Ok(found)
        })
    }

    fn list(&self, cwd: Option<&str>, limit: usize) -> BoxFuture<'_, Result<Vec<SessionRecord>, StoreError>> {
        let cwd = cwd.map(str::to_owned);
        Box::pin(async move { Ok(self.listed(|record| cwd.as_ref().is_none_or(|cwd| record.cwd == *cwd), limit)) })
    }

    fn of_folder(&self, folder: &str, limit: usize) -> BoxFuture<'_, Result<Vec<SessionRecord>, StoreError>> {
        let folder = folder.to_owned();
        Box::pin(async move { Ok(self.listed(|record| record.folder.as_ref() == Some(&folder), limit)) })
    }

    fn set_title(&self, session: SessionId, title: &str, by: TitleSource) -> BoxFuture<'_, Result<(), StoreError>> {
        let title = title.to_owned();
        Box::pin(async move {
            let mut sessions = self.sessions();
            let record = &mut sessions.known(session)?.record;
            (record.title, record.title_by) = (title, Some(by));
            Ok(())
        })
    }

    fn set_folder(&self, session: SessionId, cwd: &str, folder: Option<&str>) -> BoxFuture<'_, Result<(), StoreError>> {
        let (cwd, folder) = (cwd.to_owned(), folder.map(str::to_owned));
        Box::pin(async move {
            let mut sessions = self.sessions();
            let record = &mut sessions.known(session)?.record;
            (record.cwd, record.folder) = (cwd, folder);
            Ok(())
        })
    }

    fn remove(&self, session: SessionId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move { self.sessions().remove(session) })
    }

    fn ancestors(&self, session: SessionId) -> BoxFuture<'_, Result<Vec<SessionId>, StoreError>> {
        Box::pin(async move { Ok(self.sessions().ancestors(session).iter().skip(1).map(|one| one.id).collect()) })
    }

    fn kept(&self) -> BoxFuture<'_, Result<HashSet<SessionId>, StoreError>> {
        Box::pin(async move { Ok(self.sessions().0.keys().copied().collect()) })
    }

    fn count_messages(&self, sessions: Vec<SessionId>) -> BoxFuture<'_, Result<HashMap<SessionId, u64>, StoreError>> {
        Box::pin(async move {
            let records = self.sessions().records(|record| sessions.contains(&record.id));
            Ok(records.into_iter().filter_map(|record| Some((record.id, record.messages?))).collect())
        })
    }

    fn search(&self, query: SearchQuery) -> BoxFuture<'_, Result<Vec<SearchHit>, StoreError>> {
        Box::pin(async move {
            let terms = terms_of(&query.words);
            Ok(if terms.is_empty() { Vec::new() } else { self.sessions().search(&query, &terms) })
        })
    }

    fn sizes(&self) -> BoxFuture<'_, Result<StoreSizes, StoreError>> {
        Box::pin(async move { Ok(self.sessions().sizes()) })
    }

    fn bytes_of(&self, sessions: Vec<SessionId>) -> BoxFuture<'_, Result<HashMap<SessionId, u64>, StoreError>> {
        Box::pin(async move { Ok(self.sessions().bytes_of(&sessions)) })
    }

    fn own_events(
        &self,
        session: SessionId,
        since: Seq,
        kinds: &'static [&'static str],
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        Box::pin(async move {
            let all = self.sessions();
            let own = all.0.get(&session).into_iter().flat_map(|found| &found.events);
            let wanted = |event: &&Event| event.seq > since && kinds.contains(&event.body.type_name());
            Ok(own.filter(wanted).cloned().collect())
        })
    }

    fn prune(&self, prune: Prune) -> BoxFuture<'_, Result<Pruned, StoreError>> {
        Box::pin(async move {
            let sessions = prune.choose(self.listed(|_| true, usize::MAX));
            if !prune.dry_run {
                let mut all = self.sessions();
                sessions.iter().try_for_each(|record| all.remove(record.id))?;
            }
            Ok(Pruned { sessions, ..Pruned::default() })
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
