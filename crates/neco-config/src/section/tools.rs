//! Tools and their limits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Tools and their limits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToolsSection {
    /// Only these tools exist; empty means all.
    pub only: Vec<String>,
    /// Seconds a tool may take unless it has a limit of its own.
    pub timeout: f64,
    /// Seconds a command may take when the model does not say.
    pub command_timeout: f64,
    /// The most seconds a command may ask for.
    pub max_command_timeout: f64,
    /// Bytes of one result that the model gets; the rest goes to a file.
    pub max_output_bytes: usize,
    /// Names of environment variables that commands never see, as globs.
    pub hidden_env: Vec<String>,
    /// The shell that runs commands.
    pub shell: String,
}
