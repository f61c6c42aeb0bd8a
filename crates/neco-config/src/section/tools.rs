//! Tools and their limits.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DiagnosticsSection, WebFetchSection, WebSearchSection};

/// Tools and their limits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToolsSection {
    /// Only these tools exist; empty means all.
    #[schemars(inner(length(min = 1)))]
    pub only: Vec<String>,
    /// Seconds a tool may take unless it has a limit of its own.
    #[schemars(range(max = 31_536_000), extend("exclusiveMinimum" = 0))]
    pub timeout: f64,
    /// Seconds a command may take when the model does not say.
    #[schemars(range(max = 31_536_000), extend("exclusiveMinimum" = 0))]
    pub command_timeout: f64,
    /// The most seconds a command may ask for.
    #[schemars(range(max = 31_536_000), extend("exclusiveMinimum" = 0))]
    pub max_command_timeout: f64,
    /// Bytes of one result that the model gets; the rest goes to a file.
    #[schemars(range(min = 1000, max = 1_000_000))]
    pub max_output_bytes: usize,
    /// Names of environment variables that commands never see, as globs. Variables that hold a
    /// provider's key or whose value looks like a secret are hidden without being named.
    #[schemars(inner(length(min = 1)))]
    pub hidden_env: Vec<String>,
    /// The shell that runs commands.
    #[schemars(length(min = 1))]
    pub shell: String,
    /// The project's own checkers.
    pub diagnostics: DiagnosticsSection,
    /// Fetching web pages.
    pub web_fetch: WebFetchSection,
    /// Searching the web.
    pub web_search: WebSearchSection,
}
