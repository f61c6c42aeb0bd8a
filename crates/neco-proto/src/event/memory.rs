//! Payloads about what is remembered from one session to the next.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::mode::names;

/// The memory was changed, or something of it was put before the model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryUpdate {
    /// What happened.
    pub action: MemoryAction,
    /// The entries it happened to.
    pub entries: Vec<MemoryNote>,
    /// What the model is told of them from now on; only with `recalled`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

names! {
    /// What happened to entries of the memory.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum MemoryAction {
        /// Their titles and summaries are before the model for the rest of the session.
        Recalled = "recalled",
        /// They are new.
        Stored = "stored",
        /// They were there and say something else now.
        Updated = "updated",
    }
}

names! {
    /// How far an entry of the memory reaches.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum MemoryScope {
        /// Everywhere this person works.
        Global = "global",
        /// One folder and those below it; kept in that folder.
        Directory = "directory",
    }
}

/// An entry of the memory in short.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MemoryNote {
    /// Its id.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// How far it reaches.
    pub scope: MemoryScope,
    /// The file that holds it.
    pub path: String,
}
