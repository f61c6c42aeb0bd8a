//! What an agent means to do: its todo list, the plan a person accepted, and what it found out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mode::names;

names! {
    /// How a todo stands.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum TodoStatus {
        /// Not begun, or begun and failed.
        #[default]
        Pending = "pending",
        /// Being worked on.
        InProgress = "in_progress",
        /// Done.
        Completed = "completed",
        /// Not needed any more.
        Cancelled = "cancelled",
    }
}

impl TodoStatus {
    /// Whether nothing is left to do about it.
    #[must_use]
    pub fn is_closed(self) -> bool {
        match self {
            Self::Completed | Self::Cancelled => true,
            Self::Pending | Self::InProgress => false,
        }
    }
}

/// One thing to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Todo {
    /// Unique in the list.
    pub id: String,
    /// What is to be done.
    pub text: String,
    /// How it stands.
    pub status: TodoStatus,
    /// The todo that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
}

impl Todo {
    /// How deep todos are shown to nest.
    const DEEPEST: usize = 8;

    /// A list in the order it is read: parts below what they are parts of, with how deep each one is.
    #[must_use]
    pub fn outline(todos: &[Self]) -> Vec<(usize, &Self)> {
        let mut lines = Vec::new();
        let is_part =
            |todo: &Self| todo.parent.as_ref().is_some_and(|parent| todos.iter().any(|other| other.id == *parent));
        for todo in todos.iter().filter(|todo| !is_part(todo)) {
            todo.outline_below(todos, 0, &mut lines);
        }
        lines
    }

    fn outline_below<'a>(&'a self, todos: &'a [Self], depth: usize, lines: &mut Vec<(usize, &'a Self)>) {
        lines.push((depth, self));
        if depth == Self::DEEPEST {
            return;
        }
        for part in todos.iter().filter(|part| part.parent.as_deref() == Some(&self.id)) {
            part.outline_below(todos, depth + 1, lines);
        }
    }
}

names! {
    /// What became of a plan.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum PlanStatus {
        /// It was made and nobody decided about it.
        Proposed = "proposed",
        /// It is being carried out.
        Accepted = "accepted",
        /// It was sent back with comments.
        SentBack = "sent_back",
        /// Nothing comes of it.
        Dropped = "dropped",
        /// Every step is done.
        Finished = "finished",
    }
}

/// A step of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanStep {
    /// The id of the todo that stands for it.
    pub id: String,
    /// What is to be done.
    pub text: String,
    /// Whether it is.
    pub done: bool,
}

/// A plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Plan {
    /// The plan as it was written, in markdown.
    pub text: String,
    /// What became of it.
    pub status: PlanStatus,
    /// Its steps, as far as they can be told apart.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub steps: Vec<PlanStep>,
    /// Whether it is carried out although no person saw it, because none was there.
    #[serde(default, skip_serializing_if = "is_false")]
    pub unseen: bool,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

impl Plan {
    /// Whether it was accepted and something of it is left to do.
    #[must_use]
    pub fn is_unfinished(&self) -> bool {
        match self.status {
            PlanStatus::Accepted => true,
            PlanStatus::Proposed | PlanStatus::SentBack | PlanStatus::Dropped | PlanStatus::Finished => false,
        }
    }
}
