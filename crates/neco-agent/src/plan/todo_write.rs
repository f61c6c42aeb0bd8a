//! The tool that keeps the todo list.

use neco_proto::{ErrorCode, Risk, TodoStatus};
use neco_toolkit::{Intent, Plan, SideEffect, TodoChange, TodoItem, Tool, ToolContext, ToolError, ToolOutput};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

/// Its name.
pub const TODO_WRITE: &str = "todo_write";

pub(super) struct TodoWrite;

/// Its arguments.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Args {
    /// An empty list clears it.
    todos: Option<Vec<ArgTodo>>,
    replace: Option<bool>,
    /// What you will need later: a sentence each, with its source.
    #[serde(default)]
    findings: Vec<String>,
}

// A todo that is new or changes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ArgTodo {
    /// A new todo needs none.
    id: Option<String>,
    content: Option<String>,
    status: Option<TodoStatus>,
    /// The id that it is a part of.
    parent: Option<String>,
}

impl Args {
    /// Whether todos that are not named are dropped, as far as the call says it: otherwise the todos and the list tell.
    /// An empty list beside findings drops nothing, nor does the mere word: models fill in fields that they have no use
    /// for.
    fn replaces(&self) -> Option<bool> {
        match self.todos.as_deref() {
            None => Some(self.replace.unwrap_or(false) && self.findings.is_empty()),
            Some([]) => Some(self.replace.unwrap_or(self.findings.is_empty())),
            Some(_) => self.replace,
        }
    }

    fn count(&self) -> usize {
        self.todos.as_ref().map_or(0, Vec::len)
    }
}

impl Tool for TodoWrite {
    type Args = Args;
    const NAME: &'static str = TODO_WRITE;
    const DESCRIPTION: &'static str = "Keeps your todo list, which the user sees, for work of three steps or more. Set \
        a todo to in_progress when you begin it (one at a time), to completed when it is done and checked, back to \
        pending when it failed. Send the whole list, each todo with its content, or only todos that change, with \
        their ids; replace: true drops the others.";
    const TOUCH: SideEffect = SideEffect::Reads;

    /// Other agents have other words for the fields.
    fn adapt(arguments: &mut Value) {
        let Some(object) = arguments.as_object_mut() else { return };
        object.remove("explanation");
        if let Some(plan) = object.remove("plan") {
            object.entry("todos").or_insert(plan);
        }
        let todos = object.get_mut("todos").and_then(Value::as_array_mut);
        for todo in todos.into_iter().flatten().filter_map(Value::as_object_mut) {
            todo.remove("activeForm");
            todo.remove("priority");
            for name in ["step", "text", "title"] {
                if let Some(text) = todo.remove(name) {
                    todo.entry("content").or_insert(text);
                }
            }
            if let Some(status) = todo.get_mut("status")
                && let Some(own) = status.as_str().and_then(own_status)
            {
                *status = Value::from(own);
            }
        }
    }

    fn summary(&self, args: &Args) -> String {
        let count = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
        match (args.count(), args.findings.len()) {
            (0, 0) => "Clear the todos".to_owned(),
            (todos, 0) => format!("Update {}", count(todos, "todo")),
            (0, findings) => format!("Note {}", count(findings, "finding")),
            (todos, findings) => format!("Update {}, note {}", count(todos, "todo"), count(findings, "finding")),
        }
    }

    async fn plan(&self, args: &Args, _: &ToolContext) -> Result<Plan, ToolError> {
        if args.count() == 0 && args.findings.is_empty() && args.replaces() != Some(true) {
            let words = "nothing to write: give todos (an empty list clears it) or findings";
            return Err(ToolError::new(ErrorCode::InvalidArguments, words));
        }
        Ok(Plan::of(Risk::Safe))
    }

    async fn run(&self, args: Args, _: &ToolContext) -> Result<ToolOutput, ToolError> {
        let item =
            |todo: ArgTodo| TodoItem { id: todo.id, text: todo.content, status: todo.status, parent: todo.parent };
        let replace = args.replaces();
        let items = args.todos.unwrap_or_default().into_iter().map(item).collect();
        let change = TodoChange { replace, items };
        let output = ToolOutput::text("");
        let output = match args.findings.is_empty() {
            true => output,
            false => output.with_intent(Intent::NoteFindings(args.findings)),
        };
        Ok(output.with_intent(Intent::WriteTodos(change)))
    }
}

/// Our word for a status that is called otherwise elsewhere, whatever stands between its words.
fn own_status(status: &str) -> Option<&'static str> {
    let words: Vec<String> = status
        .to_lowercase()
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    match words.concat().as_str() {
        "done" | "complete" | "completed" | "finished" | "closed" | "resolved" | "x" | "checked" => Some("completed"),
        "todo" | "open" | "notstarted" | "pending" | "new" | "planned" | "backlog" | "waiting" | "blocked"
        | "queued" | "ready" | "incomplete" => Some("pending"),
        "doing" | "active" | "inprogress" | "wip" | "started" | "ongoing" | "current" | "running" | "working"
        | "workinprogress" => Some("in_progress"),
        "canceled" | "cancelled" | "skipped" | "dropped" | "abandoned" | "removed" | "obsolete" | "wontdo" => {
            Some("cancelled")
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn lists_are_taken_as_other_agents_write_them() {
        for (written, wanted) in [
            (
                json!({ "todos": [{ "content": "a", "status": "done", "activeForm": "doing a" }] }),
                json!({ "todos": [{ "content": "a", "status": "completed" }] }),
            ),
            (
                json!({ "explanation": "x", "plan": [{ "step": "a", "status": "in_progress" }] }),
                json!({ "todos": [{ "content": "a", "status": "in_progress" }] }),
            ),
            (json!({ "todos": [{ "id": "1", "text": "a" }] }), json!({ "todos": [{ "id": "1", "content": "a" }] })),
            (
                json!({ "todos": [{ "content": "a", "status": "In-Progress" }, { "content": "b", "status": "not started" }] }),
                json!({ "todos": [{ "content": "a", "status": "in_progress" }, { "content": "b", "status": "pending" }] }),
            ),
        ] {
            let mut arguments = written;
            TodoWrite::adapt(&mut arguments);
            assert_eq!(arguments, wanted);
        }
    }

    #[test]
    fn what_a_call_says_of_the_other_todos_counts_where_it_is_meant() {
        for (written, replaces) in [
            (json!({ "todos": [] }), Some(true)),
            (json!({ "todos": [{ "content": "a" }, { "id": "2", "content": "b" }] }), None),
            (json!({ "todos": [{ "id": "1", "status": "completed" }] }), None),
            (json!({ "todos": [{ "content": "one more" }], "replace": false }), Some(false)),
            (json!({ "todos": [{ "id": "1" }], "replace": true }), Some(true)),
            (json!({ "findings": ["a.rs"] }), Some(false)),
            (json!({ "findings": ["a.rs"], "replace": true }), Some(false)),
            (json!({ "todos": [], "findings": ["a.rs"] }), Some(false)),
            (json!({ "todos": [], "findings": ["a.rs"], "replace": true }), Some(true)),
            (json!({ "replace": true }), Some(true)),
            (json!({ "todos": null }), Some(false)),
        ] {
            let args: Args = serde_json::from_value(written.clone()).unwrap();
            assert_eq!(args.replaces(), replaces, "{written}");
        }
    }
}
