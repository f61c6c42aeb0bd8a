//! Keeps the workspace before and after turns, and tells of it in the log.
//!
//! A state is told when it is another than the one this session told last: what others did meanwhile is a
//! state of its own then. What can't be kept is told once, and the work goes on.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::BoxFuture;
use neco_agent::{Checkpointer, WayBack};
use neco_proto::event::{CheckpointWhen, Notification, NotificationLevel, NotificationTopic};
use neco_proto::{EventBody, TurnId};
use neco_workspace::checkpoint::{CheckpointError, Checkpoints, Note, Snapshot};
use tokio_util::task::TaskTracker;

use crate::hub::SessionCore;
use crate::rewind::event_of;

/// How long a call waits for the workspace to be kept; a disk that takes longer is not waited for again.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long nothing was kept before the store does what can wait.
const QUIET: Duration = Duration::from_secs(2);

/// What keeps the workspace of one session.
pub struct SessionCheckpoints {
    shared: Arc<Shared>,
    tasks: TaskTracker,
}

struct Shared {
    core: SessionCore,
    /// One look at a time, in the order they were asked for.
    turn: tokio::sync::Mutex<Standing>,
    /// What the last turn was about.
    label: Mutex<String>,
    /// The state before it.
    before: Mutex<Option<String>>,
    /// How many looks were begun.
    looks: AtomicU64,
}

#[derive(Default)]
struct Standing {
    /// The state that was told last.
    told: Option<String>,
    /// What could not be done, as it was told last.
    failure: Option<String>,
    /// Whether there is no use in trying again.
    off: bool,
}

impl SessionCheckpoints {
    /// Nothing is opened before something is to be kept.
    pub fn new(core: SessionCore) -> Self {
        let shared = Shared {
            core,
            turn: tokio::sync::Mutex::default(),
            label: Mutex::default(),
            before: Mutex::default(),
            looks: AtomicU64::new(0),
        };
        Self { shared: Arc::new(shared), tasks: TaskTracker::new() }
    }
}

impl Checkpointer for SessionCheckpoints {
    fn before(&self, turn: Option<TurnId>, label: String) -> BoxFuture<'static, ()> {
        self.shared.label.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&label);
        let shared = Arc::clone(&self.shared);
        let kept = self.tasks.spawn(async move { shared.keep(CheckpointWhen::Before, turn, label).await });
        // A defect in it is no reason to leave the call.
        Box::pin(async move { drop(kept.await) })
    }

    fn after(&self, turn: Option<TurnId>) {
        let label = self.shared.label.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let shared = Arc::clone(&self.shared);
        self.tasks.spawn(async move {
            shared.keep(CheckpointWhen::After, turn, label).await;
            shared.settle_when_quiet();
        });
    }

    fn settled(&self) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            self.tasks.close();
            self.tasks.wait().await;
            self.tasks.reopen();
        })
    }

    fn way_back(&self) -> Option<WayBack> {
        let rev = self.shared.before.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        Some(WayBack { session: self.shared.core.id(), rev })
    }
}

impl Shared {
    async fn keep(&self, when: CheckpointWhen, turn: Option<TurnId>, label: String) {
        let mut has_notices = false;
        let mut standing = self.turn.lock().await;
        if when == CheckpointWhen::Before {
            self.set_before(None);
        }
        if standing.off {
            return;
        }
        let note = Note { when, label: label.clone(), session: self.core.id().to_string() };
        let snapshot = self.snapshot(note).await;
        if let (CheckpointWhen::Before, Some(Ok(snapshot))) = (when, &snapshot) {
            self.set_before(Some(snapshot.rev.clone()));
        }
        let events = match snapshot {
            None => {
                standing.off = true;
                return;
            }
            Some(Ok(snapshot)) => {
                standing.failure = None;
                has_notices = !snapshot.notices.is_empty();
                tell(&mut standing, &snapshot, when, &label)
            }
            Some(Err(error)) => fail(&mut standing, when, &error).into_iter().collect(),
        };
        for body in events {
            // A log that can't be written ends the agent by itself.
            let _ = match when {
                CheckpointWhen::Before => self.core.journal.commit(self.core.root, turn, body).await,
                CheckpointWhen::After | CheckpointWhen::Restore => {
                    self.core.journal.emit(self.core.root, turn, body).await
                }
            };
        }
        if has_notices && self.core.journal.flush().await.is_ok() {
            let open = self.opener();
            // Told again, should that fail.
            let _ = tokio::task::spawn_blocking(move || open().map(|checkpoints| checkpoints.told())).await;
        }
    }

    /// Opens the states of the workspace, which may block.
    fn opener(&self) -> impl FnOnce() -> Option<Arc<dyn Checkpoints>> + Send + 'static {
        let (open, cwd) = (Arc::clone(&self.core.hub.deps().checkpoints), self.core.cwd().to_owned());
        move || open(&cwd)
    }

    fn set_before(&self, rev: Option<String>) {
        *self.before.lock().unwrap_or_else(PoisonError::into_inner) = rev;
    }

    /// Has the store do what can wait, once the agent is quiet: its own waits for the disk come first. Nobody
    /// waits for this, not even the end of the process.
    fn settle_when_quiet(self: Arc<Self>) {
        let looks = self.looks.load(Ordering::Relaxed);
        tokio::spawn(async move {
            tokio::time::sleep(QUIET).await;
            if self.looks.load(Ordering::Relaxed) != looks {
                return;
            }
            let open = self.opener();
            let settle = move || open().map(|checkpoints| checkpoints.settle());
            if let Ok(Some(Err(error))) = tokio::task::spawn_blocking(settle).await {
                tracing::warn!(%error, "checkpoints are not on the disk for good yet");
            }
        });
    }

    async fn snapshot(&self, note: Note) -> Option<Result<Snapshot, CheckpointError>> {
        let open = self.opener();
        self.looks.fetch_add(1, Ordering::Relaxed);
        let work = move || open().map(|checkpoints| checkpoints.snapshot(&note));
        match tokio::time::timeout(PATIENCE, tokio::task::spawn_blocking(work)).await {
            Ok(Ok(result)) => result,
            Ok(Err(error)) => Some(Err(CheckpointError::Damaged(error.to_string()))),
            Err(_) => Some(Err(CheckpointError::TooSlow { seconds: PATIENCE.as_secs() })),
        }
    }
}

fn tell(standing: &mut Standing, snapshot: &Snapshot, when: CheckpointWhen, label: &str) -> Vec<EventBody> {
    let mut events: Vec<EventBody> = snapshot
        .notices
        .iter()
        .map(|text| EventBody::Notification(Notification::new(NotificationLevel::Warning, text.clone())))
        .collect();
    if standing.told.as_ref() != Some(&snapshot.rev) {
        standing.told = Some(snapshot.rev.clone());
        events.push(EventBody::Checkpoint(event_of(snapshot, when, label)));
    }
    events
}

fn fail(standing: &mut Standing, when: CheckpointWhen, error: &CheckpointError) -> Option<EventBody> {
    let told = match error {
        CheckpointError::TooManyFiles { .. }
        | CheckpointError::NotAProject { .. }
        | CheckpointError::TooSlow { .. } => {
            standing.off = true;
            let text = format!("No checkpoints here, so changes can't be undone: {error}");
            Notification::new(NotificationLevel::Info, text)
        }
        _ => {
            let text = format!("No checkpoint {when} this turn, so it can't be undone: {error}");
            Notification::new(NotificationLevel::Warning, text).about(NotificationTopic::NotKept)
        }
    };
    let is_known = standing.failure.as_ref() == Some(&told.text);
    standing.failure = Some(told.text.clone());
    (!is_known).then_some(EventBody::Notification(told))
}
