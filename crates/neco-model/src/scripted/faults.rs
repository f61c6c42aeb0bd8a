//! What can go wrong with a written answer.

use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use serde_json::json;

/// What goes wrong with a turn. Pieces are counted as they are streamed: of thought, text and calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Fault {
    /// No answer but an HTTP status.
    Status {
        /// Such as 429 or 500.
        code: u16,
        /// Seconds in the `retry-after` header.
        #[serde(default)]
        retry_after: Option<f64>,
        /// The vendor's words.
        #[serde(default)]
        message: Option<String>,
    },
    /// The connection breaks after so many pieces.
    DropAfter(usize),
    /// Silence after so many pieces; 0 is before the first byte.
    StallAfter(usize),
    /// An error event after so many pieces.
    ErrorAfter(usize),
    /// A proper answer that says nothing.
    Empty,
}

/// The words of an error event.
pub const ERROR_EVENT: &str = "the script says that the vendor fails here";

impl Fault {
    /// A 429 that asks to wait so many seconds.
    pub fn rate_limit(retry_after: f64) -> Self {
        Self::Status { code: 429, retry_after: Some(retry_after), message: None }
    }

    /// A status without more.
    pub fn status(code: u16) -> Self {
        Self::Status { code, retry_after: None, message: None }
    }

    /// How many pieces come before it; `None` when all do.
    pub fn after(&self) -> Option<usize> {
        match self {
            Self::DropAfter(pieces) | Self::StallAfter(pieces) | Self::ErrorAfter(pieces) => Some(*pieces),
            Self::Status { .. } | Self::Empty => None,
        }
    }
}

/// The headers of a status fault.
pub fn headers(retry_after: Option<f64>) -> HeaderMap {
    let milliseconds = retry_after
        .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
        .and_then(|wait| HeaderValue::from_str(&wait.as_millis().to_string()).ok());
    milliseconds.map(|value| (HeaderName::from_static("retry-after-ms"), value)).into_iter().collect()
}

/// The body of a status fault.
pub fn body(code: u16, message: Option<&str>) -> String {
    let message = message.map_or_else(|| format!("the script answers with status {code}"), str::to_owned);
    json!({ "error": { "message": message, "type": null, "code": null } }).to_string()
}
