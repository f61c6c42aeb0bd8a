//! What people plug in: MCP servers and tools of their own.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::address::without_secrets;
use crate::command_line::line_without_secrets;

/// An MCP server: a program that is started by `command`, or an address at `url`. `${NAME}` and `${NAME:-default}` stand
/// for variables of the environment.
#[derive(Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct McpServerSection {
    /// What people call it.
    pub name: Option<String>,
    /// Whether it may be used; `disabled` says the opposite. `enabled = false` alone switches off a server of that name
    /// that a repository brings.
    pub enabled: bool,
    /// Whether it is started with the session, rather than at its first call.
    pub auto_start: bool,
    /// How it is reached; needed only where both `command` and `url` are given. `transport = { type, command, url }` says
    /// the same as the settings in it.
    #[serde(rename = "type")]
    pub kind: Option<McpTransport>,
    /// The program that is started; without `args` it is a whole command line, divided as a shell does it.
    #[schemars(length(min = 1))]
    pub command: Option<String>,
    /// The arguments of the program.
    pub args: Option<Vec<String>>,
    /// Variables that only this server sees.
    pub env: BTreeMap<String, String>,
    /// Names of variables of your environment that it sees too. Without them it sees none that looks like a secret.
    #[schemars(inner(length(min = 1)))]
    pub env_vars: Vec<String>,
    /// The folder that it starts in; by itself that of the session, and for a server of a repository the folder that
    /// brings it.
    #[schemars(length(min = 1))]
    pub cwd: Option<String>,
    /// Whether it reaches the network. Nearly all servers need it.
    pub network: bool,
    /// Whether it runs in a box.
    pub sandbox: bool,
    /// Folders that it may write besides the workspace.
    #[schemars(inner(length(min = 1)))]
    pub writable: Vec<String>,
    /// The address of a server that runs already, over streamable HTTP; `httpUrl` means the same.
    #[schemars(length(min = 1))]
    pub url: Option<String>,
    /// Headers that are sent to it; `http_headers` means the same.
    pub headers: BTreeMap<String, String>,
    /// Headers whose values are in variables, by the names of those.
    pub env_http_headers: BTreeMap<String, String>,
    /// The variable that holds the token which is sent as `Authorization: Bearer`.
    #[schemars(length(min = 1))]
    pub bearer_token_env_var: Option<String>,
    /// What a login at it asks for; most servers need nothing of it.
    pub oauth: McpLoginSection,
    /// Which of its tools there are.
    pub tools: McpToolsSection,
    /// Seconds until it must have answered for the first time; `startup_timeout_sec` means the same.
    #[schemars(range(max = 86_400), extend("exclusiveMinimum" = 0))]
    pub startup_timeout: f64,
    /// Seconds that a call may go without an answer or a word about its progress. `tool_timeout_sec` means the same, and
    /// so does `timeout`, which other agents count in milliseconds: it is taken so above 1000.
    #[schemars(range(max = 86_400), extend("exclusiveMinimum" = 0))]
    pub tool_timeout: f64,
    /// Seconds without a call after which it is stopped.
    #[schemars(range(max = 86_400), extend("exclusiveMinimum" = 0))]
    pub idle_timeout: f64,
    /// Whether it may ask the model of the session, at your cost.
    pub sampling: McpSampling,
}

impl Default for McpServerSection {
    fn default() -> Self {
        Self {
            name: None,
            enabled: true,
            auto_start: false,
            kind: None,
            command: None,
            args: None,
            env: BTreeMap::new(),
            env_vars: Vec::new(),
            cwd: None,
            network: true,
            sandbox: true,
            writable: Vec::new(),
            url: None,
            headers: BTreeMap::new(),
            env_http_headers: BTreeMap::new(),
            bearer_token_env_var: None,
            oauth: McpLoginSection::default(),
            tools: McpToolsSection::default(),
            startup_timeout: 30.0,
            tool_timeout: 60.0,
            idle_timeout: 600.0,
            sampling: McpSampling::Ask,
        }
    }
}

impl McpServerSection {
    /// The variables that hold its keys.
    pub(super) fn key_variables(&self) -> impl Iterator<Item = &String> {
        let own = self.bearer_token_env_var.iter().chain(&self.oauth.client_secret_env);
        own.chain(self.env_http_headers.values())
    }
}

/// Without the values of variables and headers: what is printed for debugging ends up in logs.
impl fmt::Debug for McpServerSection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("McpServerSection")
            .field("name", &self.name)
            .field("enabled", &self.enabled)
            .field("kind", &self.kind)
            .field("command", &self.command.as_deref().map(line_without_secrets))
            .field("url", &self.url.as_deref().map(without_secrets))
            .field("env", &self.env.keys())
            .field("headers", &self.headers.keys())
            .finish_non_exhaustive()
    }
}

/// How an MCP server is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum McpTransport {
    /// By its standard input and output.
    Stdio,
    /// By streamable HTTP.
    Http,
    /// In the old way with two addresses, which is not supported.
    Sse,
}

/// Whether an MCP server may ask the model of the session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum McpSampling {
    /// You are asked each time; where nobody can be asked, it may not.
    #[default]
    Ask,
    /// It may.
    Allow,
    /// It may not.
    Deny,
}

/// What a login at an MCP server asks for.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct McpLoginSection {
    /// The id of a client that was registered beforehand.
    #[schemars(length(min = 1))]
    pub client_id: Option<String>,
    /// The variable that holds its secret.
    #[schemars(length(min = 1))]
    pub client_secret_env: Option<String>,
    /// The scopes that are asked for, instead of those that the server names.
    #[schemars(inner(length(min = 1)))]
    pub scopes: Vec<String>,
    /// The port of this machine that the browser comes back to; any free one without it.
    pub callback_port: Option<u16>,
}

/// Which tools of an MCP server there are.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct McpToolsSection {
    /// Only these, by globs; empty means all. `enabled_tools` and `includeTools` mean the same.
    #[schemars(inner(length(min = 1)))]
    pub include: Vec<String>,
    /// None of these, by globs. `disabled_tools` and `excludeTools` mean the same.
    #[schemars(inner(length(min = 1)))]
    pub exclude: Vec<String>,
}

/// A tool that is a script. It gets its arguments as JSON on its standard input, as variables `ARG_NAME`, and as words in
/// the order of the properties of its schema; what it prints is its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ScriptedToolSection {
    /// Its name: letters, digits, `_` and `-`.
    #[schemars(length(min = 1))]
    pub name: String,
    /// What the model reads about it.
    pub description: String,
    /// What runs it; `type` means the same.
    pub script_type: ScriptType,
    /// Its text, or the path of a file, from the folder of the settings on. A WASM module is a file.
    pub script: String,
    /// Its arguments, as a JSON schema.
    pub parameters: Value,
    /// Seconds that a call may take; without it as long as a command may, and never longer than
    /// `tools.max_command_timeout`.
    #[schemars(range(max = 86_400), extend("exclusiveMinimum" = 0))]
    pub timeout: Option<f64>,
    /// Whether it reaches the network where commands don't; you are asked about every such call.
    pub network: bool,
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
    /// `neco-wasm`, for a WASM module or component.
    Wasm,
}
