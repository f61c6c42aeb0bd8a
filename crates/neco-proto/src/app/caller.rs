//! Who asks, and what they may.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;

/// What a caller may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Look at sessions and settings.
    Read,
    /// Work in sessions.
    Work,
    /// Change what holds for everything: settings, keys, rules, trust.
    Manage,
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Work => "work",
            Self::Manage => "manage",
        })
    }
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Caller {
    /// Who it is.
    pub actor: Actor,
    /// The most that they may.
    pub scope: Scope,
    /// Whose data it is about, where several share a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<String>,
}

impl Caller {
    /// The person at this machine, who may do everything.
    #[must_use]
    pub fn person() -> Self {
        Self { actor: Actor::Person, scope: Scope::Manage, tenant: None }
    }
}
