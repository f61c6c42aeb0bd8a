//! The face of the tree for whoever runs agents: a parent's tools, a workflow.

use futures::future::BoxFuture;
use neco_proto::event::{NodeResult, SubtreeBudget};
use neco_proto::{AgentId, WorkflowId};

use super::error::TreeError;
use super::spec::ChildSpec;
use crate::roles::Definition;

/// An agent that is to be run.
#[derive(Clone, Debug, PartialEq)]
pub struct SpawnRequest {
    /// What it is made from.
    pub spec: ChildSpec,
    pub task: String,
    /// Another model or group than its definition's.
    pub model_group: Option<String>,
    /// What it may use, where that is less than its definition says.
    pub budget: Option<SubtreeBudget>,
}

impl SpawnRequest {
    /// An agent of a definition with a task, whose parent is told of its end.
    pub fn new(definition: Definition, task: impl Into<String>) -> Self {
        let spec = ChildSpec { definition, call: None, told: true, workflow: None };
        Self { spec, task: task.into(), model_group: None, budget: None }
    }
}

/// Runs agents.
pub trait Spawner: Send + Sync {
    /// Makes a child of `parent` and lets it begin; ready when that is recorded. Whoever gives up before has no child.
    fn spawn(&self, parent: AgentId, request: SpawnRequest) -> BoxFuture<'_, Result<AgentId, TreeError>>;

    /// What comes of an agent's task; ready when it has ended. One that was stopped ends with an error.
    fn ended(&self, agent: AgentId) -> BoxFuture<'_, NodeResult>;

    /// Ends an agent and everybody below it; ready when nothing of them runs any more.
    fn cancel(&self, agent: AgentId) -> BoxFuture<'_, ()>;

    /// Ends all agents of a workflow, also those that an earlier process left; ready when nothing of them runs.
    fn cancel_workflow(&self, workflow: WorkflowId) -> BoxFuture<'_, ()>;
}
