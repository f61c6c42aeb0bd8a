//! What windows tell workflows.

use neco_proto::{ClientError, WorkflowId, WorkflowOrder};
use serde_json::Value;

use super::run::{Actor, store_failed};
use crate::workflow::WorkflowError;

impl Actor {
    /// Begins a workflow on behalf of the person: its agents are children of the root.
    pub(super) async fn run_workflow(&mut self, definition: &Value, inputs: &Value) -> Result<(), ClientError> {
        self.rebuild.workflows.check(definition, inputs).map_err(refused)?;
        let name = definition.get("name").and_then(Value::as_str).unwrap_or_default();
        self.title.first_words(&format!("workflow {name}")).await.map_err(|error| store_failed(&error))?;
        self.rebuild.workflows.start(self.root, definition, inputs).map_err(refused)?;
        Ok(())
    }

    pub(super) async fn order_workflow(&self, id: WorkflowId, order: WorkflowOrder) -> Result<(), ClientError> {
        match order {
            WorkflowOrder::Cancel => self.rebuild.workflows.cancel(id).await.map_err(refused),
            WorkflowOrder::Resume => self.rebuild.workflows.resume(id).await.map_err(refused),
        }
    }
}

fn refused(error: WorkflowError) -> ClientError {
    ClientError::Refused(error.to_string())
}
