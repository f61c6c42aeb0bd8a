//! The workflows of one session: begun, stopped, gone on with, asked about.

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use neco_agent::SinkError;
use neco_proto::app::workflows::WorkflowRun;
use neco_proto::event::{WorkflowGraph, WorkflowState, WorkflowUpdate};
use neco_proto::{Actor, AgentId, EventBody, SessionId, WorkflowId};
use neco_store::StoreError;
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::board::{Board, Recorded, cancelled};
use super::definition::WorkflowFile;
use super::error::WorkflowError;
use super::graph::Graph;
use super::hands::{Hands, RealTime, Record};
use super::runner::{RunnerSetup, run};
use crate::hub::SessionCore;

/// Makes what does the tasks of a workflow that works for an agent; nothing when the session ends.
pub type MakeHands = Arc<dyn Fn(AgentId) -> Option<Arc<dyn Hands>> + Send + Sync>;

/// Checks the names of agents and tools in a workflow.
pub type CheckNames = Arc<dyn Fn(&WorkflowFile) -> Result<(), WorkflowError> + Send + Sync>;

/// What a desk is made of.
pub struct DeskSetup {
    pub core: SessionCore,
    /// Does tasks.
    pub hands: MakeHands,
    /// Whether agents and tools exist.
    pub check: CheckNames,
    pub files: RunFiles,
}

/// The workflows of one session; a clone is the same desk.
#[derive(Clone)]
pub struct WorkflowDesk {
    inner: Arc<Inner>,
}

struct Inner {
    setup: DeskSetup,
    live: Mutex<HashMap<WorkflowId, Live>>,
}

#[derive(Clone)]
struct Live {
    cancel: CancellationToken,
    cancelled_by: Option<Actor>,
    interrupt: CancellationToken,
    ended: watch::Receiver<bool>,
}

impl WorkflowDesk {
    pub fn new(setup: DeskSetup) -> Self {
        Self { inner: Arc::new(Inner { setup, live: Mutex::default() }) }
    }

    /// Begins a workflow on behalf of `parent`, whose children its agents become.
    /// Fails when it can't run; nothing has begun then.
    pub fn start(&self, parent: AgentId, definition: &Value, inputs: &Value) -> Result<WorkflowId, WorkflowError> {
        Ok(self.start_checked(parent, self.check(definition, inputs)?))
    }

    /// The same with what [`Self::check`] gave.
    pub fn start_checked(&self, parent: AgentId, (file, graph): (WorkflowFile, Graph)) -> WorkflowId {
        let id = WorkflowId::new();
        self.begin(id, parent, file, graph, None);
        id
    }

    /// What a workflow means that is started with `inputs`.
    pub fn check(&self, definition: &Value, inputs: &Value) -> Result<(WorkflowFile, Graph), WorkflowError> {
        let file = WorkflowFile::of_value(definition)?;
        let graph = Graph::new(&file, &values(inputs)?);
        let names = (self.inner.setup.check)(&file);
        let problems = [graph.as_ref().err().cloned(), names.err()];
        WorkflowError::none_of(problems.into_iter().flatten().flat_map(WorkflowError::each).collect())?;
        Ok((file, graph?))
    }

    /// Goes on with a workflow: what is completed stays, all else is done again.
    /// Fails when there is none, it runs, is completed or was cancelled.
    pub async fn resume(&self, id: WorkflowId) -> Result<(), WorkflowError> {
        if self.live().contains_key(&id) {
            return Err(WorkflowError::NotNow(format!("workflow {id} is already running")));
        }
        let recorded = self.recorded(id).await?;
        match recorded.graph.state {
            WorkflowState::Completed => {
                return Err(WorkflowError::NotNow(format!("workflow {id} is already completed")));
            }
            WorkflowState::Cancelled => {
                return Err(WorkflowError::NotNow(format!(
                    "workflow {id} was cancelled and can't be resumed; run it again"
                )));
            }
            WorkflowState::Running | WorkflowState::Interrupted | WorkflowState::Partly | WorkflowState::Failed => {}
        }
        let inputs = recorded.graph.inputs.clone().unwrap_or_default();
        let (file, graph) = self.check(&recorded.definition, &inputs)?;
        self.begin(id, self.inner.setup.core.root, file, graph, Some(recorded));
        Ok(())
    }

    /// Stops a workflow for good on behalf of `by`.
    /// Fails when there is none, or it is over.
    pub async fn cancel(&self, by: Actor, id: WorkflowId) -> Result<(), WorkflowError> {
        if let Some(live) = self.live().get_mut(&id) {
            live.cancelled_by = Some(by);
            live.cancel.cancel();
            return Ok(());
        }
        let recorded = self.recorded(id).await?;
        let update = cancelled(&recorded, by)?;
        if let Some(hands) = (self.inner.setup.hands)(self.inner.setup.core.root) {
            // What an earlier process left of it waits to be resumed, and never will be.
            hands.abandon(id).await;
        }
        self.inner.commit(update).await.map_err(|error| WorkflowError::NotNow(error.message))?;
        self.inner.note(&recorded.graph.name, id, WorkflowState::Cancelled).await;
        Ok(())
    }

    /// Stops all that runs so that it can go on later. Ready at once; [`Self::close`] waits.
    pub fn interrupt(&self) {
        self.live().values().for_each(|live| live.interrupt.cancel());
    }

    /// Stops one that runs so that it can go on later, as soon as what is given is dropped.
    pub fn interrupt_on_drop(&self, id: WorkflowId) -> Option<DropGuard> {
        self.live().get(&id).map(|live| live.interrupt.clone().drop_guard())
    }

    /// Whether something runs.
    pub fn is_busy(&self) -> bool {
        !self.live().is_empty()
    }

    /// Stops all that runs so that it can go on later; ready when nothing does any more.
    pub async fn close(&self) {
        self.interrupt();
        let live: Vec<Live> = self.live().values().cloned().collect();
        for mut live in live {
            let _ = live.ended.wait_for(|ended| *ended).await;
        }
    }

    /// How a workflow stands when it is over.
    pub async fn ended(&self, id: WorkflowId) -> Result<Option<WorkflowGraph>, StoreError> {
        let live = self.live().get(&id).cloned();
        if let Some(mut live) = live {
            let _ = live.ended.wait_for(|ended| *ended).await;
        }
        Ok(self.graphs().await?.into_iter().find(|graph| graph.workflow_id == id))
    }

    /// All workflows of the session, oldest first.
    pub async fn graphs(&self) -> Result<Vec<WorkflowGraph>, StoreError> {
        let setup = &self.inner.setup;
        let board = Board::read(setup.core.log().as_ref(), setup.core.id()).await?;
        Ok(board.graphs(|id| self.live().contains_key(&id)))
    }

    fn begin(&self, id: WorkflowId, parent: AgentId, file: WorkflowFile, graph: Graph, recorded: Option<Recorded>) {
        let (cancel, interrupt) = (CancellationToken::new(), CancellationToken::new());
        let (done, ended) = watch::channel(false);
        self.live()
            .insert(id, Live { cancel: cancel.clone(), cancelled_by: None, interrupt: interrupt.clone(), ended });
        let inner = Arc::clone(&self.inner);
        tokio::spawn(async move {
            let name = file.name.clone();
            if let Some(hands) = (inner.setup.hands)(parent) {
                inner.note(&name, id, WorkflowState::Running).await;
                let record = Arc::clone(&inner) as Arc<dyn Record>;
                let clock = Arc::new(RealTime);
                match run(RunnerSetup { id, file, graph, recorded, record, hands, clock, cancel, interrupt }).await {
                    Ok(state) => inner.note(&name, id, state).await,
                    // The journal has told every window already.
                    Err(error) => tracing::warn!(%error, "a workflow could not be kept"),
                }
            }
            inner.live.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
            let _ = done.send(true);
        });
    }

    async fn recorded(&self, id: WorkflowId) -> Result<Recorded, WorkflowError> {
        let setup = &self.inner.setup;
        let board = Board::read(setup.core.log().as_ref(), setup.core.id()).await;
        let board = board.map_err(|error| WorkflowError::NotNow(error.to_string()))?;
        board.find(id).cloned().ok_or_else(|| WorkflowError::Unknown { name: id.to_string(), known: Vec::new() })
    }

    fn live(&self) -> MutexGuard<'_, HashMap<WorkflowId, Live>> {
        self.inner.live.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Inner {
    async fn commit(&self, update: WorkflowUpdate) -> Result<(), SinkError> {
        let kept = self.setup.core.commit(EventBody::WorkflowUpdate(update)).await;
        kept.map_err(|error| SinkError { code: error.code(), message: error.to_string() })
    }

    /// Lists a run. The log has it too, so a file that can't be written is only said.
    async fn note(&self, name: &str, id: WorkflowId, state: WorkflowState) {
        let now = jiff::Timestamp::now().as_millisecond();
        let note = WorkflowRun {
            workflow_id: id,
            name: name.to_owned(),
            session: self.setup.core.id(),
            cwd: self.setup.core.record.cwd.clone(),
            state,
            began_ms: self.setup.files.one(id).await.map_or(now, |note| note.began_ms),
            changed_ms: now,
        };
        if let Err(error) = self.setup.files.keep(&note).await {
            tracing::warn!(%error, "a workflow is not listed");
        }
    }
}

impl Record for Inner {
    fn commit(&self, mut update: WorkflowUpdate) -> BoxFuture<'_, Result<(), SinkError>> {
        if update.state == WorkflowState::Cancelled {
            let live = self.live.lock().unwrap_or_else(PoisonError::into_inner);
            update.by = live.get(&update.workflow_id).and_then(|live| live.cancelled_by.clone());
        }
        Box::pin(self.commit(update))
    }
}

/// The values of inputs, as a window sends them.
fn values(inputs: &Value) -> Result<BTreeMap<String, Value>, WorkflowError> {
    match inputs {
        Value::Null => Ok(BTreeMap::new()),
        Value::Object(fields) => Ok(fields.iter().map(|(name, value)| (name.clone(), value.clone())).collect()),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_) => {
            Err(WorkflowError::NotNow("inputs are names with values".to_owned()))
        }
    }
}

/// The files.
/// One is found by its id without reading every session; the log of its session is what counts.
#[derive(Clone, Debug)]
pub struct RunFiles {
    folder: PathBuf,
}

impl RunFiles {
    /// Those of the data folder.
    pub fn new(data_dir: &Path) -> Self {
        Self { folder: data_dir.join("workflows") }
    }

    /// All runs, or those of one folder, the newest first. What can't be read is none.
    pub async fn list(&self, cwd: Option<&str>) -> Vec<WorkflowRun> {
        let mut found = Vec::new();
        let Ok(mut folder) = tokio::fs::read_dir(&self.folder).await else { return found };
        while let Ok(Some(entry)) = folder.next_entry().await {
            let Ok(bytes) = tokio::fs::read(entry.path()).await else { continue };
            let Ok(note) = serde_json::from_slice::<WorkflowRun>(&bytes) else { continue };
            if cwd.is_none_or(|cwd| note.cwd == cwd) {
                found.push(note);
            }
        }
        found.sort_by_key(|note| std::cmp::Reverse((note.began_ms, note.workflow_id.to_string())));
        found
    }

    /// A run.
    pub async fn one(&self, id: WorkflowId) -> Option<WorkflowRun> {
        let bytes = tokio::fs::read(self.file(id)).await.ok()?;
        serde_json::from_slice(&bytes).ok()
    }

    /// The sessions are gone, and what is said of their runs with them. What can't be removed is listed, and leads
    /// nowhere.
    pub async fn forget(&self, sessions: &[SessionId]) {
        for note in self.list(None).await.into_iter().filter(|note| sessions.contains(&note.session)) {
            let _ = tokio::fs::remove_file(self.file(note.workflow_id)).await;
        }
    }

    /// Notes how a run stands. A note that can't be kept is no reason to stop: the log has it.
    pub async fn keep(&self, note: &WorkflowRun) -> io::Result<()> {
        tokio::fs::create_dir_all(&self.folder).await?;
        let file = self.file(note.workflow_id);
        let part = file.with_extension("part");
        let bytes = serde_json::to_vec(note).map_err(io::Error::other)?;
        tokio::fs::write(&part, bytes).await?;
        tokio::fs::rename(&part, &file).await
    }

    fn file(&self, id: WorkflowId) -> PathBuf {
        self.folder.join(format!("{id}.json"))
    }
}
