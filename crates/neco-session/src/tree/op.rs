//! What can be done to the tree.

use neco_proto::event::{Down, NodeType, SubtreeBudget};
use neco_proto::{Actor, AgentId, AgentParameters, ErrorCode, Usage};
use serde_json::Value;

/// Something that is done to the tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// An agent creates another one, which does not begin by itself.
    Spawn { parent: AgentId, node: NewNode },
    /// An agent begins its task.
    Start(AgentId),
    /// An agent and everybody below it that runs does nothing for now.
    Pause(AgentId),
    /// These agents, and everybody below them that runs, do nothing for now; those that do not run stay as they are.
    PauseAll(Vec<AgentId>),
    /// What [`Op::Pause`] of the same agent stopped goes on.
    Resume(AgentId),
    /// An agent used something.
    Use { agent: AgentId, usage: Usage },
    /// An agent has done its task.
    Complete { agent: AgentId, output: Value },
    /// An agent can't do its task: it crashed, fell silent, or ran out of turns or money. Everybody
    /// below it is stopped.
    Fail {
        agent: AgentId,
        /// The stable code, where there is one.
        code: Option<ErrorCode>,
        message: String,
    },
    /// An agent and everybody below it is stopped.
    Cancel(AgentId),
    /// Other parameters hold for an agent from its next turn on.
    Update { agent: AgentId, parameters: AgentParameters },
    /// An agent tells its parent how far it is.
    Report {
        from: AgentId,
        /// From 0 to 1.
        progress: f64,
        message: String,
    },
    /// An agent asks its parent something.
    Question { from: AgentId, text: String },
    /// A parent, or the person, tells an agent something that only concerns the agent itself.
    Tell { from: Actor, to: AgentId, letter: Down },
    /// The process that ran all this is gone: whoever ran is paused, and its parent is told.
    Interrupt,
}

/// An agent that is to be created.
#[derive(Clone, Debug, PartialEq)]
pub struct NewNode {
    pub id: AgentId,
    pub name: String,
    pub kind: NodeType,
    pub role: String,
    pub task: String,
    pub model_group: String,
    /// What it and everybody below it may use.
    pub budget: SubtreeBudget,
}

impl NewNode {
    /// The root of a session.
    pub fn root(id: AgentId, model: &str, budget: SubtreeBudget) -> Self {
        let (name, role) = ("root".to_owned(), "root".to_owned());
        Self { id, name, kind: NodeType::Root, role, task: String::new(), model_group: model.to_owned(), budget }
    }
}
