//! Tools for whoever is no model of this program: which there are, and one call of one.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::known;
use super::request::request;
use crate::error_code::ErrorCode;
use crate::ids::CallId;

/// The model of a session that is opened for [`CallTool`]: whoever makes the calls stands in a model's place.
pub const CALLER_MODEL: &str = "mcp/client";

/// Lists the tools of a folder that work without an agent of this program: those for files, commands, git, code and the
/// web.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListTools {
    /// The folder.
    pub folder: String,
    /// Only those of these names, in which `*` stands for anything; all of them where none is named.
    pub only: Vec<String>,
    /// All that an agent there has: also those that need an agent, and those that people plugged in, as far as they are
    /// known without starting anything.
    pub all: bool,
}

request!(ListTools => ToolList, "tools.list", Get "/tools", Read, repeatable);

/// The tools of a folder.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolList {
    /// The tools, in the order in which models are told of them.
    pub tools: Vec<OfferedTool>,
}

/// A tool that can be called.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct OfferedTool {
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// JSON schema of its arguments.
    pub schema: Value,
    /// Whether no call of it changes anything.
    pub reads_only: bool,
    /// Whether it reaches the network.
    pub network: bool,
    /// Where it comes from, as rules name it: `built-in`, `mcp:SERVER`, `script:PATH`.
    #[serde(default)]
    pub origin: String,
}

/// Calls a tool in a session that this process has open with [`CALLER_MODEL`]. The call is judged, asked about, kept
/// and run as one of a model is; calls of one session run one after the other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallTool {
    /// The session, by its id.
    pub session: String,
    /// What its events call it: no other call of the session is called so.
    pub call_id: CallId,
    /// The tool.
    pub tool: String,
    /// Its arguments.
    #[serde(default)]
    pub arguments: Value,
}

request!(CallTool => CalledTool, "tools.call", Post "/tools/call", Work, once);

/// What a call came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CalledTool {
    /// Whether it did what it should.
    pub ok: bool,
    /// What it gave, or why it failed, as a model reads it.
    pub output: String,
    /// Why it failed.
    #[serde(default, deserialize_with = "known", skip_serializing_if = "Option::is_none")]
    pub error_code: Option<ErrorCode>,
    /// The pictures that it gave.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pictures: Vec<ToolPicture>,
}

/// A picture that a call gave.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ToolPicture {
    /// Such as `image/png`.
    pub media_type: String,
    /// The file's bytes in base64.
    pub data: String,
}
