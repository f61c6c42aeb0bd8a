//! What follows from an operation on the tree.

use neco_proto::event::{AgentMessage, NodeState};
use neco_proto::{AgentId, AgentParameters};

use super::limits::Spent;

/// What follows from an operation, in the order in which it happens.
#[derive(Clone, Debug, PartialEq)]
pub enum Change {
    /// A node is new.
    Added(AgentId),
    /// A node went from one state to another. Whoever leaves `running` for good is stopped, with every
    /// process it started.
    State { agent: AgentId, from: NodeState, to: NodeState },
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
