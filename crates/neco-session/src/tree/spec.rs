//! What a child is made from, and how big and how long things may get.

use std::time::Duration;

use neco_config::section::AgentsSection;
use neco_proto::WorkflowId;
use neco_proto::event::SubtreeBudget;
use serde::{Deserialize, Serialize};

use super::limits::TreeLimits;
use crate::roles::Definition;
use crate::workflow::OneCall;

/// What a child is made from; kept in the log, so that it can be made again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChildSpec {
    pub definition: Definition,
    /// The one call that it makes instead of asking a model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<OneCall>,
    /// Whether its end is told to its parent; otherwise whoever waits for it hears of it.
    pub told: bool,
    /// The workflow that it does a task of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<WorkflowId>,
}

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

/// How the agents of a session are kept.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TreeSettings {
    /// How big the tree may grow.
    pub limits: TreeLimits,
    /// Most turns of a child whose definition does not say.
    pub max_turns: u32,
    /// Silence after which a child is said to hang; `None` for never.
    pub max_silence: Option<Duration>,
    /// Letters that may wait for an agent.
    pub max_letters: usize,
}

impl From<&AgentsSection> for TreeSettings {
    fn from(section: &AgentsSection) -> Self {
        let limits = TreeLimits { depth: section.max_depth, live: section.max_live, children: section.max_children };
        let silence = Duration::try_from_secs_f64(section.max_silence).ok().filter(|silence| !silence.is_zero());
        Self { limits, max_turns: section.max_turns, max_silence: silence, max_letters: section.max_letters }
    }
}
