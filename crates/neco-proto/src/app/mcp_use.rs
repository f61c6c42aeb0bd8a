//! What people use of MCP servers by name: prompts as commands after a slash, resources behind an `@`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::request::{Watch, request};

/// Lists the prompts of MCP servers, as commands. No server is started: those are listed that are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListPromptCommands {
    /// The folder.
    pub folder: String,
    /// A session that this process has open there, by its id: it may have been given servers of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

request!(ListPromptCommands => PromptCommandList, "mcp.prompts", Get "/mcp-prompts", Read, repeatable);

/// The list, and the new one whenever it changes, without an end.
impl Watch for ListPromptCommands {
    type Item = PromptCommandList;
}

/// The prompts of MCP servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PromptCommandList {
    /// The prompts, those of one server after those of another.
    pub prompts: Vec<PromptCommand>,
}

/// A prompt of an MCP server, as a command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PromptCommand {
    /// Its name without the slash: `mcp__SERVER__PROMPT`.
    pub name: String,
    /// The server.
    pub server: String,
    /// What may follow it: the names of its arguments, in brackets those that it does not need.
    pub argument: String,
    /// What it is for, in one line.
    pub help: String,
}

/// Has an MCP server fill in a prompt. The server is started, unless it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct FillPrompt {
    /// The folder.
    pub folder: String,
    /// A session that this process has open there, by its id: it may have been given servers of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The prompt: `mcp__SERVER__PROMPT` or `SERVER:PROMPT`.
    pub name: String,
    /// What follows it: values in the order of its arguments, or `name=value`; quotes keep words together.
    pub argument: String,
}

request!(FillPrompt => FilledPrompt, "mcp.fill_prompt", Post "/mcp-prompts/{name}", Work, once);

/// A prompt that was filled in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FilledPrompt {
    /// The message to the agent: the command as it was written, and what the server made of it.
    pub text: String,
}

/// Lists the resources of MCP servers. No server is started: those are listed that are known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListResources {
    /// The folder.
    pub folder: String,
}

request!(ListResources => ResourceList, "mcp.resources", Get "/mcp-resources", Read, repeatable);

/// The resources of MCP servers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ResourceList {
    /// The servers whose resources can be named, whether or not it is known what they offer.
    pub servers: Vec<String>,
    /// The resources, those of one server after those of another.
    pub resources: Vec<NamedResource>,
}

/// A resource of an MCP server, or a template of addresses; a message names it as `@server:uri`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedResource {
    /// The server.
    pub server: String,
    /// Its address.
    pub uri: String,
    /// What it is, in one line.
    pub help: String,
    /// Whether the address has places in braces that are filled in first.
    pub template: bool,
}
