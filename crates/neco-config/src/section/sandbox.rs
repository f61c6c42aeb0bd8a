//! The box that commands run in.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What commands may touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxLevel {
    /// They read, and write to a private temporary folder only.
    ReadOnly,
    /// They write to the workspace, a private temporary folder and caches of their own.
    #[default]
    WorkspaceWrite,
    /// No box: they may do what you may do.
    Full,
}

impl SandboxLevel {
    /// The name that settings have for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::ReadOnly => "read_only",
            Self::WorkspaceWrite => "workspace_write",
            Self::Full => "full",
        }
    }
}

/// Whether commands reach the network.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxNetwork {
    /// Only what listens inside the box, and `sandbox.hosts` through a proxy.
    #[default]
    Off,
    /// Everything.
    On,
}

/// The box that commands run in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SandboxSection {
    /// What commands may touch.
    pub level: SandboxLevel,
    /// Whether commands reach the network.
    pub network: SandboxNetwork,
    /// Hosts that commands reach over HTTP and HTTPS while the network is off: a name such as
    /// `example.com`, or `*.example.com` for every name below it. Addresses of this machine and of
    /// private networks are refused whatever their name.
    #[schemars(inner(length(min = 1)))]
    pub hosts: Vec<String>,
    /// Refuses to start when the strong box can't be had, instead of saying so and going on.
    pub required: bool,
    /// More folders that commands may write to, absolute or from `~`. What is written there can
    /// be run later outside the box: name caches, not programs.
    #[schemars(inner(length(min = 1)))]
    pub writable: Vec<String>,
    /// Files and folders that commands may read although they look like secrets: absolute, from
    /// `~`, or a name that counts anywhere in the workspace, such as `.env.test`.
    #[schemars(inner(length(min = 1)))]
    pub readable: Vec<String>,
    /// More files and folders that commands can't read, absolute or from `~`.
    #[schemars(inner(length(min = 1)))]
    pub hidden: Vec<String>,
    /// Lets commands use Unix sockets by path. Any program that listens on one it can see, such as
    /// a container engine, is then within reach.
    pub unix_sockets: bool,
}
