//! What a model is asked.

use std::sync::Arc;

use serde_json::Value;

use crate::history::History;

/// One question to a model. Cheap to clone: everything big is shared.
#[derive(Clone, Debug)]
pub struct Request {
    /// The system prompt.
    pub system: Arc<str>,
    /// The tools the model may call.
    pub tools: Arc<[ToolDeclaration]>,
    /// The conversation so far.
    pub history: History,
    /// Stable for a session, so that vendors with a prompt cache can route to it.
    pub cache_key: String,
}

/// A tool as a model is told about it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolDeclaration {
    /// Its name.
    pub name: String,
    /// What it does, for the model.
    pub description: String,
    /// JSON schema of its arguments.
    pub schema: Value,
}
