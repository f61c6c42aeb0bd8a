//! The one thread that writes.
//!
//! A thread with a small runtime of its own rather than a task: what was appended gets written even
//! when the runtime of the callers ends first, and a transaction is never cancelled half way.

use std::collections::HashSet;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use neco_proto::SessionId;
use sqlx::{AssertSqlSafe, Connection, SqliteConnection};
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::time::Instant;

use super::job::{Batch, CatalogChange, Job, Reply};
use super::search::SearchIndex;
use super::tails::SharedTails;
use super::transaction::{self, Outcome};
use super::{failure, open, remove, reserve};
use crate::error::StoreError;
use crate::live::Live;
use crate::search::text::KINDS;

/// How many jobs may wait before appending has to wait, too.
const QUEUE: usize = 256;
/// How many bytes of events are collected before they are written without further delay.
const ENOUGH_BYTES: usize = 1 << 20;
/// How long events that nobody waits for are collected.
const SOON: Duration = Duration::from_millis(50);
/// How long after a failed write the next attempt is made, if nobody asks for one earlier.
const RETRY: Duration = Duration::from_secs(1);
/// How long events that only pass are left to a later commit: less than work that was killed may have gone on after
/// the last that was heard of it.
const UNFORCED: Duration = Duration::from_secs(5);

/// Starts the thread. It ends when it is told to close, or when all senders are gone; then it first
/// writes what waits.
pub(super) fn start(
    path: &Path,
    connection: SqliteConnection,
    presence: File,
    shared: Shared,
) -> std::io::Result<(Sender<Job>, JoinHandle<()>)> {
    let (sender, jobs) = mpsc::channel(QUEUE);
    let writer = Writer::new(path, connection, Some(presence), shared, jobs);
    let thread = std::thread::Builder::new().name("neco-store".to_owned()).spawn(move || {
        match tokio::runtime::Builder::new_current_thread().enable_time().build() {
            Ok(runtime) => runtime.block_on(writer.run()),
            // The jobs go down with the writer, so everybody learns that the store is closed.
            Err(error) => tracing::error!(%error, "the store's writer did not start"),
        }
    })?;
    Ok((sender, thread))
}

/// What the thread shares with those who append and read.
pub(super) struct Shared {
    pub(super) tails: Arc<SharedTails>,
    pub(super) live: Arc<Live>,
    pub(super) index: Arc<SearchIndex>,
}

struct Writer {
    path: PathBuf,
    /// Gone when it broke down; the next write opens another one.
    connection: Option<Connected>,
    /// Since when something is written that may not be on the disk for good.
    unforced_since: Option<Instant>,
    /// Held until the database is closed.
    presence: Option<File>,
    tails: Arc<SharedTails>,
    live: Arc<Live>,
    indexer: Indexer,
    jobs: Receiver<Job>,
}

/// When a commit is on the disk for good.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Commit {
    /// When it is done, with all before it.
    AtOnce,
    /// With the next one that is there at once.
    Later,
}

/// The connection that writes.
struct Connected {
    connection: SqliteConnection,
    /// How it commits.
    commits: Commit,
}

impl Connected {
    /// One that was just opened has everything on the disk at once.
    fn new(connection: SqliteConnection) -> Self {
        Self { connection, commits: Commit::AtOnce }
    }

    async fn committing(&mut self, commit: Commit) -> Result<&mut SqliteConnection, sqlx::Error> {
        if self.commits != commit {
            let order = match commit {
                Commit::AtOnce => "PRAGMA synchronous = FULL",
                Commit::Later => "PRAGMA synchronous = NORMAL",
            };
            // Where that fails nobody knows which it is, so nothing is taken to be on the disk.
            self.commits = Commit::Later;
            sql!(query.execute(&mut self.connection), order)?;
            self.commits = commit;
        }
        Ok(&mut self.connection)
    }

    /// Writes the database anew without what is free in it, if that is worth it, and empties the write-ahead log.
    async fn shrink(&mut self, presence: Option<&File>) -> Result<(), sqlx::Error> {
        let connection = self.committing(Commit::AtOnce).await?;
        if let Err(error) = remove::release_left(connection).await {
            tracing::info!(reason = failure::plain(&error), "something of removed sessions is left");
        }
        // Nobody else opens the database while this one is alone with it.
        let alone = presence.is_some_and(|presence| presence.try_lock().is_ok());
        // Trying for more may have cost what was held.
        if !alone {
            hold_presence(presence);
        }
        let shrunk = remove::shrink(connection, alone).await;
        if alone {
            hold_presence(presence);
        }
        shrunk
    }
}

/// What waits to be written.
#[derive(Default)]
struct Pending {
    batches: Vec<Batch>,
    bytes: usize,
    changes: Vec<(CatalogChange, Reply)>,
    flushes: Vec<Reply>,
    removals: Vec<(SessionId, Reply)>,
    shrinks: Vec<Reply>,
    closes: Vec<Reply>,
    /// Whether somebody waits for it.
    is_awaited: bool,
    /// Whether it is on the disk for good when it is written: somebody acts on it, or waits for that.
    is_to_last: bool,
    /// When the batches are written at the latest.
    deadline: Option<Instant>,
}

impl Pending {
    fn add(&mut self, job: Job) {
        match job {
            // What else is there is written at once.
            Job::Begin => return,
            Job::Append(batch) => {
                self.deadline.get_or_insert_with(|| Instant::now() + SOON);
                self.is_awaited |= batch.reply.is_some();
                self.is_to_last |= batch.reply.is_some() || !batch.is_passing;
                self.bytes += batch.bytes();
                self.batches.push(batch);
                return;
            }
            Job::Catalog(change, reply) => {
                self.is_to_last |= !change.waits_for_events();
                self.is_awaited = true;
                self.changes.push((change, reply));
                return;
            }
            Job::Flush(reply) => self.flushes.push(reply),
            Job::RemoveInLittleRoom(session, reply) => self.removals.push((session, reply)),
            Job::Shrink(reply) => self.shrinks.push(reply),
            Job::Close(reply) => self.closes.push(reply),
        }
        (self.is_awaited, self.is_to_last) = (true, true);
    }

    fn is_enough(&self) -> bool {
        self.bytes >= ENOUGH_BYTES
    }
}

/// Shows that the database is in use.
fn hold_presence(presence: Option<&File>) {
    if let Some(Err(error)) = presence.map(File::lock_shared) {
        tracing::warn!(%error, "the lock on the session store is lost");
    }
}

impl Writer {
    fn new(
        path: &Path,
        connection: SqliteConnection,
        presence: Option<File>,
        shared: Shared,
        jobs: Receiver<Job>,
    ) -> Self {
        let Shared { tails, live, index } = shared;
        let (path, connection) = (path.to_owned(), Some(Connected::new(connection)));
        Self { path, connection, unforced_since: None, presence, tails, live, indexer: Indexer::new(index), jobs }
    }

    async fn run(mut self) {
        let mut keeps_room = false;
        let mut pending = Pending::default();
        loop {
            let next = match pending.deadline.or(self.indexer.due()) {
                None => Ok(self.jobs.recv().await),
                Some(deadline) => tokio::time::timeout_at(deadline, self.jobs.recv()).await,
            };
            match next {
                Ok(Some(Job::Begin)) if !keeps_room => {
                    self.begin().await;
                    continue;
                }
                Ok(Some(job)) => {
                    pending.add(job);
                    self.take_waiting(&mut pending);
                    if !pending.is_awaited && !pending.is_enough() {
                        continue;
                    }
                }
                Ok(None) => break,
                Err(_elapsed) if pending.deadline.is_none() => {
                    // The last room of a disk is for the sessions themselves; a search takes in what is missing.
                    // What a loss of power takes from the log must not be in the index.
                    let room = reserve::has_plenty(&self.path) && self.force_what_was_left().await.is_ok();
                    self.indexer.start(room);
                    continue;
                }
                Err(_elapsed) => {}
            }
            let closes = std::mem::take(&mut pending.closes);
            let written = self.write(&mut pending).await;
            // Whoever came first has their answer by now.
            if !std::mem::replace(&mut keeps_room, true) {
                reserve::keep(&self.path, reserve::PLENTY);
            }
            if !closes.is_empty() && self.close(written, closes, &mut pending).await {
                return;
            }
        }
        pending.is_to_last = true;
        let _ = self.write(&mut pending).await;
        self.disconnect().await;
    }

    fn take_waiting(&mut self, pending: &mut Pending) {
        while !pending.is_enough()
            && let Ok(job) = self.jobs.try_recv()
        {
            pending.add(job);
        }
    }

    /// Writes what waits and answers everybody who waits for it. On a full disk it is enough that all is written.
    async fn write(&mut self, pending: &mut Pending) -> Result<(), StoreError> {
        let committed = self.commit(pending).await;
        match &committed {
            Ok(outcome) => self.settle(pending, outcome),
            Err(error) => self.keep_unanswered(pending, error),
        }
        self.tails.settled();
        pending.is_awaited = false;
        // What could not be written waits for the next attempt.
        let is_left_to_last = pending.batches.iter().any(|batch| !batch.is_passing);
        let is_to_last = std::mem::replace(&mut pending.is_to_last, is_left_to_last);
        let written = committed.map(drop);
        let is_written = written.is_ok();
        // A commit that changed nothing has forced nothing.
        let lasts = if is_written && is_to_last { self.force_what_was_left().await } else { written };
        for reply in pending.flushes.drain(..) {
            let _ = reply.send(lasts.clone());
        }
        for (session, reply) in std::mem::take(&mut pending.removals) {
            let _ = reply.send(self.remove_bit_by_bit(session).await);
        }
        for reply in std::mem::take(&mut pending.shrinks) {
            let shrunk = if lasts.is_ok() { self.shrink().await } else { lasts.clone() };
            let _ = reply.send(shrunk);
        }
        match lasts {
            Err(error) if is_written && failure::is_full_disk(&error) => {
                tracing::warn!(%error, "the last events are written, but a loss of power may take them");
                Ok(())
            }
            other => other,
        }
    }

    /// A connection that broke down has nothing to shrink.
    async fn shrink(&mut self) -> Result<(), StoreError> {
        let Some(connected) = &mut self.connection else { return Ok(()) };
        let shrunk = connected.shrink(self.presence.as_ref()).await;
        self.end(shrunk).await
    }

    /// Removes a session where there is next to no room; what waits may be too big for it.
    async fn remove_bit_by_bit(&mut self, session: SessionId) -> Result<(), StoreError> {
        let removed = match self.connected_to(Commit::AtOnce).await {
            Ok(connection) => remove::remove_bit_by_bit(connection, session).await,
            Err(error) => Err(error),
        };
        self.end(removed).await.flatten()
    }

    /// The connection, or another one where it broke down.
    async fn connected_to(&mut self, commit: Commit) -> Result<&mut SqliteConnection, sqlx::Error> {
        let connected = match &mut self.connection {
            Some(connected) => connected,
            slot @ None => slot.insert(Connected::new(open::connect_writer(&self.path).await?)),
        };
        connected.committing(commit).await
    }

    async fn commit(&mut self, pending: &Pending) -> Result<Outcome, StoreError> {
        if pending.batches.is_empty() && pending.changes.is_empty() {
            return Ok(Outcome { changes: Vec::new(), batches: Vec::new() });
        }
        let is_overdue = self.unforced_since.is_some_and(|since| since.elapsed() >= UNFORCED);
        let commit = if pending.is_to_last || is_overdue { Commit::AtOnce } else { Commit::Later };
        let changes: Vec<_> = pending.changes.iter().map(|(change, _)| change).collect();
        let committed = match self.connected_to(commit).await {
            Ok(connection) => transaction::commit(connection, &changes, &pending.batches).await,
            Err(error) => Err(error),
        };
        let outcome = self.end(committed).await?;
        match commit {
            Commit::Later => {
                self.unforced_since.get_or_insert_with(Instant::now);
            }
            Commit::AtOnce if outcome.batches.iter().any(Result::is_ok) => self.unforced_since = None,
            // Where all of it was refused nothing was forced.
            Commit::AtOnce => {}
        }
        Ok(outcome)
    }

    /// Has on the disk what was left to a later commit, which this is.
    async fn force_what_was_left(&mut self) -> Result<(), StoreError> {
        if self.unforced_since.is_none() {
            return Ok(());
        }
        // Any write will do: all that was written before it is forced with it.
        self.write_nothing(Commit::AtOnce).await?;
        self.unforced_since = None;
        Ok(())
    }

    /// Begins the write-ahead log, whose beginning has to be on the disk before anything else of it is: the first who
    /// writes something does not wait for that. Where it can't be begun, they are told.
    async fn begin(&mut self) {
        if let Err(error) = self.write_nothing(Commit::Later).await {
            tracing::debug!(%error, "the write-ahead log is not begun ahead");
        }
    }

    /// A write that changes nothing; a row that stays as it is would not even be written.
    async fn write_nothing(&mut self, commit: Commit) -> Result<(), StoreError> {
        let same = format!("PRAGMA application_id = {}", open::APPLICATION_ID);
        let written = match self.connected_to(commit).await {
            Ok(connection) => sqlx::query(AssertSqlSafe(same)).execute(connection).await.map(drop),
            Err(error) => Err(error),
        };
        self.end(written).await
    }

    /// What came of something, for whoever asked for it.
    async fn end<T>(&mut self, done: Result<T, sqlx::Error>) -> Result<T, StoreError> {
        if let Err(error) = &done {
            self.roll_back(error).await;
        }
        done.map_err(|error| failure::writing(&self.path, &error))
    }

    /// Ends a failed transaction. The connection is kept where SQLite itself refused: on a full disk a
    /// new one could not even be opened.
    async fn roll_back(&mut self, error: &sqlx::Error) {
        if error.as_database_error().is_none() {
            self.connection = None;
        }
        if let Some(connected) = &mut self.connection {
            // This fails when SQLite has rolled back already.
            let _ = sql!(query.execute(&mut connected.connection), "ROLLBACK");
        }
    }

    /// After a commit.
    fn settle(&mut self, pending: &mut Pending, outcome: &Outcome) {
        let mut tails = self.tails.lock();
        tails.is_blocked = false;
        self.indexer.note(&pending.batches);
        for (batch, result) in pending.batches.drain(..).zip(&outcome.batches) {
            match result {
                Ok(()) => {
                    tails.written(batch.session, batch.last);
                    self.live.publish(batch.shown.into_vec());
                }
                Err(_) => tails.cut(batch.session, batch.first),
            }
            match (batch.reply, result) {
                (Some(reply), _) => drop(reply.send(result.clone())),
                (None, Err(refusal)) => tails.refuse(batch.session, refusal),
                (None, Ok(())) => {}
            }
        }
        for ((_, reply), result) in pending.changes.drain(..).zip(&outcome.changes) {
            let _ = reply.send(result.clone());
        }
        pending.bytes = 0;
        pending.deadline = None;
    }

    /// After a failure: whoever waits is told, and what nobody waits for is kept for the next attempt.
    fn keep_unanswered(&self, pending: &mut Pending, error: &StoreError) {
        for (_, reply) in pending.changes.drain(..) {
            let _ = reply.send(Err(error.clone()));
        }
        let mut tails = self.tails.lock();
        let mut cut = HashSet::new();
        for batch in std::mem::take(&mut pending.batches) {
            let follows_a_cut = cut.contains(&batch.session);
            match batch.reply {
                None if !follows_a_cut => pending.batches.push(batch),
                None => tails.refuse(batch.session, error),
                Some(reply) => {
                    cut.insert(batch.session);
                    tails.cut(batch.session, batch.first);
                    let _ = reply.send(Err(error.clone()));
                }
            }
        }
        let is_blocked = !pending.batches.is_empty();
        if is_blocked && !tails.is_blocked {
            tracing::warn!(%error, "events could not be written and are kept in memory");
        }
        tails.is_blocked = is_blocked;
        pending.bytes = pending.batches.iter().map(Batch::bytes).sum();
        pending.deadline = is_blocked.then(|| Instant::now() + RETRY);
    }

    /// Closes the database, unless something could not be written: then the store stays open, so that
    /// closing can be tried again. Says whether it is closed.
    async fn close(&mut self, written: Result<(), StoreError>, closes: Vec<Reply>, pending: &mut Pending) -> bool {
        let is_closed = written.is_ok();
        let mut result = written;
        if is_closed {
            self.jobs.close();
            while let Some(job) = self.jobs.recv().await {
                pending.add(job);
            }
            pending.is_to_last = true;
            result = self.write(pending).await;
            self.disconnect().await;
        }
        for reply in closes.into_iter().chain(pending.closes.drain(..)) {
            let _ = reply.send(result.clone());
        }
        is_closed
    }

    /// The last connection to close moves the write-ahead log into the database and removes it.
    async fn disconnect(&mut self) {
        self.indexer.stop().await;
        if let Some(connected) = self.connection.take()
            && let Err(error) = connected.connection.close().await
        {
            tracing::warn!(%error, "the session store did not close cleanly; nothing is lost");
        }
        self.presence = None;
    }
}

/// How long nothing was written when it begins.
const QUIET: Duration = Duration::from_secs(2);

/// Brings the index up to date, on a thread of its own.
/// A search does so itself; this only keeps it from having much to do. So it waits until the store has been quiet
/// for a while, as it is while a model answers or a person thinks, and a short run does nothing here.
struct Indexer {
    index: Arc<SearchIndex>,
    thread: Option<JoinHandle<()>>,
    due: Option<Instant>,
}

impl Indexer {
    fn new(index: Arc<SearchIndex>) -> Self {
        Self { index, thread: None, due: None }
    }

    /// When there is something to do, if nothing is written until then.
    fn due(&self) -> Option<Instant> {
        self.due
    }

    /// These were written.
    fn note(&mut self, batches: &[Batch]) {
        let is_searched = batches.iter().flat_map(|batch| &batch.rows).any(|row| KINDS.contains(&&*row.kind));
        if is_searched || self.due.is_some() {
            self.due = Some(Instant::now() + QUIET);
        }
    }

    /// Begins where there is `room` for it, unless it is still at it: then a little later.
    fn start(&mut self, room: bool) {
        if self.thread.as_ref().is_some_and(|thread| !thread.is_finished()) {
            self.due = Some(Instant::now() + QUIET);
            return;
        }
        self.due = None;
        if !room {
            return;
        }
        let index = Arc::clone(&self.index);
        let started = std::thread::Builder::new().name("neco-search".to_owned()).spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build();
            let done = runtime.map(|runtime| runtime.block_on(index.catch_up()));
            if let Ok(Err(error)) = done {
                tracing::debug!(%error, "the search index is not up to date; the next search tries again");
            }
        });
        self.thread = started.ok();
    }

    /// Ends the thread at the next opportunity.
    async fn stop(&mut self) {
        self.index.begin_closing();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.index.close().await;
    }
}

#[cfg(test)]
#[path = "writer_tests.rs"]
mod tests;
