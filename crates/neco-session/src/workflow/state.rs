//! How far a workflow is.

use neco_proto::event::{TaskState, WorkflowState};

/// The states of all tasks, by index.
pub type States = Vec<TaskState>;

/// What came of a workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every task is completed.
    Completed,
    /// Some failed, and what did not depend on them is done.
    Partly,
    /// A failure stopped everything.
    Failed,
    /// Somebody stopped it.
    Cancelled,
}

impl From<Outcome> for WorkflowState {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Completed => Self::Completed,
            Outcome::Partly => Self::Partly,
            Outcome::Failed => Self::Failed,
            Outcome::Cancelled => Self::Cancelled,
        }
    }
}
