//! Payloads about the tree of agents: what a node is, and what agents say to each other.

use std::borrow::Cow;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::actor::Actor;
use crate::clean::without_inner_marks;
use crate::error_code::ErrorCode;
use crate::ids::{AgentId, MessageId};
use crate::mode::names;
use crate::usage::{Usage, finite};

names! {
    /// What kind of agent a node is: whom it may create.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum NodeType {
        /// Talks with the person; exactly one.
        Root = "root",
        /// Works for its parent, and may create agents of its own.
        Child = "child",
        /// Works for its parent, alone.
        ActOnly = "act_only",
    }
}

impl NodeType {
    /// Whether a node of this type may create one of type `other`.
    #[must_use]
    pub fn may_create(self, other: Self) -> bool {
        match (self, other) {
            (Self::Root | Self::Child, Self::Child | Self::ActOnly) => true,
            (Self::Root | Self::Child, Self::Root) | (Self::ActOnly, Self::Root | Self::Child | Self::ActOnly) => false,
        }
    }
}

names! {
    /// What an agent is doing, as its parent sees it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum NodeState {
        /// It has not begun.
        Created = "created",
        /// It works, or waits for its children.
        Running = "running",
        /// It does nothing and costs nothing until it goes on.
        Paused = "paused",
        /// It has done its task.
        Completed = "completed",
        /// It could not do its task.
        Failed = "failed",
        /// Somebody stopped it.
        Cancelled = "cancelled",
    }
}

impl NodeState {
    /// Whether it may still do something.
    #[must_use]
    pub fn is_live(self) -> bool {
        match self {
            Self::Created | Self::Running | Self::Paused => true,
            Self::Completed | Self::Failed | Self::Cancelled => false,
        }
    }
}

/// What came of an agent's task.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum NodeResult {
    /// What it found or did: text, or what its output schema asks for.
    Output {
        /// The output.
        output: Value,
    },
    /// Why it failed.
    Error {
        /// The stable code, where there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<ErrorCode>,
        /// What happened.
        message: String,
    },
}

/// The person stopped the agents of a session: nobody below the root works, and nothing wakes the root until the person
/// says something.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionStop {
    /// Those that worked and are paused now, parents before their children.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paused: Vec<AgentId>,
    /// Who stopped them; absent in logs that are older than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
}

/// What an agent and everybody below it may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SubtreeBudget {
    /// Input and output tokens together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokens: Option<u64>,
    /// US dollars, as far as prices are known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<f64>,
}

/// One agent of the tree.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentNode {
    /// Its id.
    pub id: AgentId,
    /// What it is called in its session: its role and a number, such as `explore-2`; `root` for the root.
    pub name: String,
    /// What kind it is.
    #[serde(rename = "type")]
    pub kind: NodeType,
    /// The name of its definition, such as `coder`.
    pub role: String,
    /// Who created it; nobody for the root.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<AgentId>,
    /// Those it created, oldest first; without those that went when it finished.
    pub children: Vec<AgentId>,
    /// How many agents below it are gone because everything there was finished.
    #[serde(default)]
    pub collapsed: usize,
    /// What it was asked to do.
    pub task: String,
    /// The model or model group it asks.
    pub model_group: String,
    /// What it is doing.
    pub state: NodeState,
    /// Whose pause it is in: its own, or that of an agent above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_by: Option<AgentId>,
    /// How far it says it is, from 0 to 1.
    #[serde(deserialize_with = "finite")]
    pub progress: f64,
    /// What it said last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_message: Option<String>,
    /// What it used itself.
    pub usage: Usage,
    /// What it and everybody below it used.
    pub subtree_usage: Usage,
    /// What it and everybody below it may use.
    #[serde(default)]
    pub budget: SubtreeBudget,
    /// When it was created.
    #[schemars(with = "String")]
    pub created: Timestamp,
    /// When its state changed last.
    #[schemars(with = "String")]
    pub changed: Timestamp,
    /// What came of its task.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<NodeResult>,
}

impl AgentNode {
    /// What it was asked to do, as people read it: without the marks around what other tasks gave.
    #[must_use]
    pub fn task_for_people(&self) -> Cow<'_, str> {
        without_inner_marks(&self.task)
    }
}

/// An agent of the tree is new or has changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentUpdate {
    /// How it is now.
    pub node: AgentNode,
    /// Those below it that are gone from the tree with this, their logs kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<AgentId>,
    /// How it was set up, once, when it is new: what it takes to go on with it after a crash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<Value>,
    /// Who told it to pause, go on, end or work otherwise, when that is what changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
    /// Whether it begins its task anew with this: what it said and did before is no part of its conversation any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub anew: bool,
}

/// What a child says to its parent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Up {
    /// How far it is.
    Report {
        /// From 0 to 1.
        #[serde(deserialize_with = "finite")]
        progress: f64,
        /// In words.
        message: String,
    },
    /// It needs an answer to go on.
    Question {
        /// What it wants to know.
        text: String,
    },
    /// How its task ended; said by the tree, once, and never lost.
    Ended {
        /// What came of it.
        result: NodeResult,
    },
    /// It was stopped, fell silent, or was interrupted by a crash; said by the tree.
    Stopped {
        /// In words.
        why: String,
        /// Whether the parent need not begin because of it: a person ended it, and the parent hears of it when it works
        /// next.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        quiet: bool,
    },
}

/// What a parent or the person says to an agent. Pausing, resuming, cancelling and other parameters
/// are no letters: they happen to the agent at once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Down {
    /// Its first task, or the next one.
    Task {
        /// What to do.
        text: String,
    },
    /// A correction that it sees at its next turn.
    Redirect {
        /// What to do otherwise.
        text: String,
    },
    /// The answer to its question.
    Answer {
        /// The answer.
        text: String,
    },
}

/// What is said.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "way", rename_all = "snake_case")]
pub enum Letter {
    /// To a parent.
    Up(Up),
    /// To a child.
    Down(Down),
}

/// An agent, or the person, says something to another agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentMessage {
    /// Who says it.
    pub from: Actor,
    /// To whom.
    pub to: AgentId,
    /// What.
    pub letter: Letter,
    /// The message by which it enters the conversation of the one it is said to.
    pub message_id: MessageId,
}

impl AgentMessage {
    /// Whether it is a reason to begin.
    #[must_use]
    pub fn wakes(&self) -> bool {
        match self.letter {
            Letter::Up(Up::Report { .. }) => false,
            Letter::Up(Up::Stopped { quiet, .. }) => !quiet,
            Letter::Up(Up::Question { .. } | Up::Ended { .. }) | Letter::Down(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_letter_is_flat_and_reads_back() {
        let result = NodeResult::Output { output: Value::from("done") };
        let letter = Letter::Up(Up::Ended { result });
        let message = AgentMessage { from: Actor::Person, to: AgentId::new(), letter, message_id: MessageId::new() };
        let json = serde_json::to_value(&message).unwrap();
        assert_eq!((json["letter"]["way"].as_str(), json["letter"]["kind"].as_str()), (Some("up"), Some("ended")));
        assert_eq!(serde_json::from_value::<AgentMessage>(json).unwrap(), message);
    }
}
