//! Payloads about workflows: how far the tasks of one are.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::actor::Actor;
use crate::ids::{AgentId, WorkflowId};
use crate::mode::names;

names! {
    /// How a workflow stands.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum WorkflowState {
        /// Tasks run, or wait for others.
        Running = "running",
        /// The process ended while it ran; it can be resumed.
        Interrupted = "interrupted",
        /// Every task is completed.
        Completed = "completed",
        /// Some tasks failed, and what did not depend on them is done.
        Partly = "partly",
        /// A failure stopped everything.
        Failed = "failed",
        /// Somebody stopped it.
        Cancelled = "cancelled",
    }
}

names! {
    /// How far a task is.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum TaskState {
        /// It waits for others, or for another try.
        #[default]
        Pending = "pending",
        /// It may run as soon as there is room.
        Ready = "ready",
        /// It runs.
        Running = "running",
        /// It is done.
        Completed = "completed",
        /// It was done wrong, as often as it was tried.
        Failed = "failed",
        /// It was stopped, or never begun because everything was.
        Cancelled = "cancelled",
        /// It was never begun because something it needs failed.
        Skipped = "skipped",
    }
}

impl TaskState {
    /// Whether nothing more will come of it.
    #[must_use]
    pub fn is_final(self) -> bool {
        match self {
            Self::Pending | Self::Ready | Self::Running => false,
            Self::Completed | Self::Failed | Self::Cancelled | Self::Skipped => true,
        }
    }
}

names! {
    /// What does a task.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum TaskKind {
        /// An agent.
        Agent = "agent",
        /// A tool.
        Tool = "tool",
        /// A command.
        Command = "command",
    }
}

/// One task of a workflow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowTask {
    /// Its name in the workflow.
    pub id: String,
    /// What does it.
    pub kind: TaskKind,
    /// How far it is.
    pub state: TaskState,
    /// The tasks that must be completed before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// The agent that does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// When its last try began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub started: Option<Timestamp>,
    /// When it was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>")]
    pub ended: Option<Timestamp>,
    /// How often it was tried.
    #[serde(default)]
    pub attempts: u32,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What came of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
}

/// A workflow began, ended, or tasks of it went on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowUpdate {
    /// Which one.
    pub workflow_id: WorkflowId,
    /// Its name.
    pub name: String,
    /// How it stands.
    pub state: WorkflowState,
    /// What happens when a task fails: `fail_fast`, `continue` or `retry_then_continue`.
    pub strategy: String,
    /// All tasks at the start, then those that changed.
    pub tasks: Vec<WorkflowTask>,
    /// All of it, once, at the start, so that no file is needed to go on with it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub definition: Option<Value>,
    /// What it was started with, at the start.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Value>,
    /// Who stopped it for good, when somebody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
}

/// A workflow with all its tasks, as a window draws it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowGraph {
    /// Which one.
    pub workflow_id: WorkflowId,
    /// Its name.
    pub name: String,
    /// How it stands.
    pub state: WorkflowState,
    /// What happens when a task fails.
    pub strategy: String,
    /// All tasks, in the order in which they are written.
    pub tasks: Vec<WorkflowTask>,
    /// What it was started with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Value>,
}
