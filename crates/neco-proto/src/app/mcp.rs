//! MCP servers: programs and addresses that offer tools. No answer holds the value of a variable or a header.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::request::{Watch, request};

/// Lists the MCP servers of a folder. None is started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListServers {
    /// The folder.
    pub folder: String,
}

request!(ListServers => ServerList, "mcp.list", Get "/mcp", Read, repeatable);

/// The MCP servers of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerList {
    /// The servers, sorted by name.
    pub servers: Vec<ServerRow>,
    /// Which are left out, and what else is to be said about their settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// An MCP server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerRow {
    /// What it is called.
    pub name: String,
    /// How it stands.
    pub state: ServerState,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How it is reached.
    pub transport: ServerTransport,
    /// Its command line or its address, without secrets.
    pub in_short: String,
    /// The file that it is written in, as people write it.
    pub file: String,
    /// Whether it is started with a session, rather than at its first call.
    pub auto_start: bool,
    /// What it offers, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offers: Option<ServerOffers>,
    /// What of that is left out, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// What an MCP server offers, in figures.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerOffers {
    /// The tools of it that agents have.
    pub tools: usize,
    /// Its prompts.
    pub prompts: usize,
    /// Its resources, and patterns of them.
    pub resources: usize,
    /// The version of the protocol that was agreed on.
    pub protocol: String,
    /// What it calls itself, with its version.
    pub server: String,
}

/// How an MCP server stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerState {
    /// It never ran with these settings, so that nothing is known of it.
    #[default]
    Configured,
    /// It does not run; what it offers is known.
    Known,
    /// It is being started.
    Starting,
    /// It runs.
    Running,
    /// It is switched off.
    Disabled,
    /// A repository brings it, and nobody has trusted it as it is.
    Untrusted,
    /// It wants a login.
    NeedsLogin,
    /// It could not be started or reached.
    Failed,
    /// Something that only a newer version knows.
    #[serde(other)]
    Other,
}

/// How an MCP server is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerTransport {
    /// By the standard input and output of its program.
    #[default]
    Stdio,
    /// By streamable HTTP.
    Http,
    /// Something that only a newer version knows.
    #[serde(other)]
    Other,
}

/// Tells all of an MCP server. It is not started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GetServer {
    /// The folder.
    pub folder: String,
    /// The server.
    pub name: String,
}

request!(GetServer => ShownServer, "mcp.get", Get "/mcp/{name}", Read, repeatable);

/// All of an MCP server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ShownServer {
    /// The server.
    pub server: ServerRow,
    /// The names of the variables or headers that it is given.
    pub given: Vec<String>,
    /// The file of its log, as people write it.
    pub log: String,
    /// What it says about its use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instructions: Option<String>,
    /// The tools of it that agents have.
    pub tools: Vec<ServerTool>,
    /// Its prompts.
    pub prompts: Vec<ServerPrompt>,
    /// Its resources, and patterns of them.
    pub resources: Vec<ServerResource>,
}

/// A tool of an MCP server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerTool {
    /// What agents call it.
    pub name: String,
    /// What it does.
    pub description: String,
    /// What the server says of its effects, for a person; nobody believes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hints: Option<String>,
}

/// A prompt of an MCP server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerPrompt {
    /// What the server calls it.
    pub name: String,
    /// What it is for.
    pub description: String,
    /// What it needs.
    pub required: Vec<String>,
    /// What it takes besides.
    pub optional: Vec<String>,
}

/// A resource of an MCP server, or a pattern of addresses.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerResource {
    /// Its address.
    pub uri: String,
    /// What it is called.
    pub name: String,
    /// What it is.
    pub description: String,
}

/// Whose settings a server is written in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerScope {
    /// The person's own, which hold in every folder.
    #[default]
    User,
    /// Those of the folder, in `.mcp.json`, which other agents read too.
    Project,
}

/// Writes an MCP server to the settings. Nothing is started.
#[derive(Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AddServer {
    /// The folder.
    pub folder: String,
    /// What it is called.
    pub name: String,
    /// Where it is written.
    pub scope: ServerScope,
    /// The server, as settings have it: `{"command": "npx", "args": ["-y", "server"]}`, `{"url": "https://…"}`.
    pub server: Value,
}

/// Without the server: its variables and headers may be secrets.
impl fmt::Debug for AddServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AddServer").field("name", &self.name).field("scope", &self.scope).finish_non_exhaustive()
    }
}

request!(AddServer => WrittenServer, "mcp.add", Post "/mcp", Manage, once);

/// Takes an MCP server out of the settings, and forgets what is known of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RemoveServer {
    /// The folder.
    pub folder: String,
    /// The server.
    pub name: String,
    /// Whose settings are meant; needed where both have one of that name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<ServerScope>,
}

request!(RemoveServer => WrittenServer, "mcp.remove", Delete "/mcp/{name}", Manage, once);

/// Switches an MCP server on or off in the person's own settings, whoever brings it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SetServerEnabled {
    /// The folder.
    pub folder: String,
    /// The server.
    pub name: String,
    /// Whether it may be used.
    pub enabled: bool,
}

request!(SetServerEnabled => WrittenServer, "mcp.enable", Put "/mcp/{name}/enabled", Manage, repeatable);

/// Where something was written about an MCP server, and how that stands now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WrittenServer {
    /// The file, as people write it.
    pub file: String,
    /// The server of that name that there is now; none where it is gone or left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerRow>,
    /// Which servers are left out, and what else is to be said about their settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// Ends an MCP server of the sessions that are open in a folder, and starts it anew.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RestartServer {
    /// The folder.
    pub folder: String,
    /// The server.
    pub name: String,
}

request!(RestartServer => ServerRow, "mcp.restart", Post "/mcp/{name}/restart", Work, repeatable);

/// Starts or reaches an MCP server, asks what it offers, and ends it. One that sessions use is left alone.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct TestServer {
    /// The folder.
    pub folder: String,
    /// The server.
    pub name: String,
}

request!(TestServer => TestedServer, "mcp.test", Post "/mcp/{name}/test", Work, once);

impl Watch for TestServer {
    type Item = ServerTest;
}

/// What happens while an MCP server is tested.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerTest {
    /// It is started or reached.
    Begins {
        /// The server.
        server: Box<ServerRow>,
        /// Which servers are left out, and what else is to be said about their settings.
        warnings: Vec<String>,
    },
    /// This came of it.
    Tested(Box<TestedServer>),
    /// Something that only a newer version knows.
    #[serde(untagged)]
    Other(Value),
}

/// What came of the test of an MCP server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TestedServer {
    /// The server.
    pub server: ServerRow,
    /// Whether it answered.
    pub ok: bool,
    /// Why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Milliseconds until it had said what it offers, or failed.
    pub duration_ms: u64,
    /// The tools of it that agents have, as they call them.
    pub tools: Vec<String>,
}

/// Logs in at an MCP server with an address. What the person has to do meanwhile is told to whoever watches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LogInServer {
    /// The folder.
    pub folder: String,
    /// The server.
    pub name: String,
    /// Whether no browser can be opened on this machine: a login with a code is taken then, if the server has one.
    pub no_browser: bool,
}

request!(LogInServer => LoggedInServer, "mcp.log_in", Post "/mcp/{name}/login", Manage, once);

impl Watch for LogInServer {
    type Item = ServerLogin;
}

/// What happens during a login at an MCP server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ServerLogin {
    /// The person opens this page in a browser on this machine, and logs in there.
    OpenPage(String),
    /// The person opens a page in a browser on any machine, and types a code there.
    EnterCode {
        /// The page.
        page: String,
        /// The code.
        code: String,
    },
    /// It is done.
    LoggedIn(Box<LoggedInServer>),
    /// Something that only a newer version knows.
    #[serde(untagged)]
    Other(Value),
}

/// A login at an MCP server that worked out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoggedInServer {
    /// The server.
    pub server: ServerRow,
    /// The file that keeps what the login gave, as people write it.
    pub file: String,
}

/// Forgets the login at an MCP server, and has the server forget it where it offers that.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LogOutServer {
    /// The folder.
    pub folder: String,
    /// The server.
    pub name: String,
}

request!(LogOutServer => LoggedOutServer, "mcp.log_out", Delete "/mcp/{name}/login", Manage, once);

/// What came of logging out of an MCP server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoggedOutServer {
    /// Whether there was a login.
    pub was_logged_in: bool,
    /// Why the server could not be told; it is forgotten here all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
}

/// Reads the log of an MCP server: what it printed besides its messages, and when it was started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReadServerLog {
    /// The folder.
    pub folder: String,
    /// The server.
    pub name: String,
    /// How many lines at most; the last ones.
    pub lines: usize,
}

request!(ReadServerLog => ServerLog, "mcp.log", Get "/mcp/{name}/log", Read, repeatable);

/// The last lines, then whatever is added, without an end.
impl Watch for ReadServerLog {
    type Item = ServerLog;
}

/// Lines of the log of an MCP server.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ServerLog {
    /// The file, as people write it.
    pub file: String,
    /// The lines, each with its end.
    pub text: String,
}
