//! Plans that sessions left: which there are, and closing one.

use std::sync::Arc;

use neco_proto::app::plans::UnfinishedPlan;
use neco_proto::event::PlanUpdate;
use neco_proto::{Actor, AgentId, EventBody, Plan, PlanStatus, SessionId};

use super::hub::Hub;
use crate::error::SessionError;
use crate::journal::Journal;
use crate::plans::PlanFiles;

impl Hub {
    /// The plans that are unfinished, in all folders or in one, however old, the newest first.
    pub async fn unfinished_plans(&self, cwd: Option<&str>) -> Vec<UnfinishedPlan> {
        PlanFiles::new(&self.setup.data_dir).plans(cwd).await
    }

    /// Closes the plan of a session on behalf of `by`: nothing comes of what is left of it. A session that is gone leaves only
    /// what was kept of its plan.
    ///
    /// # Errors
    /// When the session is in use, or its log or the file can't be written.
    pub async fn close_plan(&self, by: Actor, session: SessionId) -> Result<(), SessionError> {
        let files = PlanFiles::new(&self.setup.data_dir);
        if !self.setup.catalog.find(&session.to_string(), 1).await?.is_empty() {
            let lease = Arc::new(self.setup.log.lease(session).await?);
            let fold = self.fold_to_write(session).await?;
            let root = fold.standing.root_agent.unwrap_or_else(AgentId::new);
            let (plan, findings) = (fold.standing.plan.clone(), fold.standing.findings.clone());
            if let Some(plan) = plan.filter(Plan::is_unfinished) {
                let redactor = self.deps().redactor.clone();
                let journal = Journal::new(&lease, Arc::clone(&self.setup.log), fold.standing, redactor);
                let plan = Some(Plan { status: PlanStatus::Dropped, ..plan });
                let update = PlanUpdate { plan, findings, by: Some(by) };
                journal.commit(root, None, EventBody::PlanUpdate(update)).await?;
            }
        }
        files.forget(session).await.map_err(|error| SessionError::Workspace {
            path: self.setup.data_dir.join("plans").display().to_string(),
            reason: error.to_string(),
        })
    }
}
