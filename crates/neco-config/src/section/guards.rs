//! What watches the agent's work.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What watches the agent's work. Each of them says a word to the model at a turn boundary; none of
/// them blocks a call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GuardsSection {
    /// Says how big a request looks and how to go about it.
    pub complexity: bool,
    /// Reminds of writing down what was looked up.
    pub findings: bool,
    /// Counts failures of the same kind on the same target: the third asks for another approach.
    pub errors: bool,
    /// Nudges a model that reads on and on.
    pub anti_pattern: bool,
    /// Warns a model that repeats itself, then stops it and asks you.
    pub loops: bool,
    /// Tells a model that wants to stop with most of its plan open what is open, once.
    pub stop_check: bool,
}
