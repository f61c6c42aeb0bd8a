//! Rules about what may happen.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Rules about what may happen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct PolicySection {
    /// Rules, written as in a policy file: `[[policy.rules]]` with `tool`, `decision` and conditions
    /// (docs/safety/policy.md). Files in `~/.config/neco/policy/` hold more of them.
    pub rules: Vec<BTreeMap<String, Value>>,
    /// What counts of the permissions in your own settings of other agents (`~/.claude/settings.json`).
    pub other_agents: OtherAgents,
}

/// What counts of other agents' permissions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OtherAgents {
    /// Nothing.
    Off,
    /// What asks or denies.
    #[default]
    Narrow,
    /// What allows, too.
    All,
}
