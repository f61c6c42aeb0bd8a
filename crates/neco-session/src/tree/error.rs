//! Why the tree refuses something, in words that a model can act on.

use neco_proto::AgentId;
use neco_proto::event::{NodeState, NodeType};

use super::limits::{BudgetKind, Spent};

/// Why the tree refuses something. Nothing has changed then.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum TreeError {
    /// No such agent, or one that is gone with its finished subtree.
    #[error("there is no agent {0}; agent_status lists those you have")]
    Unknown(AgentId),
    /// An id twice.
    #[error("there is an agent {0} already")]
    Taken(AgentId),
    /// The type does not allow it.
    #[error("{}", may_not_create(*.parent, *.kind))]
    MayNotCreate {
        /// What the parent is.
        parent: NodeType,
        /// What was to be created.
        kind: NodeType,
    },
    /// Too many generations.
    #[error(
        "agents may be nested {most} deep, and this one would be deeper: do it yourself, or report to your parent that it needs help"
    )]
    TooDeep {
        /// The limit.
        most: usize,
    },
    /// Too many live agents in the session.
    #[error(
        "{most} agents are live, which is the most for a session: wait for one with agent_wait, or stop one with agent_cancel"
    )]
    TooManyLive {
        /// The limit.
        most: usize,
    },
    /// Too many live children.
    #[error(
        "you have {most} live agents, which is the most: wait for one with agent_wait, or stop one with agent_cancel"
    )]
    TooManyChildren {
        /// The limit.
        most: usize,
    },
    /// Nothing is left to spend.
    #[error("{}", spent_words(.agent, .spent))]
    BudgetUsedUp {
        /// Whose budget it is: the agent's own or that of one above it.
        agent: AgentId,
        /// What is used up.
        spent: Spent,
    },
    /// The agent is in a state in which this makes no sense.
    #[error("agent {agent} is {state}, so it can't be {wanted}")]
    WrongState {
        /// The agent.
        agent: AgentId,
        /// How it is.
        state: NodeState,
        /// What was wanted of it.
        wanted: &'static str,
    },
    /// A letter across levels or between siblings.
    #[error("agent {to} is no child of yours: only a parent and its own child talk with each other")]
    NotYourChild {
        /// Whom it was meant for.
        to: AgentId,
    },
    /// It has work under way below it.
    #[error("{} still at work: wait with agent_wait, or stop with agent_cancel, before you finish", still(.0))]
    ChildrenAtWork(Vec<AgentId>),
    /// The root ends with its session.
    #[error("the root agent can't be {0}: it lives as long as its session")]
    RootStays(&'static str),
    /// The root has nobody above it.
    #[error("the root agent has no parent to tell this")]
    NoParent,
    /// Its mailbox is full.
    #[error("too much waits for agent {0} already: let it work, then say it again")]
    Full(AgentId),
    /// It waits for an answer already.
    #[error("one question of yours waits for its answer already: ask everything in one question, after that one")]
    AsksAlready,
    /// It asks no question that waits.
    #[error("agent {0} does not wait for an answer; correct it with redirect, or give it a task")]
    NoQuestion(AgentId),
    /// There is no child of this name.
    #[error("you have no agent {0:?}; agent_status lists those you have")]
    UnknownName(String),
    /// Something outside of the tree says no.
    #[error("{0}")]
    Refused(String),
    /// Not a part of a whole.
    #[error("progress is a number from 0 to 1, not {0}")]
    BadProgress(f64),
}

fn may_not_create(parent: NodeType, kind: NodeType) -> String {
    match (parent, kind) {
        (_, NodeType::Root) => "a session has one root agent and no other".to_owned(),
        (NodeType::ActOnly, _) => {
            "an act_only agent creates no others: do it yourself, or report to your parent that it needs help"
                .to_owned()
        }
        (parent, kind) => format!("an agent of type {} can't create one of type {}", parent.name(), kind.name()),
    }
}

fn spent_words(agent: &AgentId, spent: &Spent) -> String {
    let of = match spent.of {
        BudgetKind::Tokens => "tokens",
        BudgetKind::Cost => "US dollars",
    };
    format!(
        "the budget of agent {agent} and those below it is used up ({:.2} of {:.2} {of}): finish with what you have",
        spent.used, spent.limit
    )
}

fn still(agents: &[AgentId]) -> String {
    let ids: Vec<String> = agents.iter().map(ToString::to_string).collect();
    match agents.len() {
        1 => format!("agent {} is", ids.concat()),
        _ => format!("agents {} are", ids.join(", ")),
    }
}
