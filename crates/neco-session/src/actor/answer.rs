//! Answers to what windows ask. They are made aside: a long log must not keep a cancel waiting.

use std::path::PathBuf;
use std::sync::Arc;

use neco_agent::AgentHandle;
use neco_proto::{AgentId, Answer, ClientError, Query, SessionId, SessionSnapshot};
use neco_store::EventLog;

use super::run::{not_taken, store_failed};
use super::shown::Shown;
use crate::fold::fold_log;
use crate::hub::Hub;
use crate::journal::Journal;
use crate::rewind::{RewindHistory, RewindPlan, preview};
use crate::tree::AgentSupervisor;
use crate::workflow::WorkflowDesk;

/// What answers are made from.
pub(super) struct Answers {
    pub session: SessionId,
    pub root: AgentId,
    pub cwd: PathBuf,
    pub journal: Arc<Journal>,
    pub log: Arc<dyn EventLog>,
    pub handle: AgentHandle,
    pub hub: Hub,
    pub shown: Shown,
    pub supervisor: Arc<AgentSupervisor>,
    pub workflows: WorkflowDesk,
}

impl Answers {
    pub async fn answer(&self, query: Query) -> Result<Answer, ClientError> {
        match query {
            Query::Snapshot => Ok(Answer::Snapshot(self.snapshot().await)),
            Query::Context => Ok(Answer::Context(self.handle.report().await.map_err(not_taken)?)),
            Query::Prompt => Ok(Answer::Prompt(self.handle.prompt().await.map_err(not_taken)?)),
            Query::Messages => {
                let fold = fold_log(self.log.as_ref(), self.session).await.map_err(|error| store_failed(&error))?;
                Ok(Answer::Messages { messages: fold.messages })
            }
            Query::Checkpoints => Ok(Answer::Checkpoints { checkpoints: self.course().await?.checkpoint_infos() }),
            Query::RewindPoints => Ok(Answer::RewindPoints { points: self.course().await?.points }),
            Query::RewindPreview { message_id, what } => {
                let course = self.course().await?;
                self.preview(&course.way(course.point(message_id)?, what)?).await
            }
            Query::CheckpointPreview { rev } => {
                let course = self.course().await?;
                self.preview(&course.way_to_state(course.state(&rev)?)).await
            }
            Query::UndoPreview => self.preview(&self.course().await?.undo()?).await,
            Query::RedoPreview => self.preview(&self.course().await?.redo()?).await,
            Query::Tree => Ok(Answer::Tree { nodes: self.supervisor.nodes().await }),
            Query::Workflows => {
                let workflows = self.workflows.graphs().await.map_err(|error| store_failed(&error))?;
                Ok(Answer::Workflows { workflows })
            }
        }
    }

    async fn preview(&self, way: &RewindPlan) -> Result<Answer, ClientError> {
        let checkpoints = self.hub.checkpoints(&self.cwd).await;
        let preview = preview(way, self.session, checkpoints).await?;
        self.shown.note(way, &preview);
        Ok(Answer::RewindPreview(preview))
    }

    async fn course(&self) -> Result<RewindHistory, ClientError> {
        RewindHistory::read(self.log.as_ref(), self.session).await.map_err(|error| store_failed(&error))
    }

    async fn snapshot(&self) -> SessionSnapshot {
        let standing = self.journal.standing();
        SessionSnapshot {
            session_id: self.session,
            root_agent: self.root,
            last_seq: standing.last_seq,
            cwd: standing.cwd,
            title: standing.title,
            model: standing.model,
            mode: standing.mode,
            approval: standing.approval,
            state: standing.state,
            usage: standing.usage,
            pending: standing.pending,
            questions: standing.questions,
            generation: standing.generation,
            todos: standing.todos,
            plan: standing.plan,
            findings: standing.findings,
            agents: u32::try_from(self.supervisor.live_count().await).unwrap_or(u32::MAX),
        }
    }
}
