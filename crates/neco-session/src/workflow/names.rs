//! Whether what tasks name exists: agents, models, and tools with their arguments.

use std::sync::Arc;

use neco_model::SetupError;
use neco_toolkit::{DynTool, ToolError};
use serde_json::Value;

use super::definition::{Work, WorkflowFile};
use super::error::WorkflowError;
use crate::roles::UnknownDefinition;
use crate::tree::tools::{self, NOT_OF_CHILDREN};

/// Tools that only an agent that thinks can use, besides those for other agents and for the person: what they do is said
/// otherwise in a workflow.
const NOT_OF_TASKS: [&str; 3] = ["workflow", "todo_write", "process"];

/// The tool of a name, or why there is none.
pub type FindTool<'a> = dyn Fn(&str) -> Result<Arc<dyn DynTool>, ToolError> + 'a;

/// Who knows what there is. What is wrong with a name is said by them.
pub struct KnownNames<'a> {
    /// Whether there is an agent of a name.
    pub agent: &'a dyn Fn(&str) -> Result<(), UnknownDefinition>,
    /// The tool of a name.
    pub tool: &'a FindTool<'a>,
    /// Whether there is a model or group of a name.
    pub model: &'a dyn Fn(&str) -> Result<(), SetupError>,
}

impl WorkflowFile {
    /// Checks what tasks name.
    /// The error is everything that does not exist or can't be called so, with its task.
    pub fn check_names(&self, known: &KnownNames<'_>) -> Result<(), WorkflowError> {
        let mut problems = Vec::new();
        for entry in &self.tasks {
            // What a task does that can't be understood is said elsewhere.
            let wrong = entry.work().map(|work| known.wrong(&work)).unwrap_or_default();
            let named = |words| WorkflowError::UnknownName { task: entry.id.clone(), words };
            problems.extend(wrong.into_iter().map(named));
        }
        WorkflowError::none_of(problems)
    }
}

impl KnownNames<'_> {
    fn wrong(&self, work: &Work) -> Vec<String> {
        match work {
            Work::Agent { role, model, .. } => {
                let model = model.as_deref().and_then(|model| (self.model)(model).err());
                let agent = (self.agent)(role).err().map(|error| error.to_string());
                agent.into_iter().chain(model.map(|error| error.to_string())).collect()
            }
            Work::Tool { name, arguments } => match (self.tool)(name) {
                Ok(tool) if is_for_agents(tool.name()) => {
                    let name = tool.name();
                    vec![format!("{name} is for agents and no task; for an agent write `agent` and `prompt`")]
                }
                Ok(tool) => arguments_of(tool.as_ref(), arguments),
                Err(error) => vec![error.message],
            },
            Work::Command { .. } => Vec::new(),
        }
    }
}

fn is_for_agents(name: &str) -> bool {
    let of_agents = || tools::listed().iter().any(|tool| tool.name() == name);
    NOT_OF_TASKS.contains(&name) || NOT_OF_CHILDREN.contains(&name) || name.starts_with("agent__") || of_agents()
}

/// What is missing or unknown among the arguments; their values may be templates and are checked when it runs.
fn arguments_of(tool: &dyn DynTool, arguments: &Value) -> Vec<String> {
    let name = tool.name();
    let Value::Object(given) = arguments else { return vec![format!("the arguments of {name} are no table")] };
    let schema = tool.schema();
    let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let mut wrong: Vec<String> = required
        .filter(|field| !given.contains_key(*field))
        .map(|field| format!("{name} needs the argument {field}"))
        .collect();
    let closed = schema["additionalProperties"] == Value::Bool(false);
    if let (true, Some(known)) = (closed, schema["properties"].as_object()) {
        let unknown = given.keys().filter(|field| !known.contains_key(*field));
        wrong.extend(unknown.map(|field| format!("{name} has no argument {field}")));
    }
    wrong
}

#[cfg(test)]
mod tests {
    use neco_proto::ErrorCode;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_a_task_calls_is_checked_as_far_as_it_is_written() {
        let tools: Vec<Arc<dyn DynTool>> = crate::memory::tools::listed().into_iter().chain(tools::listed()).collect();
        let find = |name: &str| tools.iter().find(|tool| tool.name() == name).cloned();
        let known = KnownNames {
            agent: &|_| Ok(()),
            tool: &|name| find(name).ok_or_else(|| ToolError::new(ErrorCode::ToolNotFound, format!("no {name}"))),
            model: &|model| Err(SetupError::BadName(model.to_owned())),
        };
        let file = WorkflowFile::of_value(&json!({ "name": "x", "tasks": [
            { "id": "a", "agent": "coder", "prompt": "p", "model": "nobody" },
            { "id": "b", "tool": "memory_get", "arguments": {} },
            { "id": "c", "tool": "spawn_agent", "arguments": { "agent": "x", "task": "y" } },
            { "id": "d", "tool": "memory_get", "arguments": { "id": "{{ inputs.x }}" } },
        ] }))
        .unwrap();
        let said = file.check_names(&known).unwrap_err().to_string();
        let lines: Vec<&str> = said.lines().collect();
        assert_eq!(
            lines[..2],
            [
                "task a: `nobody` is neither a group nor of the form provider/model",
                "task b: memory_get needs the argument id"
            ]
        );
        assert!(lines.len() == 3 && lines[2].starts_with("task c: spawn_agent is for agents"), "{said}");
    }
}
