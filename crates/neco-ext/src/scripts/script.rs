//! A scripted tool, as it was found.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use neco_config::section::ScriptType;
use serde_json::Value;

/// A scripted tool.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// The name that a model calls it by.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What runs it.
    pub kind: ScriptType,
    /// What is run.
    pub code: Code,
    /// Its arguments, as a JSON schema.
    pub parameters: Value,
    /// How long a call may take.
    pub timeout: Duration,
    /// Whether it reaches the network where commands don't.
    pub network: bool,
    /// The file that it stands in, as people are shown it.
    pub file: String,
    /// The folder of the plugin that brings it, which it is told.
    pub plugin: Option<PathBuf>,
}

/// What a scripted tool runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Code {
    /// A text that its interpreter is given.
    Text {
        /// The text.
        text: Arc<str>,
        /// The file that it was read from, if any.
        path: Option<PathBuf>,
    },
    /// A module, which is looked at again before it runs.
    Module {
        /// Its file.
        path: PathBuf,
        /// What tells whether it is still the one that was found.
        hash: String,
    },
}
