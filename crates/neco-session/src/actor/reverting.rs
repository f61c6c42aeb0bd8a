//! Putting changes of files back in a session that is open: the agent stays as it is, and begins no turn meanwhile.

use neco_agent::{AgentInput, Halt};
use neco_proto::{Actor, ClientError, Receipt, RevertedFile};

use super::run::{SessionActor, not_taken};
use crate::rewind::{Reverting, RewindError, revert};

impl SessionActor {
    /// Puts changes back that were shown in comparison with a point, on behalf of `by`.
    pub(super) async fn revert(
        &mut self,
        by: Actor,
        from: &str,
        changes: Vec<RevertedFile>,
    ) -> Result<Receipt, ClientError> {
        if changes.is_empty() {
            return Err(ClientError::Refused("no changes are named that are to be put back".to_owned()));
        }
        let course = self.course_of(RewindError::AtWorkOnFiles).await?;
        let from = if from.is_empty() { "1" } else { from };
        let rev = course.files_of(from)?.ok_or(RewindError::NoCheckpoint)?;
        let way = course.way_to_state(rev);
        let receipt = self.receipt();
        let checkpoints = self.ctx.hub.checkpoints(self.ctx.cwd()).await;
        // Whatever wakes it waits until the files are as they are to be.
        self.handle.send(AgentInput::Hold(Halt::AfterTurn)).await.map_err(not_taken)?;
        let (session, agent) = (self.ctx.id(), self.ctx.root);
        let reverting = Reverting { way: &way, changes, by, session, agent, journal: &self.ctx.journal, checkpoints };
        let reverted = revert(reverting).await;
        let told = match &reverted {
            Ok((went, told)) if !went.changes.is_empty() => self.handle.send(AgentInput::Tell(told.clone())).await,
            Ok(_) | Err(_) => Ok(()),
        };
        let released = self.handle.send(AgentInput::Release).await;
        let (went, _) = reverted?;
        told.and(released).map_err(not_taken)?;
        self.warn_of_kept(&went.kept).await?;
        Ok(receipt)
    }
}
