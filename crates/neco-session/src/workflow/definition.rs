//! A workflow as people write it, in TOML or YAML.

use std::collections::BTreeMap;
use std::path::Path;

use neco_proto::event::{TaskKind, TaskState, WorkflowTask};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::error::WorkflowError;

/// A workflow as it is written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorkflowFile {
    /// Its name.
    pub name: String,
    /// What it is.
    #[serde(default)]
    pub description: String,
    /// What it is started with.
    #[serde(default)]
    pub inputs: BTreeMap<String, Input>,
    /// What happens when a task fails, unless the task says otherwise.
    #[serde(default)]
    pub on_failure: Failure,
    /// How much runs at a time.
    #[serde(default)]
    pub limits: Limits,
    /// Seconds that all of it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
    /// Its tasks.
    #[serde(default, alias = "task")]
    pub tasks: Vec<TaskEntry>,
}

/// Something a workflow is started with.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Input {
    #[serde(default)]
    pub description: String,
    /// Its value when none is given; without it one must be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
}

/// What happens when a task fails.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// Everything else is stopped.
    #[default]
    FailFast,
    /// Everything that does not depend on it goes on.
    Continue,
    /// It is tried again, then as `continue`.
    RetryThenContinue(Retry),
}

/// How a task is tried again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Retry {
    /// How often.
    pub times: u32,
    /// Seconds before the first time; twice as many before each further one.
    #[serde(default)]
    pub backoff: f64,
}

/// How much runs at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Tasks of all kinds.
    pub parallel: usize,
    /// Agents.
    pub agents: usize,
    /// Commands.
    pub commands: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self { parallel: 8, agents: 4, commands: 2 }
    }
}

/// A task as it is written.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TaskEntry {
    /// Its name.
    #[serde(alias = "name")]
    pub id: String,
    /// What it is for, in words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The tasks that must be completed before it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub needs: Vec<String>,
    /// An expression; when it is false the task is done without doing anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when: Option<String>,
    /// The role of the agent that does it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// What the agent is asked; a template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// The model or group that the agent asks instead of its role's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The tool that is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// What the tool is called with; texts in it are templates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// The command that is run; a template.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// What happens when it fails, if not what the workflow says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<Failure>,
    /// Whether a failure is an outcome like any other: the task is completed, and `tasks.NAME.failed` says so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub accept_failure: bool,
    /// When it has failed although it was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fails_if: Option<FailsIf>,
    /// Seconds that it may take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
}

/// When a task has failed although it was done.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FailsIf {
    /// An expression, which may also read what the task itself gave.
    pub condition: String,
    /// Why that is a failure, in words.
    pub because: String,
}

/// What a task does.
#[derive(Clone, Debug, PartialEq)]
pub enum Work {
    /// An agent is asked.
    Agent {
        /// Its role.
        role: String,
        /// What it is asked; a template.
        prompt: String,
        /// The model or group that it asks instead of its role's.
        model: Option<String>,
    },
    /// A tool is called.
    Tool {
        /// Which one.
        name: String,
        /// With what; texts in it are templates.
        arguments: Value,
    },
    /// A command is run.
    Command {
        /// Which one; a template.
        line: String,
    },
}

/// In what form a workflow is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// TOML.
    Toml,
    /// YAML, of which JSON is a part.
    Yaml,
}

impl Form {
    /// The form that the name of a file tells.
    pub fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "toml" => Some(Self::Toml),
            "yaml" | "yml" | "json" => Some(Self::Yaml),
            _ => None,
        }
    }
}

impl WorkflowFile {
    /// Reads a workflow.
    pub fn read(text: &str, form: Form) -> Result<Self, WorkflowError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let read = match form {
            Form::Toml => toml::from_str(text).map_err(|error| error.to_string()),
            // A text `n` or `on` is no truth value.
            Form::Yaml => serde_saphyr::from_str_with_options(text, serde_saphyr::options! { strict_booleans: true })
                .map_err(|error| error.to_string()),
        };
        read.map_err(|words| WorkflowError::Unreadable(words.trim_end().to_owned()))
    }

    /// A workflow that is written as JSON, as a window sends it and the log keeps it.
    pub fn of_value(value: &Value) -> Result<Self, WorkflowError> {
        Self::deserialize(value).map_err(|error| WorkflowError::Unreadable(error.to_string()))
    }

    /// The same the other way round.
    pub fn to_value(&self) -> Value {
        // A workflow has no part that JSON can't say.
        serde_json::to_value(self).unwrap_or_default()
    }
}

impl Work {
    /// What does it.
    pub fn kind(&self) -> TaskKind {
        match self {
            Self::Agent { .. } => TaskKind::Agent,
            Self::Tool { .. } => TaskKind::Tool,
            Self::Command { .. } => TaskKind::Command,
        }
    }

    /// The task of this name that does it after `needs`, before anything has happened.
    pub fn pending(&self, id: String, needs: Vec<String>) -> WorkflowTask {
        WorkflowTask {
            id,
            kind: self.kind(),
            state: TaskState::Pending,
            needs,
            agent_id: None,
            started: None,
            ended: None,
            attempts: 0,
            error: None,
            output: None,
        }
    }
}

impl Failure {
    /// The word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::FailFast => "fail_fast",
            Self::Continue => "continue",
            Self::RetryThenContinue(_) => "retry_then_continue",
        }
    }
}

impl TaskEntry {
    /// What it does.
    /// Fails when it is not exactly one of the three.
    pub fn work(&self) -> Result<Work, WorkflowError> {
        match (&self.agent, &self.tool, &self.command) {
            (Some(role), None, None) => {
                let Some(prompt) = self.prompt.clone().filter(|prompt| !prompt.trim().is_empty()) else {
                    return Err(WorkflowError::NoPrompt(self.id.clone()));
                };
                Ok(Work::Agent { role: role.clone(), prompt, model: self.model.clone() })
            }
            (None, Some(name), None) => {
                let arguments = self.arguments.clone().unwrap_or_else(|| Value::Object(serde_json::Map::new()));
                Ok(Work::Tool { name: name.clone(), arguments })
            }
            (None, None, Some(line)) => Ok(Work::Command { line: line.clone() }),
            (agent, tool, command) => {
                let parts = [("agent", agent.is_some()), ("tool", tool.is_some()), ("command", command.is_some())];
                let found = parts.iter().filter(|(_, is)| *is).map(|(name, _)| *name).collect();
                Err(WorkflowError::Work { task: self.id.clone(), found })
            }
        }
    }
}
