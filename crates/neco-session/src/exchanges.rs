//! Keeps what was said with the states of the files: each exchange, a message of the person and all that was done about
//! it, is a commit in the repository of checkpoints.
//!
//! It is written behind the work, and nothing waits for it. The log is the truth: whatever is missing in the repository
//! is written the next time, from the log, under the same names.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use neco_proto::{AgentId, Event, EventBody, Message, Role, Seq, SessionId};
use neco_safety::secrets::Redactor;
use neco_store::{EventLog, SessionRecord, StoreError};
use neco_workspace::checkpoint::{CheckpointError, Checkpoints, KeptExchange, NewExchange};
use serde::{Deserialize, Serialize};
use tokio::task::JoinHandle;

use crate::hub::{Hub, SessionCore};
use crate::redacted::redact;
use crate::rewind::RewindHistory;

/// The version of the files that are written.
pub const FORMAT: u32 = 1;

/// How many events are read at a time.
const PAGE: usize = 2048;

/// How long nothing came to rest before the store does what can wait.
const QUIET: Duration = Duration::from_secs(3);

/// How long the end of a session waits for the last exchange to be written.
const PATIENCE: Duration = Duration::from_secs(1);

/// The message of an exchange in which the person said nothing.
const WENT_ON: &str = "(continued)";

/// The first line of the file of an exchange; each further line is an event. What only shows how the work goes on is
/// left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExchangeHeader {
    /// The version of the format; what makes the line a header.
    pub neco_exchange: u32,
    /// The session.
    pub session: SessionId,
    /// The first and the last of its events.
    pub events: (Seq, Seq),
}

/// Why exchanges can't be kept.
#[derive(Debug, thiserror::Error)]
enum NotKept {
    #[error(transparent)]
    Log(#[from] StoreError),
    #[error(transparent)]
    Repository(#[from] CheckpointError),
}

/// Keeps the exchanges of a session as long as it is open.
pub struct ExchangeKeeper {
    shared: Arc<Shared>,
    following: JoinHandle<()>,
}

struct Shared {
    core: SessionCore,
    writing: tokio::sync::Mutex<()>,
    /// The last event at which all that was said was kept.
    kept: AtomicU64,
}

impl ExchangeKeeper {
    /// Begins to keep them.
    pub fn start(core: SessionCore) -> Self {
        let shared = Arc::new(Shared { core, writing: tokio::sync::Mutex::default(), kept: AtomicU64::new(0) });
        let following = tokio::spawn(Arc::clone(&shared).follow());
        Self { shared, following }
    }

    /// Keeps what came last, as far as that takes a moment only: the next run does what is left.
    pub async fn close(self) {
        if tokio::time::timeout(PATIENCE, self.shared.keep()).await.is_err() {
            tracing::info!("the last exchange is kept when the session is opened again");
        }
    }
}

impl Drop for ExchangeKeeper {
    fn drop(&mut self) {
        self.following.abort();
    }
}

impl Shared {
    async fn follow(self: Arc<Self>) {
        let mut rests = self.core.journal.rests();
        while rests.changed().await.is_ok() {
            self.keep().await;
            // Having it on the disk for good waits until the agent is quiet: its own waits for the disk come first.
            match tokio::time::timeout(QUIET, rests.changed()).await {
                Ok(Ok(())) => rests.mark_changed(),
                Ok(Err(_)) => return,
                Err(_) => self.core.hub.settle_checkpoints(self.core.cwd()).await,
            }
        }
    }

    async fn keep(&self) {
        let _writing = self.writing.lock().await;
        let rested = *self.core.journal.rests().borrow();
        if self.kept.load(Ordering::Relaxed) == rested || !self.core.hub.deps().conversations {
            return;
        }
        match keep(&self.core.hub, &self.core.record, Some(self.core.root)).await {
            Ok(()) => self.kept.store(rested, Ordering::Relaxed),
            Err(error) => tracing::warn!(%error, "what was said is not in the repository of checkpoints yet"),
        }
    }
}

/// Keeps what was said in a session that was restored: its events have other numbers now, so its commits are written
/// again, and those that it had are put aside.
pub async fn keep_restored(hub: &Hub, record: &SessionRecord) {
    if !hub.deps().conversations {
        return;
    }
    if let Some(checkpoints) = hub.checkpoints(Path::new(&record.cwd)).await {
        let session = record.id;
        if let Err(error) = aside(&checkpoints, move |checkpoints| checkpoints.begin_anew(session)).await {
            tracing::warn!(%error, "what was said is not in the repository of checkpoints yet");
            return;
        }
    }
    keep_closed(hub, record).await;
}

/// Keeps what was said in a session that nobody has open, and that went back or was restored.
pub async fn keep_closed(hub: &Hub, record: &SessionRecord) {
    if hub.deps().conversations
        && let Err(error) = keep(hub, record, None).await
    {
        tracing::warn!(%error, "what was said is not in the repository of checkpoints yet");
    }
}

/// Writes all exchanges that are not kept, and has what was gone back over aside.
async fn keep(hub: &Hub, record: &SessionRecord, root: Option<AgentId>) -> Result<(), NotKept> {
    let Some(checkpoints) = hub.checkpoints(Path::new(&record.cwd)).await else { return Ok(()) };
    let (log, session) = (hub.setup.log.as_ref(), record.id);
    log.commit(session).await?;
    let newest = aside(&checkpoints, move |checkpoints| checkpoints.newest_exchange(session)).await?;
    if let (Some(newest), Some(root)) = (newest, root)
        && is_of_log(log, session, &newest).await?
    {
        let writer = Writer::new(&checkpoints, hub.redactor(), session, root, Some(newest));
        if writer.write(log, None).await? == Written::All {
            return Ok(());
        }
    }
    // It went back, is new, or what was kept is lost: what counts is looked for.
    let course = RewindHistory::read(log, session).await?;
    let Some(root) = course.root else { return Ok(()) };
    let base = base(&checkpoints, log, record, &course).await?;
    let after = base.as_ref().map(|base| base.rev.clone());
    // Whatever came after it is gone back over, also where nothing follows.
    aside(&checkpoints, move |checkpoints| checkpoints.keep_exchanges(session, after.as_deref(), &[])).await?;
    let writer = Writer::new(&checkpoints, hub.redactor(), session, root, base);
    writer.write(log, Some(&course)).await?;
    Ok(())
}

/// The newest exchange that counts, of the session or of the one that it is a fork of.
async fn base(
    checkpoints: &Arc<dyn Checkpoints>,
    log: &dyn EventLog,
    record: &SessionRecord,
    course: &RewindHistory,
) -> Result<Option<KeptExchange>, NotKept> {
    let (session, parent) = (record.id, record.parent);
    let kept = aside(checkpoints, move |checkpoints| {
        let own = checkpoints.exchanges(session)?;
        let mut kept = [own.present, own.rewound].concat();
        if let Some((parent, at)) = parent {
            let theirs = checkpoints.exchanges(parent)?;
            kept.extend([theirs.present, theirs.rewound].concat().into_iter().filter(|one| one.events.1 <= at));
        }
        Ok(kept)
    })
    .await?;
    let mut counted: Vec<KeptExchange> = kept.into_iter().filter(|one| course.counts(one.events.1)).collect();
    counted.sort_by_key(|one| std::cmp::Reverse(one.events.1));
    for one in counted {
        if is_of_log(log, session, &one).await? {
            return Ok(Some(one));
        }
    }
    Ok(None)
}

/// Whether an exchange ends where the log says so: the events of a session that was restored have other numbers.
async fn is_of_log(log: &dyn EventLog, session: SessionId, kept: &KeptExchange) -> Result<bool, StoreError> {
    let last = kept.events.1;
    let found = log.read(session, last.saturating_sub(1), 1).await?;
    Ok(found.first().is_some_and(|event| {
        let is_end = event.seq == last && matches!(event.body, EventBody::AgentComplete(_));
        is_end && event.ts.as_millisecond().div_euclid(1000) == kept.time_ms.div_euclid(1000)
    }))
}

/// What came of writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    All,
    /// The conversation went back, so not everything counts.
    WentBack,
}

/// Writes exchanges after one that is kept.
struct Writer {
    checkpoints: Arc<dyn Checkpoints>,
    redactor: Redactor,
    session: SessionId,
    root: AgentId,
    /// The last event that is kept, and the exchange that it belongs to.
    since: Seq,
    after: Option<String>,
    /// The state of the files.
    files: Option<String>,
    /// The exchange that is being read.
    open: Open,
}

#[derive(Default)]
struct Open {
    first: Option<Seq>,
    message: Option<String>,
    lines: Vec<u8>,
}

impl Writer {
    fn new(
        checkpoints: &Arc<dyn Checkpoints>,
        redactor: Redactor,
        session: SessionId,
        root: AgentId,
        after: Option<KeptExchange>,
    ) -> Self {
        let since = after.as_ref().map_or(0, |after| after.events.1);
        let (after, files) = after.map(|after| (after.rev, after.files)).unzip();
        let (checkpoints, open) = (Arc::clone(checkpoints), Open::default());
        Self { checkpoints, redactor, session, root, since, after, files: files.flatten(), open }
    }

    /// Reads the log to its end and writes every exchange that came to one. Without a `course` everything counts, and
    /// nothing is written once that turns out not to be so.
    async fn write(mut self, log: &dyn EventLog, course: Option<&RewindHistory>) -> Result<Written, NotKept> {
        loop {
            let page = log.read(self.session, self.since, PAGE).await?;
            let is_last = page.len() < PAGE;
            let goes_back = |event: &Event| matches!(&event.body, EventBody::Rewind(rewind) if rewind.conversation);
            if course.is_none() && page.iter().any(goes_back) {
                return Ok(Written::WentBack);
            }
            let counts = |event: &Event| course.is_none_or(|course| course.counts(event.seq));
            let page: Vec<(bool, Event)> = page.into_iter().map(|event| (counts(&event), event)).collect();
            // Taking secrets out and writing it all down is no work for those who wait for others.
            let taken = tokio::task::spawn_blocking(move || self.take_page(page)).await;
            self = taken.unwrap_or_else(|error| Err(CheckpointError::Damaged(error.to_string())))?;
            if is_last {
                return Ok(Written::All);
            }
        }
    }

    /// Takes events, each with whether it counts, and writes every exchange that comes to its end with them. It blocks.
    fn take_page(mut self, page: Vec<(bool, Event)>) -> Result<Self, CheckpointError> {
        for (counts, event) in page {
            self.since = event.seq;
            match &event.body {
                EventBody::Rewind(rewind) if rewind.files.is_some() => self.files.clone_from(&rewind.files),
                EventBody::Checkpoint(checkpoint) => self.files = Some(checkpoint.rev.clone()),
                _ => {}
            }
            if counts {
                self.take(event)?;
            }
        }
        Ok(self)
    }

    fn take(&mut self, mut event: Event) -> Result<(), CheckpointError> {
        let (seq, is_root) = (event.seq, event.agent_id == self.root);
        redact(&mut event, &self.redactor);
        let open = &mut self.open;
        open.first.get_or_insert(seq);
        match &event.body {
            EventBody::Message(message) if is_root && message.role == Role::User && !message.is_neco() => {
                open.message.get_or_insert_with(|| Message::written(&message.text()).to_owned());
            }
            _ => {}
        }
        if !event.body.is_passing() && serde_json::to_writer(&mut open.lines, &event).is_ok() {
            open.lines.push(b'\n');
        }
        if is_root && matches!(event.body, EventBody::AgentComplete(_)) {
            let Open { first, message, lines } = std::mem::take(open);
            let events = (first.unwrap_or(seq), seq);
            let header = ExchangeHeader { neco_exchange: FORMAT, session: self.session, events };
            let mut conversation = serde_json::to_vec(&header).unwrap_or_default();
            conversation.push(b'\n');
            conversation.extend(lines);
            let new = NewExchange {
                message: message.unwrap_or_else(|| WENT_ON.to_owned()),
                events,
                time_ms: event.ts.as_millisecond(),
                files: self.files.clone(),
                conversation,
            };
            // One at a time: the checkpoint before the next turn's first change waits for no more than that.
            self.after = self.checkpoints.keep_exchanges(self.session, self.after.as_deref(), &[new])?;
        }
        Ok(())
    }
}

async fn aside<T: Send + 'static>(
    checkpoints: &Arc<dyn Checkpoints>,
    work: impl FnOnce(&dyn Checkpoints) -> Result<T, CheckpointError> + Send + 'static,
) -> Result<T, CheckpointError> {
    let checkpoints = Arc::clone(checkpoints);
    let done = tokio::task::spawn_blocking(move || work(checkpoints.as_ref())).await;
    done.unwrap_or_else(|error| Err(CheckpointError::Damaged(error.to_string())))
}
