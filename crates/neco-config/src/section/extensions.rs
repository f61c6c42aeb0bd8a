//! What people plug in: MCP servers and tools of their own.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::address::without_secrets;

/// An MCP server. It is either started by `command` or reached at `url`, here or in `transport`.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct McpServerSection {
    /// What people call it.
    pub name: Option<String>,
    /// Whether it may be used.
    pub enabled: bool,
    /// Whether it is started with the session, rather than at its first call.
    pub auto_start: bool,
    /// How it is reached.
    pub transport: Option<McpTransportSection>,
    /// The program that is started, with its arguments or with those in `args`.
    pub command: Option<String>,
    /// The arguments of the program.
    pub args: Vec<String>,
    /// Variables that only this server sees.
    pub env: BTreeMap<String, String>,
    /// The address of a server that runs already.
    pub url: Option<String>,
    /// Headers that are sent to it.
    pub headers: BTreeMap<String, String>,
}

impl Default for McpServerSection {
    fn default() -> Self {
        Self {
            name: None,
            enabled: true,
            auto_start: false,
            transport: None,
            command: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            url: None,
            headers: BTreeMap::new(),
        }
    }
}

/// Without the values of variables and headers: what is printed for debugging ends up in logs.
impl fmt::Debug for McpServerSection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServerSection")
            .field("name", &self.name)
            .field("enabled", &self.enabled)
            .field("command", &self.command)
            .field("url", &self.url.as_deref().map(without_secrets))
            .field("env", &self.env.keys())
            .field("headers", &self.headers.keys())
            .finish_non_exhaustive()
    }
}

/// How an MCP server is reached.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct McpTransportSection {
    /// In which way.
    #[serde(rename = "type")]
    pub kind: McpTransport,
    /// The program that is started and its arguments, for `stdio`.
    pub command: Option<String>,
    /// The address, for `http`.
    pub url: Option<String>,
}

/// The ways in which an MCP server is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum McpTransport {
    /// Its standard input and output.
    #[default]
    Stdio,
    /// Streamable HTTP.
    Http,
}

/// A tool that is a script.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ScriptedToolSection {
    /// Its name.
    #[schemars(length(min = 1))]
    pub name: String,
    /// What the model reads about it.
    pub description: String,
    /// What runs it; `type` means the same.
    pub script_type: ScriptType,
    /// Its text, or the path of a file.
    pub script: String,
    /// Its arguments, as a JSON schema.
    pub parameters: Value,
}

/// What runs a script.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ScriptType {
    /// The shell.
    #[default]
    Shell,
    /// Python.
    Python,
    /// Node.js.
    Javascript,
    /// A WASM module.
    Wasm,
}
