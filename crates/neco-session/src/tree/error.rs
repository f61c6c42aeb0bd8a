//! Why the tree refuses something, in words that a model can act on.

use std::fmt;

use neco_model::SetupError;
use neco_proto::AgentId;
use neco_proto::event::{NodeState, NodeType};
use neco_store::StoreError;

use super::spec::{BudgetKind, Spent};

/// Why the tree refuses something. Nothing has changed then.
#[derive(Clone, Debug, PartialEq)]
pub enum TreeError {
    /// No such agent, or one that is gone with its finished subtree.
    Unknown(AgentId),
    /// An id twice.
    Taken(AgentId),
    /// The type does not allow it.
    MayNotCreate { parent: NodeType, kind: NodeType },
    /// Too many generations.
    TooDeep { most: usize },
    /// Too many live agents in the session.
    TooManyLive { most: usize },
    /// Too many live children.
    TooManyChildren { most: usize },
    /// Nothing is left to spend.
    BudgetUsedUp {
        /// Whose budget it is: the agent's own or that of one above it.
        agent: AgentId,
        spent: Spent,
    },
    /// The agent is in a state in which this makes no sense.
    WrongState { agent: AgentId, state: NodeState, wanted: &'static str },
    /// A letter across levels or between siblings.
    NotYourChild {
        /// Whom it was meant for.
        to: AgentId,
    },
    /// It has work under way below it.
    ChildrenAtWork(Vec<AgentId>),
    /// The root ends with its session.
    RootStays(&'static str),
    /// The root has nobody above it.
    NoParent,
    /// Its mailbox is full.
    Full(AgentId),
    /// It waits for an answer already.
    AsksAlready,
    /// It asks no question that waits.
    NoQuestion(AgentId),
    /// There is no child of this name.
    UnknownName(String),
    /// Its model can't be had.
    Model(SetupError),
    /// There is no root that it could be made from.
    NoRoot,
    /// Something outside of the tree says no.
    Refused(String),
    /// Not a part of a whole.
    BadProgress(f64),
}

impl TreeError {
    /// Its words, with agents called as `name` says.
    pub fn words(&self, name: &dyn Fn(AgentId) -> String) -> String {
        match self {
            Self::Unknown(agent) => format!("there is no agent {}; agent_status lists those you have", name(*agent)),
            Self::Taken(agent) => format!("there is an agent {} already", name(*agent)),
            Self::MayNotCreate { parent, kind } => may_not_create(*parent, *kind),
            Self::TooDeep { most } => format!(
                "agents may be nested {most} deep, and this one would be deeper: do it yourself, or report to your \
                 parent that it needs help"
            ),
            Self::TooManyLive { most } => format!(
                "{most} agents are live, which is the most for a session: wait for one with agent_wait, or stop one with \
                 agent_cancel"
            ),
            Self::TooManyChildren { most } => format!(
                "you have {most} live agents, which is the most: wait for one with agent_wait, or stop one with \
                 agent_cancel"
            ),
            Self::BudgetUsedUp { agent, spent } => spent_words(&name(*agent), spent),
            Self::WrongState { agent, state, wanted } => {
                format!("agent {} is {state}, so it can't be {wanted}", name(*agent))
            }
            Self::NotYourChild { to } => {
                format!(
                    "agent {} is no child of yours: only a parent and its own child talk with each other",
                    name(*to)
                )
            }
            Self::ChildrenAtWork(agents) => {
                let names: Vec<String> = agents.iter().map(|agent| name(*agent)).collect();
                let still = if names.len() == 1 { "is" } else { "are" };
                let agents = if names.len() == 1 { "agent" } else { "agents" };
                format!(
                    "{agents} {} {still} still at work: wait with agent_wait, or stop with agent_cancel, before you finish",
                    names.join(", ")
                )
            }
            Self::RootStays(wanted) => {
                format!("the root agent can't be {wanted}: it lives as long as its session")
            }
            Self::NoParent => "the root agent has no parent to tell this".to_owned(),
            Self::Full(agent) => {
                format!("too much waits for agent {} already: let it work, then say it again", name(*agent))
            }
            Self::AsksAlready => {
                "one question of yours waits for its answer already: ask everything in one question, after that one"
                    .to_owned()
            }
            Self::NoQuestion(agent) => format!(
                "agent {} does not wait for an answer; correct it with redirect, or give it a task",
                name(*agent)
            ),
            Self::UnknownName(wanted) => format!("you have no agent {wanted:?}; agent_status lists those you have"),
            Self::Model(error) => error.to_string(),
            Self::NoRoot => "there is no root yet".to_owned(),
            Self::Refused(words) => words.clone(),
            Self::BadProgress(progress) => format!("progress is a number from 0 to 1, not {progress}"),
        }
    }
}

impl fmt::Display for TreeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(&|agent| agent.to_string()))
    }
}

impl std::error::Error for TreeError {}

impl From<SetupError> for TreeError {
    fn from(error: SetupError) -> Self {
        Self::Model(error)
    }
}

impl From<StoreError> for TreeError {
    fn from(error: StoreError) -> Self {
        Self::Refused(error.to_string())
    }
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

fn spent_words(agent: &str, spent: &Spent) -> String {
    let of = match spent.of {
        BudgetKind::Tokens => "tokens",
        BudgetKind::Cost => "US dollars",
    };
    format!(
        "the budget of agent {agent} and those below it is used up ({:.2} of {:.2} {of}): finish with what you have",
        spent.used, spent.limit
    )
}
