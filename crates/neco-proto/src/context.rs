//! What the model is told, part by part: the layers, and how much room each part takes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::ids::MessageId;
use crate::message::{Author, Message, Role};
use crate::mode::names;

names! {
    /// One layer of what the model is told. The order of the variants is the order in which the model
    /// reads them: what changes least comes first, so that prompt caches hit.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum Layer {
        /// Who the agent is and the rules that always hold.
        Base = "base",
        /// What the mode asks of it.
        Mode = "mode",
        /// What its generation lets it do.
        Generation = "generation",
        /// Its part among several agents.
        Role = "role",
        /// What the project and the person wrote down for agents.
        Rules = "rules",
        /// Skills that can be loaded.
        Skills = "skills",
        /// Agents that can be started.
        Agents = "agents",
        /// What is remembered of earlier sessions: titles and summaries.
        Memory = "memory",
        /// What the repository looks like.
        RepoMap = "repo_map",
        /// The files that the work is about.
        Files = "files",
        /// Where it works. It stands last of what comes before the conversation: no two folders or days have the same.
        Environment = "environment",
        /// What became of the conversation that was compacted.
        Summary = "summary",
        /// The conversation.
        Messages = "messages",
    }
}

/// How much room everything takes that the model would be told now. Tokens are estimates.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ContextReport {
    /// The model or group that would be asked.
    pub model: String,
    /// Tokens that fit into one request and its answer; absent when that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Whether the window is only assumed: nobody says how big that of the model is.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub window_is_assumed: bool,
    /// Tokens of the window that are kept free for the answer.
    pub reserve: u64,
    /// Tokens from which on the conversation is compacted; absent when the window is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compact_at: Option<u64>,
    /// Everything together.
    pub tokens: u64,
    /// The declarations of tools.
    pub tools: ToolsSize,
    /// The layers that say something, in order.
    pub layers: Vec<LayerSize>,
    /// The conversation as the model has it, oldest first.
    pub messages: Vec<MessageSize>,
    /// What was given with the person's messages because it fits their words, and what became of it; absent where
    /// nothing was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub given: Option<GivenUse>,
}

impl ContextReport {
    /// The window, where it is known: what is only assumed is no measure of how full it is.
    #[must_use]
    pub fn known_window(&self) -> Option<u64> {
        self.window.filter(|window| *window > 0 && !self.window_is_assumed)
    }
}

/// What was given with a person's messages because it fits their words, and what became of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GivenUse {
    /// Messages that something was given with.
    pub messages: u64,
    /// Tokens of all that was given.
    pub tokens: u64,
    /// Files of which a piece was given.
    pub files: u64,
    /// How many of these the agent read or edited afterwards.
    pub opened: u64,
}

/// How much room the declarations of tools take.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolsSize {
    /// How many there are.
    pub count: u64,
    /// Their tokens.
    pub tokens: u64,
    /// Tools that the model has besides and is told of in a line each; their tokens are part of the others'.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub catalogue: Vec<String>,
    /// Those of them that MCP servers bring, by the names of the servers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub servers: Vec<ServerToolsSize>,
}

/// How much room the declarations of an MCP server's tools take.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ServerToolsSize {
    /// The server.
    pub server: String,
    /// How many there are.
    pub count: u64,
    /// Their tokens.
    pub tokens: u64,
}

/// How much room a layer takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LayerSize {
    /// Which.
    pub layer: Layer,
    /// Its tokens.
    pub tokens: u64,
    /// Its part of everything, in percent.
    pub share: f64,
    /// What was left out to fit its share, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// How much room a message takes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageSize {
    /// Which.
    pub id: MessageId,
    /// Who speaks.
    pub role: Role,
    /// Who wrote what stands in it as the person's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
    /// Its tokens.
    pub tokens: u64,
    /// Its part of everything, in percent.
    pub share: f64,
    /// How it begins, in one line.
    pub begins: String,
    /// The tools it calls, or whose results it has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<String>,
}

/// Exactly what the model would be told now.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PromptReport {
    /// How much room it takes.
    pub context: ContextReport,
    /// The system prompt, layer by layer; joined by an empty line they are what is sent.
    pub system: Vec<LayerText>,
    /// The tools.
    pub tools: Vec<ToolText>,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
}

/// What a layer says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LayerText {
    /// Which.
    pub layer: Layer,
    /// What it says.
    pub text: String,
}

/// A tool as the model is told about it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolText {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON schema of its arguments.
    pub schema: Value,
    /// Its tokens.
    pub tokens: u64,
}
