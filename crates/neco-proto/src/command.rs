//! Commands: the only way into a session.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::CallId;
use crate::mode::{ApprovalMode, Mode};

/// What a window can ask of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Command {
    /// Says something to the root agent. While the agent works it is queued for after its turn.
    UserMessage {
        /// What is said.
        content: String,
        /// What is shown with it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attachments: Vec<Attachment>,
    },
    /// Says something that the working agent sees at its next turn boundary.
    Steer {
        /// What is said.
        text: String,
    },
    /// Answers a `permission_request`.
    Approve {
        /// The call that waits.
        call_id: CallId,
        /// What the person decided.
        decision: Decision,
    },
    /// Stops the current work; what is finished stays.
    Cancel,
    /// Changes the mode from the next turn on.
    SetMode {
        /// The new mode.
        mode: Mode,
    },
    /// Changes the model or model group from the next turn on.
    SetModel {
        /// `provider/model`, or the name of a group.
        model: String,
    },
    /// Changes when the person is asked.
    SetApproval {
        /// The new approval mode.
        approval: ApprovalMode,
    },
    /// Ends the session's actor after everything is written.
    Shutdown,
}

/// What is shown with a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Attachment {
    /// A picture.
    Image {
        /// `image/png`, `image/jpeg`, `image/webp` or `image/gif`.
        media_type: String,
        /// The file's bytes in base64.
        data: String,
    },
}

/// A person's answer to a permission request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Decision {
    /// This call only.
    Once,
    /// This call and others like it until the session ends.
    Session,
    /// This call and others like it from now on: the rule of the request is kept.
    Always,
    /// This call with other arguments.
    Edit {
        /// The arguments to run with.
        arguments: Value,
    },
    /// Not this call.
    Reject {
        /// The person's words; the model reads them.
        reason: Option<String>,
    },
}
