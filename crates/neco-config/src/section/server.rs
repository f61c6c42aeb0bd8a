//! Whether sessions work in the server.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// When sessions work in the server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UseServer {
    /// When `--serve` or `--background` say so; else in the process that opens them, and they end with that.
    #[default]
    Never,
    /// When a server runs.
    Auto,
    /// Always; a server is started when none runs.
    Always,
}

/// The server, in which sessions outlive windows; see docs/server.md.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ServerSection {
    /// When the sessions of windows and of requests work in the server of this machine.
    #[serde(rename = "use")]
    pub use_for: UseServer,
}
