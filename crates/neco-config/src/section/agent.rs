//! The loop.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The loop.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AgentSection {
    /// Most turns for one request; then a window asks whether it goes on, for as many. Not set means 500 for a single
    /// request (`-m`), which ends there with exit code 4.
    #[schemars(range(min = 1, max = 100_000))]
    pub max_turns: u32,
    /// Most US dollars that a session may cost, as far as prices are known.
    #[schemars(range(min = 0))]
    pub max_cost: Option<f64>,
    /// Most tokens, input and output together, that a session may use.
    #[schemars(range(min = 1))]
    pub max_tokens: Option<u64>,
    /// Most seconds that a session may work; waiting for you is not work. An answer that is still coming in then is cut
    /// off; calls that run are finished first.
    #[schemars(range(max = 31_536_000), extend("exclusiveMinimum" = 0))]
    pub max_seconds: Option<f64>,
    /// The generation: 1 to 8, each with the tools of the ones below it; the highest when it is not set.
    #[schemars(range(min = 1, max = 8))]
    pub generation: Option<u8>,
    /// What watches the agent's work.
    pub guards: GuardsSection,
    /// Most reading calls of one turn that run at the same time.
    #[schemars(range(min = 1, max = 1000))]
    pub parallel_reads: usize,
}

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
    /// Tells a model that only describes the change it was asked for to make it, once.
    pub advice: bool,
}
