//! What can be done to the tree.

use neco_proto::event::{Down, NodeType, SubtreeBudget};
use neco_proto::{Actor, AgentId, AgentParameters, ErrorCode, Usage};
use serde_json::Value;

/// Something that is done to the tree.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// An agent creates another one, which does not begin by itself.
    Spawn {
        /// Who creates it.
        parent: AgentId,
        /// What is created.
        node: NewNode,
    },
    /// An agent begins its task.
    Start(AgentId),
    /// An agent and everybody below it that runs does nothing for now.
    Pause(AgentId),
    /// These agents, and everybody below them that runs, do nothing for now; those that do not run stay as they are.
    PauseAll(Vec<AgentId>),
    /// What [`Op::Pause`] of the same agent stopped goes on.
    Resume(AgentId),
    /// An agent used something.
    Use {
        /// Who.
        agent: AgentId,
        /// What.
        usage: Usage,
    },
    /// An agent has done its task.
    Complete {
        /// Who.
        agent: AgentId,
        /// What came of it.
        output: Value,
    },
    /// An agent can't do its task: it crashed, fell silent, or ran out of turns or money. Everybody
    /// below it is stopped.
    Fail {
        /// Who.
        agent: AgentId,
        /// The stable code, where there is one.
        code: Option<ErrorCode>,
        /// What happened.
        message: String,
    },
    /// An agent and everybody below it is stopped.
    Cancel(AgentId),
    /// Other parameters hold for an agent from its next turn on.
    Update {
        /// For whom.
        agent: AgentId,
        /// Which.
        parameters: AgentParameters,
    },
    /// An agent tells its parent how far it is.
    Report {
        /// Who.
        from: AgentId,
        /// From 0 to 1.
        progress: f64,
        /// In words.
        message: String,
    },
    /// An agent asks its parent something.
    Question {
        /// Who.
        from: AgentId,
        /// What it wants to know.
        text: String,
    },
    /// A parent, or the person, tells an agent something that only concerns the agent itself.
    Tell {
        /// Who says it.
        from: Actor,
        /// To whom.
        to: AgentId,
        /// What.
        letter: Down,
    },
    /// The process that ran all this is gone: whoever ran is paused, and its parent is told.
    Interrupt,
}

/// An agent that is to be created.
#[derive(Clone, Debug, PartialEq)]
pub struct NewNode {
    /// Its id.
    pub id: AgentId,
    /// What it is called.
    pub name: String,
    /// What kind it is.
    pub kind: NodeType,
    /// The name of its definition.
    pub role: String,
    /// What it is to do.
    pub task: String,
    /// The model group it asks.
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
