//! Where each session's log ends, and what of it is not written yet.
//!
//! Known for the sessions this process appended to. The caller of an append and the writer meet here:
//! the caller adds, the writer takes away what it has written. What the database says is the truth
//! in the end; the writer compares with it in the transaction.

use std::collections::{HashMap, VecDeque};
use std::sync::{Mutex, MutexGuard, PoisonError};

use neco_proto::{Seq, SessionId};
use tokio::sync::Notify;

use super::job::{Batch, Row};
use crate::error::StoreError;

/// The tails of all sessions, shared by the callers and the writer.
#[derive(Default)]
pub(super) struct SharedTails {
    tails: Mutex<Tails>,
    /// Told whenever the writer has answered for what it was given.
    settled: Notify,
}

impl SharedTails {
    /// Never held across an await.
    pub(super) fn lock(&self) -> MutexGuard<'_, Tails> {
        // No method of `Tails` panics half way, so a poisoned lock guards sound data.
        self.tails.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session is no more: who waits for its events waits no longer.
    pub(super) fn forget(&self, session: SessionId) {
        self.lock().forget(session);
        self.settled();
    }

    /// The writer has taken away what it has written, or what it could not write.
    pub(super) fn settled(&self) {
        self.settled.notify_waiters();
    }

    /// Ready when the events of `session` up to `last` are written, or never will be. Those that only pass may be taken
    /// by a loss of power all the same.
    pub(super) async fn until_written(&self, session: SessionId, last: Seq) -> Result<(), StoreError> {
        loop {
            // Made before the look: what is settled between the two is not missed.
            let settled = self.settled.notified();
            if let Some(outcome) = self.lock().outcome(session, last) {
                return outcome;
            }
            settled.await;
        }
    }
}

/// The tails of all sessions.
#[derive(Default)]
pub(super) struct Tails {
    sessions: HashMap<SessionId, Tail>,
    /// Whether events wait that could not be written.
    pub(super) is_blocked: bool,
    /// Why events that somebody was told are appended are not in the log after all.
    refusals: HashMap<SessionId, StoreError>,
}

#[derive(Default)]
struct Tail {
    /// The last event that was appended.
    last: Seq,
    /// The last event that is written.
    written: Seq,
    /// Events nobody waits for that are not written yet.
    unwritten: VecDeque<Row>,
}

/// Why a batch does not fit.
pub(super) enum Misfit {
    /// Nothing is known about the session.
    Unknown,
    /// Another event is due.
    Gap {
        /// The one that is due.
        expected: Seq,
    },
}

impl Tails {
    /// Notes what the database says about the end of a log. What was appended here since counts more.
    pub(super) fn learn(&mut self, session: SessionId, last: Seq) {
        let tail = self.sessions.entry(session).or_default();
        tail.last = tail.last.max(last);
        tail.written = tail.written.max(last);
    }

    /// The session is no more; what the database says counts again.
    fn forget(&mut self, session: SessionId) {
        self.sessions.remove(&session);
        self.refusals.remove(&session);
    }

    /// Adds `batch` at the end of its log, if it fits there.
    pub(super) fn extend(&mut self, batch: &Batch) -> Result<(), Misfit> {
        let tail = self.sessions.get_mut(&batch.session).ok_or(Misfit::Unknown)?;
        let expected = tail.last + 1;
        if batch.first != expected {
            return Err(Misfit::Gap { expected });
        }
        tail.last = batch.last;
        if batch.reply.is_none() {
            tail.unwritten.extend(batch.rows.iter().cloned());
        }
        Ok(())
    }

    /// The events after `since` that are not written and that nobody waits for.
    pub(super) fn unwritten(&self, session: SessionId, since: Seq, limit: usize) -> Vec<Row> {
        let Some(tail) = self.sessions.get(&session) else { return Vec::new() };
        tail.unwritten.iter().filter(|row| row.seq > since).take(limit).cloned().collect()
    }

    /// The events up to `last` are written.
    pub(super) fn written(&mut self, session: SessionId, last: Seq) {
        let Some(tail) = self.sessions.get_mut(&session) else { return };
        tail.written = tail.written.max(last);
        while tail.unwritten.front().is_some_and(|row| row.seq <= last) {
            tail.unwritten.pop_front();
        }
    }

    /// What came of the events of `session` up to `last`; nothing as long as they wait.
    fn outcome(&self, session: SessionId, last: Seq) -> Option<Result<(), StoreError>> {
        // What nobody appended to here was read from the disk.
        let Some(tail) = self.sessions.get(&session) else { return Some(Ok(())) };
        if tail.written >= last {
            return Some(Ok(()));
        }
        let refusal = || self.refusals.get(&session).cloned().unwrap_or(StoreError::Closed);
        (tail.last < last).then(|| Err(refusal()))
    }

    /// Events of `session` that somebody was told are appended are not in the log after all.
    pub(super) fn refuse(&mut self, session: SessionId, reason: &StoreError) {
        self.refusals.insert(session, reason.clone());
    }

    /// What is to be told to the next one who appends to `session`; told once.
    pub(super) fn refusal_of(&mut self, session: SessionId) -> Result<(), StoreError> {
        self.refusals.remove(&session).map_or(Ok(()), Err)
    }

    /// What is to be told to somebody; told once.
    pub(super) fn any_refusal(&mut self) -> Result<(), StoreError> {
        let session = self.refusals.keys().next().copied();
        session.map_or(Ok(()), |session| self.refusal_of(session))
    }

    /// The events from `first` on are not in the log after all.
    pub(super) fn cut(&mut self, session: SessionId, first: Seq) {
        let Some(tail) = self.sessions.get_mut(&session) else { return };
        tail.last = tail.last.min(first.saturating_sub(1));
        tail.unwritten.retain(|row| row.seq < first);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[tokio::test]
    async fn whoever_waits_for_a_session_that_is_removed_waits_no_longer() {
        let (tails, session) = (Arc::new(SharedTails::default()), SessionId::new());
        tails.lock().sessions.insert(session, Tail { last: 2, written: 1, ..Tail::default() });
        let waiting = Arc::clone(&tails);
        let waiting = tokio::spawn(async move { waiting.until_written(session, 2).await });
        tokio::task::yield_now().await;
        assert!(!waiting.is_finished());
        tails.forget(session);
        assert!(waiting.await.unwrap().is_ok());
    }
}
