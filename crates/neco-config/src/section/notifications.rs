//! Notices of what a session asks, and of the end of its work, while nobody looks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How you are told what a session of the server asks, and that its work has ended, while nobody follows it; see
/// docs/server.md. The terminal window calls by itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct NotificationsSection {
    /// Whether the desktop shows it, by `notify-send` or on macOS by `osascript`.
    pub desktop: bool,
    /// A command line that gets it as JSON on stdin. It runs with your rights, outside of the sandbox.
    #[schemars(length(min = 1))]
    pub command: Option<String>,
    /// An address that gets it as JSON, by POST.
    #[schemars(length(min = 1))]
    pub webhook: Option<String>,
    /// The environment variable with the secret that signs what the webhook gets, as Standard Webhooks have it:
    /// `whsec_` and base64.
    #[schemars(length(min = 1))]
    pub webhook_secret_env: Option<String>,
    /// Whether the webhook may be on this machine or in a private network.
    pub webhook_private: bool,
}
