//! A big output of a call: its own line, before the event that names it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use neco_proto::CallId;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputLine {
    /// What makes the line one of these.
    pub neco_output: Output,
}

impl OutputLine {
    /// How such a line begins; no event does.
    pub const BEGINS: &str = "{\"neco_output\":";
}

/// All of an output that was too big for the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// The call.
    pub call_id: CallId,
    /// What it gave, where that is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// What it gave otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

impl Output {
    /// What a call gave.
    pub fn new(call_id: CallId, bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self { call_id, text: Some(text), base64: None },
            Err(error) => Self { call_id, text: None, base64: Some(STANDARD.encode(error.as_bytes())) },
        }
    }

    /// The bytes again; nothing when they can't be read.
    pub fn into_bytes(self) -> Option<Vec<u8>> {
        match (self.text, self.base64) {
            (Some(text), _) => Some(text.into_bytes()),
            (None, Some(base64)) => STANDARD.decode(base64).ok(),
            (None, None) => None,
        }
    }
}
