//! What models were used for and what that cost, over all sessions of the store.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Known;
use super::request::request;
use crate::event::SidePurpose;
use crate::usage::Usage;

/// Shows what sessions used, by day, model and agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowUsage {
    /// The folder that they worked in; all folders when it is empty.
    pub folder: String,
    /// How many days up to today; 30 when nothing is said, 366 at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<u32>,
}

impl ShowUsage {
    /// The days that are looked at when nothing is said.
    pub const DAYS: u32 = 30;

    /// Most days that are looked at.
    pub const MOST_DAYS: u32 = 366;
}

request!(ShowUsage => UsageReport, "usage.show", Get "/usage", Read, repeatable);

/// What sessions used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageReport {
    /// The first day that is looked at, such as `2026-03-01`, by the clock of the machine that answers.
    pub from: String,
    /// The last one.
    pub to: String,
    /// What was used, one row for each day, model and agent, by day; days without use have none.
    pub rows: Vec<UsageRow>,
    /// All rows together.
    pub total: Usage,
    /// How many sessions used something.
    pub sessions: u64,
    /// Whether older sessions were left out because looking at them takes too long; asking again goes on with them.
    #[serde(default)]
    pub cut: bool,
}

/// What was used on a day, of a model, by an agent.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageRow {
    /// The day, such as `2026-03-01`.
    pub day: String,
    /// The model, `provider/model`.
    pub model: String,
    /// The role of the agent that asked, such as `root` or `coder`; absent where the session itself asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What the session itself asked for beside its agents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aside: Option<Known<SidePurpose>>,
    /// How often the model was asked.
    pub calls: u64,
    /// What that used.
    pub usage: Usage,
}
