//! Payloads about the session as a whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error_code::ErrorCode;
use crate::mode::{ApprovalMode, Mode};

/// A session was created or opened again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionStart {
    /// The version of Neco that wrote it.
    pub version: String,
    /// The workspace.
    pub cwd: String,
    /// The model or group the root agent asks.
    pub model: String,
    /// Whether that model is a script rather than a model.
    pub scripted: bool,
    /// The mode.
    pub mode: Mode,
    /// The approval mode.
    pub approval: ApprovalMode,
    /// The generation; 0 in logs that are older than generations.
    #[serde(default)]
    pub generation: u8,
    /// What stands between commands and the machine.
    pub sandbox: String,
    /// Whether an earlier conversation goes on.
    pub resumed: bool,
}

/// Mode, approval mode, model or generation changed; only what changed is there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModeChange {
    /// The new mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// The new approval mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalMode>,
    /// The new model or group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The new generation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u8>,
    /// Why the agent itself changed it; absent when a person did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// How loud a notification is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotificationLevel {
    /// Good to know.
    Info,
    /// Something is not as it should be.
    Warning,
}

/// Something the person should know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Notification {
    /// How loud.
    pub level: NotificationLevel,
    /// What.
    pub text: String,
}

/// Something went wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorEvent {
    /// The stable code.
    pub code: ErrorCode,
    /// What happened, for a person.
    pub message: String,
    /// Whether the same thing can succeed when it is tried again.
    pub retryable: bool,
}
