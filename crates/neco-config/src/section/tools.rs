//! Tools and their limits.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{WebFetchSection, WebSearchSection};

/// Which tools the model is told of in full from the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Declare {
    /// Those for every day; of each of the others a line.
    #[default]
    Everyday,
    /// All.
    All,
}

/// Tools and their limits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ToolsSection {
    /// Only these tools exist; empty means all.
    #[schemars(inner(length(min = 1)))]
    pub only: Vec<String>,
    /// Which tools the model is told of in full from the start: `everyday` ones, with a line for each of the others,
    /// which it looks up when it needs them; or `all`.
    pub declare: Declare,
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

/// The project's own checkers: what the tool `diagnostics` runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DiagnosticsSection {
    /// Checkers that are never run, by name: `cargo`, `tsc`, `eslint`, `ruff`, `go`, or one of `checkers`.
    #[schemars(inner(length(min = 1)))]
    pub off: Vec<String>,
    /// Runs the checkers in the sandbox after edits without asking, and tells the model of the problems
    /// that are new. Without a sandbox nothing is run.
    pub after_edits: bool,
    /// Seconds a checker may take.
    #[schemars(range(max = 31_536_000), extend("exclusiveMinimum" = 0))]
    pub timeout: f64,
    /// Checkers of your own by name. One with the name of a built-in checker takes its place.
    pub checkers: BTreeMap<String, CheckerSection>,
}

/// One checker.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CheckerSection {
    /// The command line, run by the shell that runs commands, in the folder of the project.
    #[schemars(length(min = 1))]
    pub command: String,
    /// A regular expression for one line of its output, with the groups `file`, `line`, `column`,
    /// `severity`, `code` and `message`; of these, `message` must be there. Without it the output is
    /// read as the built-in checker of the same name prints it, and else as `file:line:column: message`.
    #[schemars(length(min = 1))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// Names of files that mark a project that it is for, such as `Makefile`; empty stands for the workspace.
    #[schemars(inner(length(min = 1)))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub markers: Vec<String>,
    /// Endings of files that it is for, such as `py`; empty stands for all.
    #[schemars(inner(length(min = 1)))]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub endings: Vec<String>,
}
