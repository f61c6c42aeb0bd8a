//! What can be done to the tree, and what follows from it.

use neco_proto::event::{AgentMessage, Down, NodeState, NodeType, SubtreeBudget};
use neco_proto::{Actor, AgentId, AgentParameters, ErrorCode, Usage};
use serde_json::Value;

use super::spec::Spent;

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
    /// Everybody below an agent is stopped, and it begins its task anew; also when it has failed or was stopped.
    Retry(AgentId),
    /// Other parameters hold for an agent from its next turn on.
    Update { agent: AgentId, parameters: AgentParameters },
    /// An agent tells its parent how far it is.
    Report { from: AgentId, progress: f64, message: String },
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

/// What follows from an operation, in the order in which it happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A node is new.
    Added(AgentId),
    /// A node went from one state to another. Whoever leaves `running` for good is stopped, with every
    /// process it started.
    State { agent: AgentId, from: NodeState, to: NodeState },
    /// A node begins its task anew.
    Anew(AgentId),
    /// What is known of a node changed: its progress, its last message or its parameters.
    Known(AgentId),
    /// Other parameters hold from its next turn on.
    Parameters { agent: AgentId, parameters: AgentParameters },
    /// A letter is to be put into a mailbox.
    Post(AgentMessage),
    /// A subtree has used up what it may use; said once for each time it is reached.
    Spent {
        /// The agent whose budget it is.
        agent: AgentId,
        spent: Spent,
    },
    /// Everything below a finished node is finished: it leaves memory, its log stays.
    Collapsed {
        /// The node that stays, with its result.
        agent: AgentId,
        gone: Vec<AgentId>,
    },
}
