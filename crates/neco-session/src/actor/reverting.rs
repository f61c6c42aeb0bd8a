//! Putting changes of files back in a session that is open: the agent stays as it is, and begins no turn meanwhile.

use neco_agent::{AgentInput, Halt};
use neco_proto::{Actor, ClientError, Receipt, RevertedFile};

use super::run::{SessionActor, not_taken};
use crate::rewind::{Reverting, RewindError, revert};

/// Puts changes back that were shown in comparison with a point, on behalf of `by`.
pub(super) async fn revert_files(
    actor: &mut SessionActor,
    by: Actor,
    from: &str,
    changes: Vec<RevertedFile>,
) -> Result<Receipt, ClientError> {
    if changes.is_empty() {
        return Err(ClientError::Refused("no changes are named that are to be put back".to_owned()));
    }
    let course = actor.course_of(RewindError::AtWorkOnFiles).await?;
    let from = if from.is_empty() { "1" } else { from };
    let rev = course.files_of(from)?.ok_or(RewindError::NoCheckpoint)?;
    let way = course.way_to_state(rev);
    let receipt = actor.receipt();
    let checkpoints = actor.ctx.hub.checkpoints(actor.ctx.cwd()).await;
    // Whatever wakes it waits until the files are as they are to be.
    actor.handle.send(AgentInput::Hold(Halt::AfterTurn)).await.map_err(not_taken)?;
    let (session, agent) = (actor.ctx.id(), actor.ctx.root);
    let reverting = Reverting { way: &way, changes, by, session, agent, journal: &actor.ctx.journal, checkpoints };
    let reverted = revert(reverting).await;
    let told = match &reverted {
        Ok((went, told)) if !went.changes.is_empty() => actor.handle.send(AgentInput::Tell(told.clone())).await,
        Ok(_) | Err(_) => Ok(()),
    };
    let released = actor.handle.send(AgentInput::Release).await;
    let (went, _) = reverted?;
    told.and(released).map_err(not_taken)?;
    actor.warn_of_kept(&went.kept).await?;
    Ok(receipt)
}
