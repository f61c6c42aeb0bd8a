//! The face of the SQLite store.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;

use futures::future::{BoxFuture, join_all};
use futures::stream::BoxStream;
use neco_proto::event::TitleSource;
use neco_proto::{Event, Seq, SessionId};
use tokio::sync::mpsc::{self, Permit, Sender};
use tokio::sync::oneshot;

use super::aside::{Opened, SetAside};
use super::job::{Batch, CatalogChange, Job, Reply};
use super::reader::{Reader, State};
use super::search::SearchIndex;
use super::tails::{Misfit, SharedTails};
use super::writer::Shared;
use super::{aside, failure, reserve, writer};
use crate::catalog::{Catalog, SessionRecord};
use crate::error::StoreError;
use crate::lineage::ids_with;
use crate::live::Live;
use crate::lock::{SessionLock, lock_folder};
use crate::log::{Durability, EventLog, Lease};
use crate::said::Change;
use crate::search::{SearchHit, SearchQuery};
use crate::size::{Prune, Pruned, StoreSizes};

/// Bytes that the files grow by when somebody only looks.
const LOOKING: u64 = 100_000;
/// How many sessions are removed in one go.
const TOGETHER: usize = 50;

/// A batch that does not go on from the end of its log, with its place in the queue.
type Refused<'a> = (Batch, Permit<'a, Job>, Misfit);

/// The store as one SQLite file. Several processes may have it open at a time, each with sessions of
/// its own.
///
/// Dropping it without [`SqliteStore::close`] blocks for the moment it takes to write what waits.
pub struct SqliteStore {
    jobs: Sender<Job>,
    thread: Option<JoinHandle<()>>,
    tails: Arc<SharedTails>,
    reader: Reader,
    index: Arc<SearchIndex>,
    set_aside: Option<SetAside>,
    /// The folder of the locks of sessions.
    locks: PathBuf,
    live: Arc<Live>,
}

impl SqliteStore {
    /// Opens the store in the file `path`. What is missing is made, readable by its owner alone: the
    /// folders, the file, its tables.
    ///
    /// A file that is damaged is set aside, and a new one begins with what can be read of it;
    /// [`SqliteStore::set_aside`] tells.
    /// Fails with [`StoreError::Foreign`] and [`StoreError::TooNew`] leave the file as it is; [`StoreError::Write`] or
    /// [`StoreError::Read`] when the system does not let us.
    pub async fn open(path: &Path) -> Result<Self, StoreError> {
        let Opened { connection, presence, set_aside } = aside::open_or_begin_anew(path).await?;
        let tails = Arc::new(SharedTails::default());
        let index = Arc::new(SearchIndex::beside(path));
        let live = Arc::<Live>::default();
        let shared = Shared { tails: Arc::clone(&tails), live: Arc::clone(&live), index: Arc::clone(&index) };
        let (jobs, thread) = writer::start(path, connection, presence, shared)
            .map_err(|error| StoreError::Write(failure::with_path(path, &error)))?;
        Ok(Self {
            jobs,
            thread: Some(thread),
            tails,
            reader: Reader::new(path),
            index,
            set_aside,
            locks: lock_folder(path.parent().unwrap_or(Path::new("."))),
            live,
        })
    }

    /// Makes room beside the store in the file `path`, which can't be opened on a full disk: what was kept for that day
    /// is given up, or else the search index goes, for it can be made again. Whether there was something to give.
    pub async fn make_room(path: &Path) -> bool {
        if reserve::give_up_aside(path).await {
            return true;
        }
        let index = SearchIndex::beside(path);
        let before = index.bytes();
        index.remove().await;
        index.bytes() < before
    }

    /// Whether somebody found the store in the file `path` damaged: the next opening looks closely.
    pub fn is_doubted(path: &Path) -> bool {
        aside::mark_of(path).exists()
    }

    /// What is wrong with the store in the file `path`, if somebody found it damaged. Nothing is set aside for that.
    pub async fn damage(path: &Path) -> Option<String> {
        if !Self::is_doubted(path) {
            return None;
        }
        aside::damage_in(path).await
    }

    /// Takes back what was given up, as far as there is room for it again.
    pub fn keep_room(path: &Path) {
        reserve::keep(path, reserve::AGAIN);
    }

    /// Whether [`SqliteStore::make_room`] has something to give.
    pub fn can_make_room(path: &Path) -> bool {
        reserve::bytes(path) > 0 || SearchIndex::beside(path).bytes() > 0
    }

    /// The damaged file that was found in the place of this one, if there was one.
    pub fn set_aside(&self) -> Option<&SetAside> {
        self.set_aside.as_ref()
    }

    /// Writes what waits and closes the file. Whatever comes after that is [`StoreError::Closed`];
    /// closing again does nothing.
    /// The error is what [`EventLog::flush`] says; the store stays open then, and closing can be tried again. Only where
    /// a full disk has no room to force what is written already, it closes all the same.
    pub async fn close(&self) -> Result<(), StoreError> {
        let flushed = match self.ask(Job::Flush).await {
            // Where all is written a full disk is no reason to stay open; the writer knows.
            Err(error) if failure::is_full_disk(&error) => Ok(()),
            other => other,
        };
        match flushed.and_then(|()| self.tails.lock().any_refusal()) {
            Ok(()) => {}
            Err(StoreError::Closed) => return Ok(()),
            Err(error) => return Err(error),
        }
        self.index.close().await;
        let mut reading = self.reader.close().await;
        let outcome = self.ask(Job::Close).await;
        if !self.jobs.is_closed() {
            *reading = State::Unopened;
        }
        // Somebody else closed it in the meantime.
        if outcome == Err(StoreError::Closed) { Ok(()) } else { outcome }
    }

    /// Gives the writer a job and waits for its outcome.
    async fn ask(&self, job: impl FnOnce(Reply) -> Job) -> Result<(), StoreError> {
        let (reply, outcome) = oneshot::channel();
        self.jobs.send(job(reply)).await.map_err(|_| StoreError::Closed)?;
        self.noted(outcome.await.map_err(|_| StoreError::Closed)?).await
    }

    /// Damage is noted beside the file, so that the next opening looks closely.
    async fn noted<T>(&self, outcome: Result<T, StoreError>) -> Result<T, StoreError> {
        if let Err(StoreError::Damaged { .. }) = &outcome {
            aside::mark(self.reader.path()).await;
        }
        outcome
    }

    async fn append_all(&self, events: Vec<Event>, durability: Durability) -> Result<(), StoreError> {
        let Some(mut batch) = Batch::of(&events)? else { return Ok(()) };
        batch.change = self.told_to_root(batch.change, &events).await;
        self.report_earlier(batch.session, durability).await?;
        match durability {
            Durability::Soon => {
                self.enqueue(batch).await?;
                self.live.publish(events);
                Ok(())
            }
            Durability::Now => {
                let (reply, outcome) = oneshot::channel();
                (batch.reply, batch.shown) = (Some(reply), events.into());
                self.enqueue(batch).await?;
                self.noted(outcome.await.map_err(|_| StoreError::Closed)?).await
            }
        }
    }

    /// What the events change, without messages to other agents than the one that the person talks to.
    async fn told_to_root(&self, change: Change, events: &[Event]) -> Change {
        let root = match (change.messages, events.first()) {
            (Some(0) | None, _) | (_, None) => return change,
            (Some(_), Some(first)) if first.seq == 1 => Some(first.agent_id),
            (Some(_), Some(next)) => {
                let read = self.read_events(next.session_id, 0, 1).await;
                read.ok().and_then(|read| read.first().map(|first| first.agent_id))
            }
        };
        match root {
            Some(root) => change.told_to(root, events),
            // Where that is not known now they are counted later.
            None => Change { messages: None, ..change },
        }
    }

    /// What went wrong with earlier events that nobody waited for. Where they are still to be written
    /// a batch that is awaited finds out by itself, as it goes into the same transaction.
    async fn report_earlier(&self, session: SessionId, durability: Durability) -> Result<(), StoreError> {
        let is_blocked = self.tails.lock().is_blocked;
        if is_blocked && durability == Durability::Soon {
            self.ask(Job::Flush).await?;
        }
        self.tails.lock().refusal_of(session)
    }

    async fn enqueue(&self, batch: Batch) -> Result<(), StoreError> {
        let session = batch.session;
        let permit = self.jobs.reserve().await.map_err(|_| StoreError::Closed)?;
        let Err(back) = self.try_enqueue(batch, permit) else { return Ok(()) };
        let (batch, permit, _) = *back;
        // Another process may have written this session since it was last open here.
        let last = self.reader.last_seq(session).await?.ok_or(StoreError::UnknownSession { session })?;
        self.tails.lock().learn(session, last);
        self.try_enqueue(batch, permit).map_err(|back| match *back {
            (_, _, Misfit::Unknown) => StoreError::UnknownSession { session },
            (batch, _, Misfit::Gap { expected }) => StoreError::Gap { session, expected, got: batch.first },
        })
    }

    /// Notes the batch and sends it in one step, so that batches reach the writer in the order of the
    /// log.
    fn try_enqueue<'a>(&self, batch: Batch, permit: Permit<'a, Job>) -> Result<(), Box<Refused<'a>>> {
        let mut tails = self.tails.lock();
        match tails.extend(&batch) {
            Ok(()) => {
                permit.send(Job::Append(batch));
                Ok(())
            }
            Err(misfit) => Err(Box::new((batch, permit, misfit))),
        }
    }

    async fn read_events(&self, session: SessionId, since: Seq, limit: usize) -> Result<Vec<Event>, StoreError> {
        // In this order: what is written in between is found in the database.
        let unwritten = self.tails.lock().unwritten(session, since, limit);
        let read = self.reader.events(session, since, limit).await;
        let mut events = self.noted(read).await?;
        let mut last = events.last().map_or(since, |event| event.seq);
        for row in unwritten {
            if events.len() < limit && row.seq.checked_sub(1) == Some(last) {
                events.push(self.reader.event(&row.body)?);
                last = row.seq;
            }
        }
        Ok(events)
    }

    async fn change(&self, change: CatalogChange) -> Result<(), StoreError> {
        self.ask(|reply| Job::Catalog(change, reply)).await
    }

    /// On a full disk nothing can be written, not even that something goes: what was kept for that day is given up,
    /// then the search index, for it can be made again. What goes is no longer overwritten there, and goes bit by bit.
    async fn remove_session(&self, session: SessionId) -> Result<(), StoreError> {
        let path = self.reader.path();
        let is_full = |done: &Result<(), StoreError>| match done {
            Err(StoreError::Write(reason)) => failure::is_full(reason) || reserve::is_needed(path),
            Ok(()) | Err(_) => false,
        };
        let mut removed = self.change(CatalogChange::Remove(session)).await;
        if is_full(&removed) {
            reserve::give_up_aside(path).await;
            removed = self.ask(|reply| Job::RemoveInLittleRoom(session, reply)).await;
        }
        if is_full(&removed) {
            self.index.remove().await;
            removed = self.ask(|reply| Job::RemoveInLittleRoom(session, reply)).await;
        }
        removed?;
        self.tails.forget(session);
        self.reader.forget(session).await;
        Ok(())
    }

    /// What was removed is no longer in the files either, and the room it took is given back. Where that
    /// fails, it is free for what comes next, which then overwrites it.
    async fn wipe(&self) {
        if let Err(error) = self.index.forget_removed().await {
            tracing::warn!(%error, "words of removed sessions may be left in the search index; it is made anew");
            self.index.remove().await;
        }
        let shrunk = self.ask(Job::Shrink).await;
        if let Err(error) = shrunk {
            tracing::warn!(%error, "the room of removed sessions is not given back");
        }
        reserve::keep_aside(self.reader.path(), reserve::AGAIN).await;
    }

    /// What SQLite finds wrong with the whole file; that takes a while.
    /// Fails when it can't be read at all.
    pub async fn check(&self) -> Result<Option<String>, StoreError> {
        let found = aside::damage_in(self.reader.path()).await;
        if found.is_some() {
            aside::mark(self.reader.path()).await;
        }
        Ok(found)
    }

    async fn prune_sessions(&self, prune: Prune) -> Result<Pruned, StoreError> {
        let mut sessions = prune.choose(self.noted(self.reader.list(None, usize::MAX).await).await?);
        if prune.dry_run {
            return Ok(Pruned { sessions, ..Pruned::default() });
        }
        let before = self.reader.sizes().await?.file_bytes;
        let (mut gone, mut stopped_by) = (HashSet::new(), None);
        for some in sessions.chunks(TOGETHER) {
            // Some at once are written together; all at once would keep other processes waiting.
            let removed = join_all(some.iter().map(|record| self.remove_session(record.id))).await;
            for (record, removed) in some.iter().zip(removed) {
                match removed {
                    Ok(()) => drop(gone.insert(record.id)),
                    Err(error) => stopped_by = stopped_by.or(Some(error)),
                }
            }
            if stopped_by.is_some() {
                break;
            }
        }
        match stopped_by {
            Some(error) if gone.is_empty() => return Err(error),
            _ => sessions.retain(|record| gone.contains(&record.id)),
        }
        self.wipe().await;
        let freed = before.saturating_sub(self.reader.sizes().await?.file_bytes);
        // What looking costs is no room that was made.
        let freed_bytes = if sessions.is_empty() && freed < LOOKING { 0 } else { freed };
        Ok(Pruned { sessions, freed_bytes, stopped_by })
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        // The writer ends when nobody can send any more; it does not need our runtime to do so.
        let (nobody, _) = mpsc::channel(1);
        drop(std::mem::replace(&mut self.jobs, nobody));
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl EventLog for SqliteStore {
    fn lease(&self, session: SessionId) -> BoxFuture<'_, Result<Lease, StoreError>> {
        Box::pin(async move {
            let locks = self.locks.clone();
            let locked = tokio::task::spawn_blocking(move || SessionLock::acquire(&locks, session)).await;
            let lock = locked.map_err(|error| StoreError::Write(error.to_string()))??;
            Ok(Lease::new(session, (self.live.claim(session), lock)))
        })
    }

    fn is_leased(&self, session: SessionId) -> BoxFuture<'_, bool> {
        Box::pin(async move {
            let locks = self.locks.clone();
            let looked = tokio::task::spawn_blocking(move || SessionLock::is_held(&locks, session)).await;
            looked.unwrap_or(true)
        })
    }

    fn append<'a>(
        &'a self,
        lease: &'a Lease,
        events: Vec<Event>,
        durability: Durability,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        Box::pin(async move {
            lease.check(&events)?;
            self.append_all(events, durability).await
        })
    }

    fn subscribe(self: Arc<Self>, session: SessionId, since: Seq) -> BoxStream<'static, Result<Event, StoreError>> {
        let live = Arc::clone(&self.live);
        live.follow(self, session, since)
    }

    fn read(&self, session: SessionId, since: Seq, limit: usize) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        Box::pin(self.read_events(session, since, limit))
    }

    fn commit(&self, session: SessionId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.ask(Job::Flush).await?;
            self.tails.lock().refusal_of(session)
        })
    }

    fn written(&self, session: SessionId, last: Seq) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.tails.until_written(session, last))
    }

    fn flush(&self) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.ask(Job::Flush).await?;
            self.tails.lock().any_refusal()
        })
    }
}

impl Catalog for SqliteStore {
    fn create(&self, record: SessionRecord) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            let session = record.id;
            self.change(CatalogChange::Create(record)).await?;
            self.tails.lock().learn(session, 0);
            Ok(())
        })
    }

    fn fork(&self, record: SessionRecord, parent: SessionId, at: Seq) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            // What was appended to the parent goes first: the fork may begin with it.
            self.ask(Job::Flush).await?;
            let session = record.id;
            self.change(CatalogChange::Fork { record, parent, at }).await?;
            self.tails.lock().learn(session, at);
            Ok(())
        })
    }

    fn find(&self, prefix: &str, limit: usize) -> BoxFuture<'_, Result<Vec<SessionRecord>, StoreError>> {
        let ids = ids_with(prefix);
        Box::pin(async move {
            let Some(ids) = ids else { return Ok(Vec::new()) };
            self.noted(self.reader.find(ids, limit).await).await
        })
    }

    fn list(&self, cwd: Option<&str>, limit: usize) -> BoxFuture<'_, Result<Vec<SessionRecord>, StoreError>> {
        let cwd = cwd.map(str::to_owned);
        Box::pin(async move { self.noted(self.reader.list(cwd, limit).await).await })
    }

    fn of_folder(&self, folder: &str, limit: usize) -> BoxFuture<'_, Result<Vec<SessionRecord>, StoreError>> {
        let folder = folder.to_owned();
        Box::pin(async move { self.noted(self.reader.of_folder(folder, limit).await).await })
    }

    fn set_title(&self, session: SessionId, title: &str, by: TitleSource) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(self.change(CatalogChange::SetTitle { session, title: title.to_owned(), by }))
    }

    fn set_folder(&self, session: SessionId, cwd: &str, folder: Option<&str>) -> BoxFuture<'_, Result<(), StoreError>> {
        let (cwd, folder) = (cwd.to_owned(), folder.map(str::to_owned));
        Box::pin(self.change(CatalogChange::SetFolder { session, cwd, folder }))
    }

    fn remove(&self, session: SessionId) -> BoxFuture<'_, Result<(), StoreError>> {
        Box::pin(async move {
            self.remove_session(session).await?;
            self.wipe().await;
            Ok(())
        })
    }

    fn ancestors(&self, session: SessionId) -> BoxFuture<'_, Result<Vec<SessionId>, StoreError>> {
        Box::pin(self.reader.ancestors(session))
    }

    fn kept(&self) -> BoxFuture<'_, Result<HashSet<SessionId>, StoreError>> {
        Box::pin(self.reader.kept())
    }

    fn count_messages(&self, sessions: Vec<SessionId>) -> BoxFuture<'_, Result<HashMap<SessionId, u64>, StoreError>> {
        Box::pin(async move {
            let mut counted = HashMap::new();
            for session in sessions {
                let (messages, upto) = match self.noted(self.reader.messages(session).await).await {
                    Ok(Some(found)) => found,
                    Ok(None) => continue,
                    // One that can't be read keeps nobody from the others.
                    Err(error) => {
                        tracing::warn!(%error, %session, "the messages of a session can't be counted");
                        continue;
                    }
                };
                counted.insert(session, messages);
                let kept = self.change(CatalogChange::SetMessages { session, messages, upto }).await;
                if let Err(error) = kept {
                    tracing::info!(%error, "how many messages a session has is counted again the next time");
                }
            }
            Ok(counted)
        })
    }

    fn search(&self, query: SearchQuery) -> BoxFuture<'_, Result<Vec<SearchHit>, StoreError>> {
        Box::pin(async move {
            // What is not written yet can't be found.
            self.ask(Job::Flush).await?;
            self.noted(self.index.search(&query).await).await
        })
    }

    fn sizes(&self) -> BoxFuture<'_, Result<StoreSizes, StoreError>> {
        Box::pin(async move {
            let sizes = self.reader.sizes().await?;
            let reserve_bytes = reserve::bytes(self.reader.path());
            Ok(StoreSizes { search_bytes: self.index.bytes(), reserve_bytes, ..sizes })
        })
    }

    fn bytes_of(&self, sessions: Vec<SessionId>) -> BoxFuture<'_, Result<HashMap<SessionId, u64>, StoreError>> {
        Box::pin(self.reader.bytes_of(sessions.into_iter()))
    }

    fn own_events(
        &self,
        session: SessionId,
        since: Seq,
        kinds: &'static [&'static str],
    ) -> BoxFuture<'_, Result<Vec<Event>, StoreError>> {
        Box::pin(self.reader.own_events(session, since, kinds))
    }

    fn prune(&self, prune: Prune) -> BoxFuture<'_, Result<Pruned, StoreError>> {
        Box::pin(self.prune_sessions(prune))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance;

    #[tokio::test]
    async fn passes_the_conformance_suite() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("neco.db");
        conformance::check(async || SqliteStore::open(&path).await.unwrap()).await.unwrap();
    }

    #[tokio::test]
    async fn the_bundled_sqlite_is_new_enough() {
        let dir = tempfile::tempdir().unwrap();
        let mut connection = super::super::open::open(&dir.path().join("neco.db")).await.unwrap();
        let ask = "SELECT sqlite_version(), journal_mode, synchronous FROM pragma_journal_mode, pragma_synchronous";
        let (version, mode, synchronous): (String, String, i64) =
            sql!(query_as.fetch_one(&mut connection), ask).unwrap();
        let version: Vec<u32> = version.split('.').map(|part| part.parse().unwrap()).collect();
        assert!(version >= vec![3, 51, 3], "{version:?}");
        assert_eq!((mode.as_str(), synchronous), ("wal", 2));
    }
}
