//! The workflows of sessions: of one that is opened, and of those that are not.

use std::path::Path;
use std::sync::Arc;

use neco_proto::app::workflows::WorkflowRun;
use neco_proto::event::{WorkflowGraph, WorkflowState};
use neco_proto::{Actor, AgentId, EventBody};
use neco_store::SessionRecord;

use super::hub::Hub;
use super::renewal::Current;
use crate::error::SessionError;
use crate::journal::Journal;
use crate::memory::tools as memory_tools;
use crate::tree::{AgentSupervisor, Spawner, tools as tree_tools};
use crate::workflow::{
    Board, CheckNames, DeskSetup, Hands, KnownNames, MakeHands, RealTime, Recorded, RunFiles, TreeHands, WorkflowDesk,
    cancelled,
};

impl Hub {
    /// The workflows of a session that is opened.
    pub(super) fn workflows(
        &self,
        record: &SessionRecord,
        root: AgentId,
        journal: &Arc<Journal>,
        supervisor: &Arc<AgentSupervisor>,
        current: &Current,
    ) -> WorkflowDesk {
        let hands: MakeHands = {
            // The tools of agents hold the desk: it must not keep the agents.
            let (supervisor, current) = (Arc::downgrade(supervisor), current.clone());
            let (session, journal, log) = (record.id, Arc::clone(journal), Arc::clone(&self.setup.log));
            Arc::new(move |parent| {
                let spawner: Arc<dyn Spawner> = supervisor.upgrade()?;
                let (definitions, journal, log) = (current.definitions(), Arc::clone(&journal), Arc::clone(&log));
                Some(Arc::new(TreeHands { spawner, parent, definitions, session, journal, log }) as Arc<dyn Hands>)
            })
        };
        WorkflowDesk::new(DeskSetup {
            session: record.id,
            root,
            cwd: Path::new(&record.cwd).to_owned(),
            journal: Arc::clone(journal),
            log: Arc::clone(&self.setup.log),
            hands,
            check: self.names_in(current.clone()),
            files: RunFiles::new(&self.setup.data_dir),
            clock: Arc::new(RealTime),
        })
    }

    /// Checks the agents, tools and models that a workflow names.
    fn names_in(&self, current: Current) -> CheckNames {
        let hub = self.clone();
        Arc::new(move |file| {
            let own = memory_tools::listed().into_iter().chain(tree_tools::listed()).collect();
            let (tools, definitions) = (hub.deps().registry(own), current.definitions());
            file.check_names(&KnownNames {
                agent: &|role| definitions.find(role).map(|_| ()).map_err(|error| error.to_string()),
                tool: &|name| tools.find(name).cloned().map_err(|error| error.message),
                model: &|name| (hub.setup.find_model)(name).map(|_| ()),
            })
        })
    }

    /// The runs of workflows, in all folders or in one, the newest first. One that nobody runs any more is
    /// interrupted.
    pub async fn workflow_runs(&self, cwd: Option<&str>) -> Vec<WorkflowRun> {
        let mut runs = RunFiles::new(&self.setup.data_dir).list(cwd).await;
        for run in runs.iter_mut().filter(|run| run.state == WorkflowState::Running) {
            if !self.setup.log.is_leased(run.session).await {
                run.state = WorkflowState::Interrupted;
            }
        }
        runs
    }

    /// How a run stands according to the log of its session.
    pub async fn workflow(&self, run: &WorkflowRun) -> Result<Option<WorkflowGraph>, SessionError> {
        let board = Board::read(self.setup.log.as_ref(), run.session).await?;
        let runs = run.state == WorkflowState::Running;
        Ok(board.graphs(|_| runs).into_iter().find(|graph| graph.workflow_id == run.workflow_id))
    }

    /// Stops a run for good that nobody runs.
    ///
    /// # Errors
    /// When its session is in use, or it is over.
    pub async fn cancel_workflow(&self, by: Actor, run: &WorkflowRun) -> Result<(), SessionError> {
        let lease = Arc::new(self.setup.log.lease(run.session).await?);
        let board = Board::read(self.setup.log.as_ref(), run.session).await?;
        let gone = || SessionError::Workflow(format!("session {} has no such workflow", run.session));
        let recorded: &Recorded = board.find(run.workflow_id).ok_or_else(gone)?;
        let update = cancelled(recorded, by).map_err(|error| SessionError::Workflow(error.to_string()))?;
        let fold = self.fold_to_write(run.session).await?;
        let root = fold.standing.root_agent.unwrap_or_else(AgentId::new);
        let left = fold.tree.without_workflow(root, run.workflow_id);
        let redactor = self.deps().redactor.clone();
        let journal = Journal::new(&lease, Arc::clone(&self.setup.log), fold.standing, redactor);
        // What an earlier process left of it waits to be resumed, and never will be.
        let mut events = left;
        events.push((root, EventBody::WorkflowUpdate(update)));
        journal.commit_all(events).await?;
        let note = run.now(WorkflowState::Cancelled);
        if let Err(error) = RunFiles::new(&self.setup.data_dir).keep(&note).await {
            tracing::warn!(%error, "a workflow is not listed");
        }
        Ok(())
    }
}
