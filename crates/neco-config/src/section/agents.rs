//! The tree of agents.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The agents that an agent can start. What a session may cost binds them all.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AgentsSection {
    /// How deep agents may start agents; 0 lets nobody start any. However high it is, `agents.max_live` holds.
    pub max_depth: usize,
    /// Most agents at the same time in a session, besides the one you talk to.
    #[schemars(range(min = 1, max = 1000))]
    pub max_live: usize,
    /// Most agents at the same time that one which was started itself may have.
    #[schemars(range(min = 1, max = 1000))]
    pub max_children: usize,
    /// Most turns of such an agent, where its definition does not say.
    #[schemars(range(min = 1, max = 100_000))]
    pub max_turns: u32,
    /// Seconds of silence after which whoever started an agent is told that it may hang; 0 for never.
    #[schemars(range(min = 0, max = 86_400))]
    pub max_silence: f64,
    /// Seconds after which a paused agent has failed, which whoever started it is told; 0 for never. The time in which
    /// its session is closed does not count.
    #[schemars(range(min = 0, max = 31_536_000))]
    pub max_pause: f64,
    /// Most questions and orders that wait for one agent.
    #[schemars(range(min = 1, max = 10_000))]
    pub max_letters: usize,
    /// What an agent of a name asks and may use, instead of what its definition says.
    pub roles: BTreeMap<String, RoleSection>,
}

/// What an agent of a name asks and may use.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RoleSection {
    /// The group or `provider/model` that it asks; `AGENT_MODEL_NAME` in the environment says the same. A
    /// model that you choose for the session (`--model`, `/model`) comes before it.
    #[schemars(length(min = 1))]
    pub model: Option<String>,
    /// How freely the model chooses its words, where it can be told.
    #[schemars(range(min = 0, max = 2))]
    pub temperature: Option<f64>,
    /// Most tokens of one answer.
    #[schemars(range(min = 1))]
    pub max_output: Option<u64>,
    /// Most tokens that it and those below it may use in all.
    #[schemars(range(min = 1))]
    pub max_tokens: Option<u64>,
}
