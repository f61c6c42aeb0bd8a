//! Where skills come from.

use std::path::PathBuf;
use std::sync::Arc;

use futures::future::BoxFuture;
use neco_model::Provider;
use neco_proto::event::SkillCause;
use neco_toolkit::ToolError;

use super::in_use::SkillLimit;
use crate::gate::Gate;

/// The skills that an agent can use.
pub trait SkillShelf: Send + Sync {
    /// Those that the model may use by itself, the likeliest first.
    fn listed(&self) -> Arc<[SkillLine]>;

    /// Whether a call may bring one in: of the model itself, or because an agent does what a person asked for.
    fn has_callable(&self) -> bool;

    /// Those that a person names in a text, with what they write behind the name.
    fn named_in(&self, text: &str) -> Vec<SkillWish>;

    /// Those whose words stand in a text.
    fn fitting(&self, text: &str) -> Vec<SkillWish>;

    /// What a skill says now, for whoever wants it. Fails when there is none, it is not theirs to use, or it is not what
    /// was trusted any more.
    fn open(&self, wish: SkillWish, cause: SkillCause) -> BoxFuture<'static, Result<OpenedSkill, ToolError>>;
}

/// A skill, as a model is told of it beforehand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillLine {
    /// Its name.
    pub name: String,
    /// What it is for.
    pub description: String,
}

/// That a skill is wanted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillWish {
    /// Its name.
    pub name: String,
    /// What is said with it.
    pub arguments: String,
    /// Whether it is named within a text that goes on: what follows is said with it only where it has a place for that.
    pub in_passing: bool,
}

impl SkillWish {
    /// The wish for a skill with arguments.
    pub fn new(name: String, arguments: String) -> Self {
        Self { name, arguments, in_passing: false }
    }
}

/// A skill that is used.
#[derive(Clone)]
pub struct OpenedSkill {
    /// Its name.
    pub name: String,
    /// Its file, as a person writes it.
    pub file: String,
    /// What the model is told.
    pub text: String,
    /// Its folder, whose files may be read.
    pub folder: PathBuf,
    /// The only calls that are made while it is in use, as rules are written; none for no limit.
    pub allowed_tools: Option<Vec<String>>,
    /// The model that is asked while it is in use.
    pub model: Option<String>,
    /// Who does it, where that is an agent of its own.
    pub agent: Option<String>,
    /// What it plugs into the agent's moments while it is in use.
    pub gate: Option<Arc<dyn Gate>>,
}

impl OpenedSkill {
    /// What holds for the agent that uses it.
    pub fn limit(&self) -> SkillLimit {
        SkillLimit {
            name: self.name.clone(),
            folder: self.folder.clone(),
            allowed_tools: self.allowed_tools.clone(),
            hooks: self.gate.is_some(),
        }
    }
}

/// The skills that an agent used before it was made again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SkillsUsed {
    /// Their names, oldest first.
    pub names: Vec<String>,
    /// Those of the request that was not done.
    pub in_use: Vec<String>,
}

impl SkillsUsed {
    /// Takes note of the next one.
    pub fn add(&mut self, name: &str, cause: SkillCause) {
        self.names.retain(|used| used != name);
        self.names.push(name.to_owned());
        // What an agent is told beforehand is no request of its own, and what words called up holds nothing.
        if !matches!(cause, SkillCause::Definition | SkillCause::Words) && !self.in_use.iter().any(|used| used == name)
        {
            self.in_use.push(name.to_owned());
        }
    }
}

/// Finds the model that a skill names; nothing where another one is asked whatever skills say.
pub type SkillModels = Arc<dyn Fn(&str) -> Option<Arc<dyn Provider>> + Send + Sync>;
