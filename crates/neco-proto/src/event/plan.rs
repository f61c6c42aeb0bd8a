//! Payloads about what the agent means to do and what it wants to know.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::ids::QuestionId;
use crate::plan::{Plan, Todo};
use crate::question::Reply;

/// The todo list is another one now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TodoUpdate {
    /// The whole list.
    pub todos: Vec<Todo>,
}

/// The plan, or what was found out, is another one now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PlanUpdate {
    /// The plan, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// All that was found out and is worth keeping, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
    /// Who closed it from outside; absent while the agent keeps it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
}

/// A person answered a question, or the question is void.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct QuestionAnswer {
    /// The question.
    pub question_id: QuestionId,
    /// The answer; absent when the work ended before there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Reply>,
    /// Who answered; absent without an answer, and in logs that are older than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
}
