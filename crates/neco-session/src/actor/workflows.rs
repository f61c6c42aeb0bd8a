//! What windows tell workflows.

use neco_proto::{Actor, ClientError, Receipt, WorkflowId, WorkflowOrder};
use serde_json::Value;
use tokio::sync::oneshot;

use super::run::{SessionActor, store_failed};
use crate::workflow::WorkflowError;

impl SessionActor {
    /// Begins a workflow on behalf of the person: its agents are children of the root.
    pub(super) async fn run_workflow(&mut self, definition: &Value, inputs: &Value) -> Result<(), ClientError> {
        let checked = self.ctx.workflows.check(definition, inputs).map_err(refused)?;
        let name = definition.get("name").and_then(Value::as_str).unwrap_or_default();
        self.title.first_words(&format!("workflow {name}")).await.map_err(|error| store_failed(&error))?;
        self.ctx.workflows.start_checked(self.root, checked);
        Ok(())
    }

    /// Passes an order on to a workflow. It is carried out aside: it may read all of the log, and a cancel does not
    /// wait for that.
    pub(super) fn command_workflow(
        &self,
        by: Actor,
        id: WorkflowId,
        order: WorkflowOrder,
        reply: oneshot::Sender<Result<Receipt, ClientError>>,
    ) {
        let workflows = self.ctx.workflows.clone();
        let receipt = Receipt { seq: self.journal.standing().last_seq, message_id: None };
        tokio::spawn(async move {
            let done = match order {
                WorkflowOrder::Cancel => workflows.cancel(by, id).await,
                WorkflowOrder::Resume => workflows.resume(id).await,
            };
            // The window may be gone; what it asked for is done all the same.
            let _ = reply.send(done.map(|()| receipt).map_err(refused));
        });
    }
}

fn refused(error: WorkflowError) -> ClientError {
    ClientError::Refused(error.to_string())
}
