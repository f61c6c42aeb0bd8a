//! Commands that go on in the background of an agent, as windows list them.

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::AgentId;

/// A command in the background of an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BackgroundCommand {
    /// The agent that started it.
    pub agent_id: AgentId,
    /// What it is called there, such as `bg-1`.
    pub name: String,
    /// The command line.
    pub command: String,
    /// When it began.
    #[schemars(with = "String")]
    pub started: Timestamp,
    /// How it ended; absent while it runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<BackgroundEnd>,
}

/// How a command in the background ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BackgroundEnd {
    /// Its exit code; absent where a signal ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// How long it ran, in milliseconds.
    pub took_ms: u64,
}

impl BackgroundCommand {
    /// Whether it still runs.
    pub fn runs(&self) -> bool {
        self.ended.is_none()
    }
}
