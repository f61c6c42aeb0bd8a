//! Brings the search index up to date while nothing else is to be done.
//!
//! A search does so itself; this only keeps it from having much to do. So it waits until the store has been
//! quiet for a while, as it is while a model answers or a person thinks, and a short run does nothing here.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::time::Instant;

use super::job::Batch;
use super::search::SearchIndex;
use crate::search::text::KINDS;

/// How long nothing was written when it begins.
const QUIET: Duration = Duration::from_secs(2);

/// Brings the index up to date, on a thread of its own.
pub(super) struct Indexer {
    index: Arc<SearchIndex>,
    thread: Option<JoinHandle<()>>,
    due: Option<Instant>,
}

impl Indexer {
    pub(super) fn new(index: Arc<SearchIndex>) -> Self {
        Self { index, thread: None, due: None }
    }

    /// When there is something to do, if nothing is written until then.
    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// These were written.
    pub(super) fn note(&mut self, batches: &[Batch]) {
        let is_searched = batches.iter().flat_map(|batch| &batch.rows).any(|row| KINDS.contains(&&*row.kind));
        if is_searched || self.due.is_some() {
            self.due = Some(Instant::now() + QUIET);
        }
    }

    /// Begins where there is `room` for it, unless it is still at it: then a little later.
    pub(super) fn start(&mut self, room: bool) {
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
    pub(super) async fn stop(&mut self) {
        self.index.begin_closing();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.index.close().await;
    }
}
