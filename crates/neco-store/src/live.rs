//! What is appended, as it happens: who writes which session in this process, and who follows it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures::stream::{BoxStream, StreamExt, unfold};
use neco_proto::{Event, Seq, SessionId};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::broadcast::{Receiver, Sender, channel};

use crate::error::StoreError;
use crate::log::EventLog;

/// Events that whoever follows may lag behind before they are read from the log again.
const LAG: usize = 1024;

/// Events that are read at a time.
const PAGE: usize = 512;

/// How often it is looked for what another process has appended.
const LOOK: Duration = Duration::from_millis(200);

/// The sessions that are written and followed in this process.
#[derive(Debug, Default)]
pub(crate) struct Live {
    sessions: Mutex<Sessions>,
}

#[derive(Debug, Default)]
struct Sessions {
    written: HashSet<SessionId>,
    followed: HashMap<SessionId, Sender<Arc<Event>>>,
}

/// That a session is written in this process, until it is dropped.
pub(crate) struct Claim {
    live: Arc<Live>,
    session: SessionId,
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut sessions = self.live.sessions();
        sessions.written.remove(&self.session);
        // Whoever follows waits for nobody here any more: another process may write from now on.
        sessions.followed.remove(&self.session);
    }
}

impl Live {
    fn sessions(&self) -> MutexGuard<'_, Sessions> {
        // Every change is one step, so a panic elsewhere spoils nothing.
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes that `session` is written in this process; none when it is already.
    pub(crate) fn claim(self: &Arc<Self>, session: SessionId) -> Option<Claim> {
        let is_new = self.sessions().written.insert(session);
        is_new.then(|| Claim { live: Arc::clone(self), session })
    }

    /// Whether `session` is written in this process.
    pub(crate) fn is_claimed(&self, session: SessionId) -> bool {
        self.sessions().written.contains(&session)
    }

    /// Shows what is in the log now to those who follow it; what somebody waits for when it is on the disk, as it may be
    /// refused before.
    pub(crate) fn publish(&self, events: Vec<Event>) {
        let Some(session) = events.first().map(|event| event.session_id) else { return };
        let mut sessions = self.sessions();
        let Some(sender) = sessions.followed.get(&session) else { return };
        if sender.receiver_count() == 0 {
            sessions.followed.remove(&session);
            return;
        }
        for event in events {
            let _ = sender.send(Arc::new(event));
        }
    }

    fn appended_to(&self, session: SessionId) -> Receiver<Arc<Event>> {
        self.sessions().followed.entry(session).or_insert_with(|| channel(LAG).0).subscribe()
    }

    /// All events of `session` after `since`: first from `log`, whose sessions these are, then as they are appended.
    pub(crate) fn follow(
        self: &Arc<Self>,
        log: Arc<dyn EventLog>,
        session: SessionId,
        since: Seq,
    ) -> BoxStream<'static, Result<Event, StoreError>> {
        let appended = self.appended_to(session);
        let follower = Follower {
            live: Arc::clone(self),
            log,
            session,
            seen: since,
            page: Vec::new().into_iter(),
            appended,
            is_behind: true,
            ahead: 0,
        };
        unfold(Some(follower), |follower| async move {
            let mut follower = follower?;
            match follower.next().await {
                Ok(event) => Some((Ok(event), Some(follower))),
                Err(error) => Some((Err(error), None)),
            }
        })
        .boxed()
    }
}

/// Somebody's place in a log.
struct Follower {
    live: Arc<Live>,
    log: Arc<dyn EventLog>,
    session: SessionId,
    seen: Seq,
    page: std::vec::IntoIter<Event>,
    appended: Receiver<Arc<Event>>,
    is_behind: bool,
    /// The last event that was shown before those that it follows: what somebody waits for is shown when it is on the
    /// disk, and what comes after it may be shown at once.
    ahead: Seq,
}

impl Drop for Follower {
    fn drop(&mut self) {
        let mut sessions = self.live.sessions();
        // This follower's own receiver is still counted.
        if sessions.followed.get(&self.session).is_some_and(|sender| sender.receiver_count() <= 1) {
            sessions.followed.remove(&self.session);
        }
    }
}

impl Follower {
    async fn next(&mut self) -> Result<Event, StoreError> {
        loop {
            if let Some(event) = self.page.next() {
                self.seen = event.seq;
                return Ok(event);
            }
            if self.is_behind {
                // In a task of its own: whoever follows may look away in the middle of it, and readers wait for each
                // other.
                let (log, session, seen) = (Arc::clone(&self.log), self.session, self.seen);
                let read = tokio::spawn(async move { log.read(session, seen, PAGE).await });
                let page = read.await.map_err(|error| StoreError::Read(error.to_string()))??;
                self.is_behind = page.len() == PAGE;
                self.page = page.into_iter();
                if !self.page.as_slice().is_empty() {
                    continue;
                }
            }
            match self.next_appended().await {
                Some(event) if event.seq <= self.seen => {}
                Some(event) if event.seq == self.seen + 1 => {
                    self.seen = event.seq;
                    self.is_behind = self.ahead > self.seen;
                    return Ok(Arc::unwrap_or_clone(event));
                }
                Some(event) => {
                    self.ahead = event.seq;
                    self.is_behind = true;
                }
                None => self.is_behind = true,
            }
        }
    }

    /// The next event that this process appends; none when the log has to be looked at.
    async fn next_appended(&mut self) -> Option<Arc<Event>> {
        let appended = self.appended.recv();
        let appended = if self.live.is_claimed(self.session) {
            appended.await
        } else {
            tokio::time::timeout(LOOK, appended).await.ok()?
        };
        if let Err(RecvError::Closed) = appended {
            self.appended = self.live.appended_to(self.session);
        }
        appended.ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemoryStore;

    #[tokio::test]
    async fn nothing_is_left_of_those_who_stop_following() {
        let (live, log) = (Arc::new(Live::default()), Arc::new(MemoryStore::default()));
        let follow = || live.follow(Arc::clone(&log) as Arc<dyn EventLog>, SessionId::new(), 0);
        let (one, other) = (follow(), follow());
        assert_eq!(live.sessions().followed.len(), 2);
        drop((one, other));
        assert!(live.sessions().followed.is_empty());
    }
}
