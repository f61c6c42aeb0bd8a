//! A definition: who an agent of a name is.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use neco_agent::skills::SkillLimit;
use neco_config::section::RoleSection;
use neco_proto::Mode;
use neco_proto::app::agents::DeclaredInput;
use neco_proto::event::{NodeType, SubtreeBudget};
use neco_safety::policy::{ReadRules, Rule, RuleReader, Source, Within};
use neco_safety::{Policy, Ruling};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

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
    /// Most tokens of one answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_output: Option<u64>,
    /// Which of its parent's tools exist for it.
    pub tools: ToolChoice,
    /// What it may not do of what its parent may.
    pub narrowing: Narrowing,
    /// The skills that it is told before it begins.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    /// What it is started with, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub inputs: BTreeMap<String, DeclaredInput>,
    /// The template that makes its task of its inputs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
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
    /// This one: the person's settings say so of this very agent.
    Set(String),
}

/// Which of its parent's tools exist for an agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolChoice {
    /// Only these, by our own names; `None` is all.
    pub only: Option<Vec<String>>,
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

    /// The model or group that it asks, its parent's being `parent`. A model that the person has `chosen` for the
    /// session comes before that of a role, whether a file or the settings name it.
    pub fn model_name<'a>(&'a self, parent: &'a str, chosen: Option<&'a str>) -> &'a str {
        match (&self.model, chosen) {
            (RoleModel::OfParent, _) => parent,
            (RoleModel::OfType | RoleModel::Named(_) | RoleModel::Set(_), Some(chosen)) => chosen,
            (RoleModel::OfType, None) => group_of(self.node_type),
            (RoleModel::Named(name) | RoleModel::Set(name), None) => name,
        }
    }

    /// The person's settings say this of agents of its name.
    pub(super) fn set(&mut self, role: &RoleSection) {
        if let Some(model) = &role.model {
            self.model = RoleModel::Set(model.clone());
        }
        self.temperature = role.temperature.or(self.temperature);
        self.max_output = role.max_output.or(self.max_output);
        self.budget.tokens = role.max_tokens.or(self.budget.tokens);
    }
}

impl ToolChoice {
    /// Whether a tool of this name exists. A server's tools exist only where they are named.
    pub fn has(&self, tool: &str) -> bool {
        let named = |names: &[String]| names.iter().any(|name| covers(name, tool));
        self.only.as_ref().map_or(!tool.starts_with(OF_SERVERS), |only| named(only)) && !named(&self.except)
    }
}

/// What the names of servers' tools begin with.
const OF_SERVERS: &str = "mcp__";

/// `mcp__server` stands for all tools of a server, and `*` at the end for whatever follows; `mcp__` may be left out before
/// the tool of a server.
fn covers(name: &str, tool: &str) -> bool {
    let server = name.starts_with(OF_SERVERS) && tool.strip_prefix(name).is_some_and(|rest| rest.starts_with("__"));
    let is = |tool: &str| {
        name.eq_ignore_ascii_case(tool) || name.strip_suffix('*').is_some_and(|beginning| tool.starts_with(beginning))
    };
    is(tool) || server || tool.strip_prefix(OF_SERVERS).is_some_and(|bare| name.contains("__") && is(bare))
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

/// Looked at before every other rule.
const FIRST: i32 = i32::MAX;

/// What an agent may not do of what its parent may.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Narrowing {
    /// The mode it works in, where that is narrower than its parent's.
    pub mode: Option<Mode>,
    /// Calls that are refused, as `--deny` is written.
    pub deny: Vec<String>,
    /// Calls that a person decides about, as `--ask` is written.
    pub ask: Vec<String>,
    /// The skill that it was started for, and those that whoever started it had in use.
    #[serde(default, skip_serializing_if = "Vec::is_empty", deserialize_with = "one_or_several")]
    pub within: Vec<SkillLimit>,
}

/// Older logs have the one skill that an agent was started for.
fn one_or_several<'de, D: Deserializer<'de>>(reader: D) -> Result<Vec<SkillLimit>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Read {
        Several(Vec<SkillLimit>),
        One(SkillLimit),
    }
    Ok(match Read::deserialize(reader)? {
        Read::Several(limits) => limits,
        Read::One(limit) => vec![limit],
    })
}

impl Narrowing {
    /// The parent's rules, narrowed. Nothing that was refused is allowed by it: what it refuses comes
    /// before all other rules, and what it asks about only ever makes an "allow" an "ask".
    pub fn policy(&self, parent: &Policy) -> Policy {
        let mut policy = parent.clone();
        for rule in self.rules(parent).rules {
            policy.add(rule);
        }
        let readable: Vec<PathBuf> = self.within.iter().map(|skill| skill.folder.clone()).collect();
        for skill in &self.within {
            let Some(tools) = skill.allowed_tools.clone() else { continue };
            policy.bound(Within::new(skill.name.clone(), tools, readable.clone(), parent.place()));
        }
        policy
    }

    /// The mode of an agent whose parent works in `parent`: never a freer one.
    pub fn mode(&self, parent: Mode) -> Mode {
        match self.mode {
            Some(mode) if freedom(mode) <= freedom(parent) => mode,
            Some(_) | None => parent,
        }
    }

    /// What can't be understood of it, in words.
    pub fn problems(&self) -> Vec<String> {
        self.rules(&Policy::default()).problems.into_iter().map(|problem| problem.message).collect()
    }

    fn rules(&self, parent: &Policy) -> ReadRules {
        let reader = RuleReader { place: parent.place() };
        let mut all = ReadRules::default();
        for (ruling, texts) in [(Ruling::Deny, &self.deny), (Ruling::Ask, &self.ask)] {
            for text in texts {
                let read = reader.flag(ruling, text);
                all.rules.extend(read.rules.into_iter().map(|rule| bound(ruling, rule)));
                all.problems.extend(read.problems);
            }
        }
        all
    }
}

/// A rule at the place from which it can only narrow.
fn bound(ruling: Ruling, rule: Rule) -> Rule {
    let place = "the agent's definition".to_owned();
    match ruling {
        Ruling::Deny => Rule { source: Source::Session, priority: FIRST, place, ..rule },
        Ruling::Ask | Ruling::Allow => Rule { source: Source::Project, place, ..rule },
    }
}

/// How much a mode leaves open.
fn freedom(mode: Mode) -> u8 {
    match mode {
        Mode::Ask => 0,
        Mode::Plan => 1,
        Mode::Agent | Mode::Debug => 2,
    }
}
