//! Payloads about what the agents of a session share.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A value that all agents of a session share was set or removed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SharedStateUpdate {
    /// Its name.
    pub key: String,
    /// The value from now on; absent when it was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<Value>,
    /// How often it was set or removed so far, with this time.
    pub version: u64,
    /// What the agent is called that did it; its id is that of the event.
    pub writer: String,
}
