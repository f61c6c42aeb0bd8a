//! The project's own checkers.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
