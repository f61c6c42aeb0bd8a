//! Stopping: the work of the root, or everything that could ask a model.

use std::sync::Arc;
use std::time::Instant;

use neco_agent::AgentInput;
use neco_proto::{Actor, ClientError, Receipt};
use tokio::sync::oneshot;

use super::run::{SessionActor, not_taken};

impl SessionActor {
    /// Stops the work of the root, which its agents do not wake before the person says something. Every window is told
    /// who ended with it, when they have.
    pub(super) async fn cancel(&mut self, by: Actor) -> Result<(), ClientError> {
        let (idle, since) = (!self.journal.standing().state.is_at_work(), Instant::now());
        // Before what its calls wait for ends otherwise, and before anything that could take long: the tree is not to be
        // had while somebody is made.
        self.handle.send_as(Some(by.clone()), AgentInput::Cancel).await.map_err(not_taken)?;
        // What is interrupted can be gone on with.
        self.ctx.workflows.interrupt();
        if !idle {
            self.ctx.supervisor.tell_ended_with_turn(since);
        }
        if idle && self.ctx.supervisor.live_count().await > 0 {
            let told = self.ctx.supervisor.tell_quiet(by).await;
            return told.map_err(|error| ClientError::Refused(error.to_string()));
        }
        Ok(())
    }

    /// Stops everything that could ask a model. The reply comes when nothing does any more; meanwhile other commands
    /// are heard.
    pub(super) async fn stop_all(&mut self, by: Actor, reply: oneshot::Sender<Result<Receipt, ClientError>>) {
        let supervisor = Arc::clone(&self.ctx.supervisor);
        let workflows = self.ctx.workflows.clone();
        // Agents first: those that a call of the root waits for are kept, and not ended with the call.
        let paused = supervisor.stop_everybody(by.clone()).await;
        // Before the root, which may take long to hear: workflows go on asking meanwhile.
        workflows.interrupt();
        let cancelled = self.handle.send_as(Some(by), AgentInput::Cancel).await.map_err(not_taken);
        let receipt = Receipt { seq: self.journal.standing().last_seq, message_id: None };
        tokio::spawn(async move {
            let done = match paused {
                Ok(stopping) => {
                    supervisor.stopped(stopping, workflows.close()).await;
                    cancelled
                }
                Err(error) => Err(ClientError::Refused(supervisor.words(&error).await)),
            };
            // The window may be gone; what it asked for is done all the same.
            let _ = reply.send(done.map(|()| receipt));
        });
    }

    /// Whether the root, an agent or a workflow is at work.
    pub(super) async fn is_at_work(&self) -> bool {
        self.journal.standing().state.is_at_work()
            || self.ctx.workflows.is_busy()
            || self.ctx.supervisor.is_at_work().await
    }
}
