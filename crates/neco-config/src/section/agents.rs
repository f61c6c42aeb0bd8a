//! The tree of agents.

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
}
