//! Where a tool comes from.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a tool comes from: rules, hooks and windows can name it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ToolOrigin {
    /// It comes with the program.
    #[default]
    BuiltIn,
    /// An MCP server offers it.
    Mcp {
        /// What the server is called in the settings.
        server: String,
    },
    /// A plugin brings it.
    Plugin {
        /// What the plugin is called.
        name: String,
    },
    /// It is a program that somebody wrote.
    Script {
        /// Where that lies.
        path: String,
    },
    /// The person's editor offers it.
    Editor,
}

impl ToolOrigin {
    /// The origin of what comes with the program, to be lent.
    pub const BUILT_IN: &Self = &Self::BuiltIn;

    /// Whether it comes with the program.
    #[must_use]
    pub fn is_built_in(&self) -> bool {
        *self == Self::BuiltIn
    }
}

impl fmt::Display for ToolOrigin {
    /// The name that rules use.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::BuiltIn => f.write_str("built-in"),
            Self::Mcp { server } => write!(f, "mcp:{server}"),
            Self::Plugin { name } => write!(f, "plugin:{name}"),
            Self::Script { path } => write!(f, "script:{path}"),
            Self::Editor => f.write_str("editor"),
        }
    }
}
