//! Who asks, and what they may.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::mode::names;

names! {
    /// What a caller may do.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    pub enum Scope {
        /// Look at sessions and settings.
        Read = "read",
        /// Work in sessions.
        Work = "work",
        /// Change what holds for everything: settings, keys, rules, trust.
        Manage = "manage",
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
