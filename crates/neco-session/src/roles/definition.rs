//! A definition: who an agent of a name is.

use std::path::{Path, PathBuf};
use std::time::Duration;

use neco_proto::event::{NodeType, SubtreeBudget};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::narrowing::Narrowing;

/// What the tool that runs an agent of a definition begins with.
const TOOL_PREFIX: &str = "agent__";

/// Who an agent of a name is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// Its name: letters, digits, `-` and `_`, at most 64.
    pub name: String,
    /// What it is good for; whoever chooses among agents reads it.
    pub description: String,
    /// What it is told about who it is.
    pub prompt: String,
    /// Which model it asks.
    pub model: RoleModel,
    /// How freely the model chooses its words, from 0 to 2, where it can be told.
    pub temperature: Option<f64>,
    /// Which of its parent's tools exist for it.
    pub tools: ToolChoice,
    /// What it may not do of what its parent may.
    pub narrowing: Narrowing,
    /// JSON schema of what it must finish with.
    pub output_schema: Option<Value>,
    /// Most turns.
    pub max_turns: Option<u32>,
    /// How long it may take.
    pub timeout: Option<Duration>,
    /// What it and everybody below it may use.
    pub budget: SubtreeBudget,
    /// Whether it may create agents of its own; never the root.
    pub node_type: NodeType,
    /// Where it comes from.
    pub origin: Origin,
}

/// Which model an agent asks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RoleModel {
    /// That of its type's group.
    #[default]
    OfType,
    /// That of its parent.
    OfParent,
    /// This group or `provider/model`.
    Named(String),
}

/// Which of its parent's tools exist for an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolChoice {
    /// Only these, by our own names; `None` is all.
    pub only: Option<Vec<String>>,
    /// Not these.
    pub except: Vec<String>,
}

/// Where a definition comes from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Origin {
    /// It comes with the program.
    #[default]
    BuiltIn,
    /// A file of the person.
    Person(PathBuf),
    /// A file of the folder that is worked in.
    Folder(PathBuf),
}

impl Definition {
    /// The tool that runs an agent of it.
    pub fn tool_name(&self) -> String {
        format!("{TOOL_PREFIX}{}", self.name)
    }

    /// The model or group that it asks, its parent's being `parent`. A model that the person `chosen` for the
    /// session stands in for the groups of types and of what comes with the program, not for what a file names.
    pub fn model_name<'a>(&'a self, parent: &'a str, chosen: Option<&'a str>) -> &'a str {
        match &self.model {
            RoleModel::OfType => chosen.unwrap_or_else(|| group_of(self.node_type)),
            RoleModel::OfParent => parent,
            RoleModel::Named(name) if self.origin == Origin::BuiltIn => chosen.unwrap_or(name),
            RoleModel::Named(name) => name,
        }
    }
}

impl ToolChoice {
    /// Whether a tool of this name exists.
    pub fn has(&self, tool: &str) -> bool {
        let named = |names: &[String]| names.iter().any(|name| covers(name, tool));
        self.only.as_ref().is_none_or(|only| named(only)) && !named(&self.except)
    }
}

/// `mcp__server` stands for all tools of a server, and `*` at the end for whatever follows.
fn covers(name: &str, tool: &str) -> bool {
    let server = name.starts_with("mcp__") && tool.strip_prefix(name).is_some_and(|rest| rest.starts_with("__"));
    let beginning = name.strip_suffix('*').is_some_and(|beginning| tool.starts_with(beginning));
    name.eq_ignore_ascii_case(tool) || server || beginning
}

impl Origin {
    /// The file; nothing for what comes with the program.
    pub fn file(&self) -> Option<&Path> {
        match self {
            Self::BuiltIn => None,
            Self::Person(file) | Self::Folder(file) => Some(file),
        }
    }

    /// The word for it.
    pub fn name(&self) -> &'static str {
        match self {
            Self::BuiltIn => "built-in",
            Self::Person(_) => "yours",
            Self::Folder(_) => "folder",
        }
    }
}

/// The group that an agent of a type asks when nobody says otherwise.
fn group_of(node_type: NodeType) -> &'static str {
    match node_type {
        NodeType::Root => "think",
        NodeType::Child => "balanced",
        NodeType::ActOnly => "act",
    }
}
