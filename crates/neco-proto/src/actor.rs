//! Who a command or a decision came from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::AgentId;

/// Who something came from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Actor {
    /// The person at this machine.
    #[default]
    Person,
    /// A device of the person that reaches the program from elsewhere.
    Device {
        /// What it is called.
        name: String,
    },
    /// A program that hands in what it wants done, such as an MCP client: nobody typed its words here.
    Program {
        /// What it is called.
        name: String,
    },
    /// An agent.
    Agent {
        /// Which one.
        id: AgentId,
    },
    /// A rule that a person wrote.
    Rule {
        /// The rule as people write it.
        rule: String,
    },
}

impl Actor {
    /// The agent that it is; nothing for a person and for what speaks for one.
    #[must_use]
    pub fn agent(&self) -> Option<AgentId> {
        match self {
            Self::Agent { id } => Some(*id),
            Self::Person | Self::Device { .. } | Self::Program { .. } | Self::Rule { .. } => None,
        }
    }

    /// Whether a person wrote what came from it.
    #[must_use]
    pub fn is_person(&self) -> bool {
        match self {
            Self::Person | Self::Device { .. } => true,
            Self::Program { .. } | Self::Agent { .. } | Self::Rule { .. } => false,
        }
    }
}
