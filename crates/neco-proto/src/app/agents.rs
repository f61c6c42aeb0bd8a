//! Who a child agent can be.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::known::Known;
use super::origin::Origin;
use super::request::request;
use crate::event::{NodeType, SubtreeBudget};
use crate::mode::{Mode, names};

/// Lists the agents that can do a part of the work in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListAgents {
    /// The folder.
    pub folder: String,
}

request!(ListAgents => AgentList, "agents.list", Get "/agents", Read, repeatable);

/// Agents, and what is wrong with files that define some.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentList {
    /// The agents.
    pub agents: Vec<AgentDefinition>,
    /// What is wrong.
    pub problems: Vec<Problem>,
}

/// Who an agent of a name is, without its prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AgentDefinition {
    /// Its name.
    pub name: String,
    /// What it is good for.
    pub description: String,
    /// Where it comes from.
    pub origin: Origin,
    /// Its file; none for one that comes with the program.
    pub file: Option<String>,
    /// Whether it may create agents of its own.
    #[serde(rename = "type")]
    pub node_type: NodeType,
    /// The group or model that it asks; none for the same as its parent.
    pub model: Option<String>,
    /// How freely the model chooses its words.
    pub temperature: Option<f64>,
    /// Most tokens of one answer.
    #[serde(default)]
    pub max_output: Option<u64>,
    /// Only these tools exist for it; none for the same as its parent.
    pub tools: Option<Vec<String>>,
    /// These tools do not.
    pub disallowed_tools: Vec<String>,
    /// The mode it works in, where that is narrower than its parent's.
    pub mode: Option<Mode>,
    /// Calls that are refused, as `--deny` is written.
    pub deny: Vec<String>,
    /// Calls that a person decides about, as `--ask` is written.
    pub ask: Vec<String>,
    /// Most turns.
    pub max_turns: Option<u32>,
    /// Seconds that it may take.
    pub timeout: Option<f64>,
    /// What it and everybody below it may use.
    pub budget: SubtreeBudget,
    /// What it is started with, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, DeclaredInput>,
}

/// Something that an agent is started with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DeclaredInput {
    /// What it can be.
    #[serde(rename = "type")]
    pub kind: Known<InputType>,
    /// What it is for.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Its value when none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
    /// Whether one must be given.
    pub required: bool,
}

names! {
    /// What an input can be.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum InputType {
        /// A text.
        String = "string",
        /// A number.
        Number = "number",
        /// A whole number.
        Integer = "integer",
        /// True or false.
        Boolean = "boolean",
        /// A list of texts.
        Strings = "string[]",
        /// A list of numbers.
        Numbers = "number[]",
        /// A list of whole numbers.
        Integers = "integer[]",
        /// A list of true and false.
        Booleans = "boolean[]",
        /// A list of anything.
        Array = "array",
        /// Fields with values of any kind.
        Object = "object",
    }
}

/// Shows who an agent of a name is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowAgent {
    /// The folder that is worked in.
    pub folder: String,
    /// The name.
    pub name: String,
}

request!(ShowAgent => ShownAgent, "agents.show", Get "/agents/{name}", Read, repeatable);

/// All of an agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShownAgent {
    /// Who it is.
    #[serde(flatten)]
    pub definition: AgentDefinition,
    /// What it is told about who it is.
    pub prompt: String,
    /// JSON schema of what it must finish with.
    pub output_schema: Option<Value>,
    /// The template that makes its task of its inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
}

/// Looks for what is wrong with definitions of agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CheckAgents {
    /// The folder that is worked in.
    pub folder: String,
    /// Files; those that count in the folder when there are none.
    pub files: Vec<String>,
}

// It reads any path.
request!(CheckAgents => CheckedAgents, "agents.check", Post "/agents/check", Manage, repeatable);

/// What is wrong with definitions of agents.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedAgents {
    /// What is wrong.
    pub problems: Vec<Problem>,
}

names! {
    /// How bad it is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    pub enum Level {
        /// The definition counts all the same.
        Warning = "warning",
        /// The definition does not exist; also what only a newer version knows.
        #[serde(other)]
        Error = "error",
    }
}

/// Something in a definition that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Problem {
    /// The file, as a person writes it.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// How bad it is.
    pub level: Level,
    /// What is wrong.
    #[serde(rename = "message")]
    pub what: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.what)
    }
}
