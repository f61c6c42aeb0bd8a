//! How sessions are kept and named.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How sessions are kept and named.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SessionsSection {
    /// Whether the model makes a session's title after its first turn, with one small call. Until then,
    /// and without it, the title is the first words. Not set means: for sessions with a person in front
    /// of them, not for single requests (`-m`), which cost nothing beyond the request. A title that a
    /// person gave is never replaced.
    pub model_title: Option<bool>,
    /// The model or group that is asked for a title; not set means the session's own.
    #[schemars(length(min = 1))]
    pub title_model: Option<String>,
}
