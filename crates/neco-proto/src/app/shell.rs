//! Commands that a person runs themselves, beside what agents do.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::request::{Watch, request};

/// Runs a command line of the person where a session of this process works: by its rules and in its sandbox. Nothing is
/// asked, as the person wrote it; what a rule denies is not run. Whoever listens no more stops it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunShell {
    /// The session, by its id.
    pub session: String,
    /// The command line.
    pub command: String,
}

request!(RunShell => RanShell, "shell.run", Post "/shell", Manage, once);

impl Watch for RunShell {
    type Item = ShellNews;
}

/// A command that ran, and what it printed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RanShell {
    /// What it printed, the last of it where that was much.
    pub output: String,
    /// How it ended.
    pub end: ShellEnd,
}

/// How a command ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShellEnd {
    /// Its exit code; none when it was killed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<i32>,
    /// The folder that the commands after it begin in, where it changed that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Whether it listed files that look empty in its sandbox, as they may hold secrets and it did not name them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub masked: bool,
}

/// What happens while a command runs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ShellNews {
    /// It printed something.
    Printed {
        /// What.
        text: String,
        /// Bytes before it that nobody took in time.
        #[serde(default)]
        left_out: u64,
    },
    /// It is over.
    Ended(ShellEnd),
    /// Something that only a newer version knows.
    #[serde(untagged)]
    Other(Value),
}
