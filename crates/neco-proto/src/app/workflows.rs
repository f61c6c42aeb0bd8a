//! Workflows, and the runs of them.

use std::collections::BTreeMap;

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::origin::Origin;
use super::request::{Page, request};
use crate::event::{WorkflowGraph, WorkflowState, WorkflowTask};
use crate::ids::{SessionId, WorkflowId};

/// Lists the workflows for work in a folder, and the runs there were.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListWorkflows {
    /// The folder.
    pub folder: String,
    /// Whether the runs of all folders are listed.
    pub all: bool,
    /// Which part of the list of runs is wanted.
    #[serde(flatten)]
    pub page: Page,
}

request!(ListWorkflows => WorkflowList, "workflows.list", Get "/workflows", Read, repeatable);

/// Workflows, and the runs of them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowList {
    /// The workflows.
    pub workflows: Vec<WorkflowEntry>,
    /// The runs, the newest first.
    pub runs: Vec<WorkflowRun>,
    /// The cursor of the page of runs that follows, where there are more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A workflow in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowEntry {
    /// The name it is found by.
    pub name: String,
    /// Whose it is.
    pub source: Origin,
    /// Its file; none for one that comes with the program.
    pub file: Option<String>,
    /// What it is for; none when it can't be used.
    pub description: Option<String>,
    /// How many tasks it has; none when it can't be used.
    pub tasks: Option<usize>,
    /// Why it can't be used.
    pub error: Option<String>,
}

/// A run of a workflow, as it is listed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowRun {
    /// Which one.
    pub workflow_id: WorkflowId,
    /// The workflow's name.
    pub name: String,
    /// The session it runs in.
    pub session: SessionId,
    /// Where that works.
    pub cwd: String,
    /// How it stood last.
    pub state: WorkflowState,
    /// When it began, in milliseconds since 1970.
    pub began_ms: i64,
    /// When that was noted.
    pub changed_ms: i64,
}

impl WorkflowRun {
    /// The same in another state, now.
    #[must_use]
    pub fn now(&self, state: WorkflowState) -> Self {
        Self { state, changed_ms: Timestamp::now().as_millisecond(), ..self.clone() }
    }
}

/// Shows a workflow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowWorkflow {
    /// The folder that is worked in.
    pub folder: String,
    /// Its name, or its file.
    pub name: String,
}

request!(ShowWorkflow => ShownWorkflow, "workflows.show", Get "/workflows/{name}", Read, repeatable);

/// What a workflow says.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShownWorkflow {
    /// The name it is found by.
    pub name: String,
    /// Whose it is.
    pub source: Origin,
    /// Its file; none for one that comes with the program.
    pub file: Option<String>,
    /// What it is for.
    pub description: String,
    /// What it is started with.
    pub inputs: BTreeMap<String, WorkflowInput>,
    /// Its tasks, none of them begun.
    pub tasks: Vec<WorkflowTask>,
    /// All of it, as `run_workflow` takes it.
    pub definition: Value,
}

/// Something a workflow is started with.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WorkflowInput {
    /// What it is.
    pub description: String,
    /// Its value when none is given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default: Option<Value>,
}

/// Shows how a run stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowWorkflowRun {
    /// The run, by the beginning of its id.
    pub run: String,
}

request!(ShowWorkflowRun => ShownRun, "workflows.run", Get "/workflow-runs/{run}", Read, repeatable);

/// How a run stands.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ShownRun {
    /// The run.
    pub run: WorkflowRun,
    /// Its tasks; none when its session is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<WorkflowGraph>,
}

/// Ends a run for good, with everything it started.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CancelWorkflow {
    /// The run, by the beginning of its id.
    pub run: String,
}

request!(CancelWorkflow => CancelledWorkflow, "workflows.cancel", Delete "/workflow-runs/{run}", Work, once);

/// A run that does not go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CancelledWorkflow {
    /// The run.
    pub run: WorkflowRun,
    /// Whether the process that runs it was told to stop; nobody runs it otherwise.
    #[serde(default)]
    pub elsewhere: bool,
}

/// Looks for everything that is wrong with workflows before anything runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct CheckWorkflows {
    /// The folder that is worked in.
    pub folder: String,
    /// Their names or files.
    pub files: Vec<String>,
}

request!(CheckWorkflows => CheckedWorkflows, "workflows.check", Post "/workflows/check", Manage, repeatable);

/// What was found out about workflows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedWorkflows {
    /// The workflows, in the order they were asked for.
    pub workflows: Vec<CheckedWorkflow>,
}

/// What was found out about a workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CheckedWorkflow {
    /// Its name or file, as it was asked for.
    pub file: String,
    /// Whether nothing is wrong.
    pub valid: bool,
    /// How many tasks it has, when nothing is wrong.
    pub tasks: Option<usize>,
    /// All that is wrong, in one text.
    pub error: Option<String>,
    /// The same one by one.
    pub errors: Vec<String>,
}
