//! Questions a window can ask a session without changing it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::event::{AgentState, PermissionRequest};
use crate::ids::{AgentId, Seq, SessionId};
use crate::message::Message;
use crate::mode::{ApprovalMode, Mode};
use crate::usage::Usage;

/// A question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Query {
    /// How the session stands now.
    Snapshot,
    /// The conversation as the model has it.
    Messages,
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
}
