//! workflow: the model runs a workflow and gets what came of it.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

use neco_proto::event::{OutputStream, TaskState, WorkflowGraph, WorkflowState, WorkflowTask};
use neco_proto::{AgentId, Display, ErrorCode, Risk};
use neco_toolkit::{Plan, SideEffect, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::desk::WorkflowDesk;
use super::error::WorkflowError;
use super::places::WorkflowPlaces;

/// A workflow has limits of its own.
const LONGEST: Duration = Duration::from_secs(24 * 60 * 60);
/// Characters of one task's output that the model gets.
const SHOWN: usize = 4000;

/// The tool of one agent; without a desk it is only for lists of what there is.
pub struct WorkflowTool {
    /// Whose workflows it runs, for which agent.
    pub desk: Option<(WorkflowDesk, AgentId)>,
    /// Where workflows are.
    pub places: WorkflowPlaces,
    /// The folder that is worked in.
    pub cwd: PathBuf,
}

/// Arguments of `workflow`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorkflowArgs {
    /// The name of a workflow that exists.
    #[serde(default)]
    name: Option<String>,
    /// A workflow of your own.
    #[serde(default)]
    definition: Option<Map<String, Value>>,
    /// What it is started with.
    #[serde(default)]
    inputs: Map<String, Value>,
}

impl WorkflowTool {
    /// The tool without a session, for lists of what there is.
    pub fn listed() -> Self {
        Self { desk: None, places: WorkflowPlaces::default(), cwd: PathBuf::new() }
    }

    fn definition(&self, args: &WorkflowArgs) -> Result<Value, WorkflowError> {
        // Models that fill in every field leave the other one empty.
        let name = args.name.as_ref().filter(|name| !name.trim().is_empty());
        let definition = args.definition.as_ref().filter(|definition| !definition.is_empty());
        match (name, definition) {
            // By name alone: what is in other files is read as every file is, by the tools that read files.
            (Some(name), None) => Ok(self.places.named(name, &self.cwd)?.file?.to_value()),
            (None, Some(definition)) => Ok(Value::Object(definition.clone())),
            (Some(_), Some(_)) | (None, None) => {
                Err(WorkflowError::NotNow("give either a name or a definition".to_owned()))
            }
        }
    }
}

impl Tool for WorkflowTool {
    type Args = WorkflowArgs;
    const NAME: &'static str = "workflow";
    const DESCRIPTION: &'static str = include_str!("workflow.md");
    /// What its tasks do is judged task by task.
    const TOUCH: SideEffect = SideEffect::Reads;

    fn timeout(&self, _: &WorkflowArgs) -> Option<Duration> {
        Some(LONGEST)
    }

    fn summary(&self, args: &WorkflowArgs) -> String {
        let written = args.definition.as_ref().and_then(|definition| definition.get("name")?.as_str());
        format!("Run workflow {}", args.name.as_deref().or(written).unwrap_or_default())
    }

    async fn plan(&self, args: &WorkflowArgs, _: &ToolContext) -> Result<Plan, ToolError> {
        let (desk, _) = self.desk.as_ref().ok_or_else(nowhere)?;
        let definition = self.definition(args).map_err(|error| wrong(&error))?;
        desk.check(&definition, &Value::Object(args.inputs.clone())).map_err(|error| wrong(&error))?;
        Ok(Plan::of(Risk::Safe))
    }

    async fn run(&self, args: WorkflowArgs, ctx: &ToolContext) -> Result<ToolOutput, ToolError> {
        let (desk, agent) = self.desk.as_ref().ok_or_else(nowhere)?;
        let definition = self.definition(&args).map_err(|error| wrong(&error))?;
        let inputs = Value::Object(args.inputs);
        let id = desk.start(*agent, &definition, &inputs).map_err(|error| wrong(&error))?;
        ctx.live.push(OutputStream::Note, &format!("workflow {id}"));
        // A call that is stopped leaves a run that can be gone on with, also when nobody waits for how it ends.
        let mut stops = desk.interrupt_on_drop(id);
        let ended = tokio::select! {
            ended = desk.ended(id) => ended,
            () = ctx.cancel.cancelled() => {
                drop(stops.take());
                desk.ended(id).await
            }
        };
        let graph = ended.map_err(|error| ToolError::failed(error.to_string()))?;
        let graph = graph.ok_or_else(|| ToolError::failed("the workflow left no trace in the log"))?;
        Ok(output(&graph))
    }
}

/// What came of a workflow, for the model and for the person.
fn output(graph: &WorkflowGraph) -> ToolOutput {
    let head = format!("Workflow {} ({}): {}.\n", graph.name, graph.workflow_id, graph.state);
    let mut text = head.clone();
    for task in &graph.tasks {
        let _ = writeln!(text, "\n{} ({}): {}{}", task.id, task.kind, task.state, said(task));
    }
    let display = Display::List {
        title: format!("workflow {}: {}", graph.name, graph.state),
        items: graph.tasks.iter().map(|task| format!("{} {}", task.id, task.state)).collect(),
        total: graph.tasks.len() as u64,
    };
    let failed = match graph.state {
        WorkflowState::Completed | WorkflowState::Partly | WorkflowState::Running => None,
        // What was broken off is no success, however it can go on.
        WorkflowState::Failed | WorkflowState::Cancelled | WorkflowState::Interrupted => Some(ErrorCode::ToolFailed),
    };
    let output = ToolOutput::text(text).outside(head.len().., "workflow").with_display(display);
    ToolOutput { error_code: failed, ..output }
}

fn said(task: &WorkflowTask) -> String {
    let words = match (&task.error, &task.output, task.state) {
        (Some(error), _, _) => error.clone(),
        (None, Some(Value::String(text)), _) => text.clone(),
        (None, Some(value), _) => format!("{value:#}"),
        (None, None, TaskState::Completed) => "not wanted".to_owned(),
        (None, None, _) => return String::new(),
    };
    let short: String = words.chars().take(SHOWN).collect();
    let cut = if short.len() < words.len() { " […]" } else { "" };
    format!("\n{short}{cut}")
}

/// What is wrong, without the lines of a file that are shown to a person with it: whether the model may read that
/// file was not asked.
fn wrong(error: &WorkflowError) -> ToolError {
    let words = error.to_string();
    let told: Vec<&str> = words.lines().filter(|line| !is_excerpt(line)).collect();
    ToolError::new(ErrorCode::InvalidArguments, told.join("\n"))
}

/// Whether a line of an error shows a line of a file, or points at something in it.
fn is_excerpt(line: &str) -> bool {
    let rest = line.trim_start().trim_start_matches(|char: char| char.is_ascii_digit());
    rest.trim_start().starts_with('|')
}

fn nowhere() -> ToolError {
    ToolError::failed("there is no session to run a workflow in")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_has_a_name_is_read_and_no_line_of_a_file_is_told() {
        let (folder, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let secret = "api_key = \"sk-very-secret\"\n";
        let credentials = other.path().join("credentials.toml");
        std::fs::write(&credentials, secret).unwrap();
        let own = folder.path().join(".neco/workflows");
        std::fs::create_dir_all(&own).unwrap();
        std::fs::write(own.join("broken.toml"), secret).unwrap();
        std::fs::write(own.join("unclear.yaml"), "api_key: sk-very-secret\n").unwrap();
        std::fs::write(own.join("good.toml"), "name = \"good\"\n[[tasks]]\nid = \"a\"\ncommand = \"true\"\n").unwrap();
        std::os::unix::fs::symlink(&credentials, own.join("linked.toml")).unwrap();
        let tool = WorkflowTool { desk: None, places: WorkflowPlaces::default(), cwd: folder.path().to_path_buf() };
        let read = |name: &str| {
            let args = WorkflowArgs { name: Some(name.to_owned()), definition: None, inputs: Map::new() };
            tool.definition(&args).map_err(|error| wrong(&error).message)
        };
        assert!(read("good").is_ok());
        for name in ["broken", "unclear", "linked", ".neco/workflows/good.toml", credentials.to_str().unwrap()] {
            let told = read(name).unwrap_err();
            assert!(!told.contains("sk-very-secret"), "{name}: {told}");
        }
        assert!(read("broken").unwrap_err().contains("line 1"), "{}", read("broken").unwrap_err());
        assert!(read("linked").unwrap_err().contains("there is no workflow linked"));
    }
}
