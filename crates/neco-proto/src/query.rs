//! Questions a window can ask a session without changing it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::context::{ContextReport, PromptReport};
use crate::event::{AgentState, PermissionRequest};
use crate::ids::{AgentId, Seq, SessionId};
use crate::message::Message;
use crate::mode::{ApprovalMode, Mode};
use crate::plan::{Plan, Todo};
use crate::question::Question;
use crate::usage::Usage;

/// A question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Query {
    /// How the session stands now.
    Snapshot,
    /// The conversation as the model has it.
    Messages,
    /// How much room everything takes that the model is told.
    Context,
    /// Exactly what the model would be told now.
    Prompt,
}

/// The answer to a [`Query`], variant for variant.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Answer {
    /// To [`Query::Snapshot`].
    Snapshot(SessionSnapshot),
    /// To [`Query::Messages`].
    Messages {
        /// Oldest first.
        messages: Vec<Message>,
    },
    /// To [`Query::Context`].
    Context(ContextReport),
    /// To [`Query::Prompt`].
    Prompt(PromptReport),
}

/// How a session stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionSnapshot {
    /// Which session.
    pub session_id: SessionId,
    /// Its root agent.
    pub root_agent: AgentId,
    /// The last event's position.
    pub last_seq: Seq,
    /// The workspace.
    pub cwd: String,
    /// The model or group the root agent asks.
    pub model: String,
    /// The mode.
    pub mode: Mode,
    /// The approval mode.
    pub approval: ApprovalMode,
    /// What the root agent is doing.
    pub state: AgentState,
    /// Used so far.
    pub usage: Usage,
    /// Approvals that wait for a person.
    pub pending: Vec<PermissionRequest>,
    /// Questions that wait for a person.
    #[serde(default)]
    pub questions: Vec<Question>,
    /// The generation.
    #[serde(default)]
    pub generation: u8,
    /// The todo list.
    #[serde(default)]
    pub todos: Vec<Todo>,
    /// The plan, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan: Option<Plan>,
    /// What was found out and is worth keeping.
    #[serde(default)]
    pub findings: Vec<String>,
}
