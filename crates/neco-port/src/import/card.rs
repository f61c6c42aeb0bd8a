//! What a person sees of an imported call: a line, and a picture where there is enough to draw one.

use neco_proto::{Diff, Display, Todo, TodoStatus};
use serde_json::Value;
use similar::TextDiff;

use super::names::command;

/// The most characters of a line about a call.
const LINE: usize = 200;
/// The most bytes of a text that changes are shown of.
const CHANGED: usize = 200_000;

/// A call in one line.
pub fn summary(tool: &str, arguments: &Value) -> String {
    let field = |name: &str| arguments.get(name).and_then(Value::as_str);
    let path = field("path");
    let line = match (tool, path, field("pattern")) {
        ("read_file", Some(path), _) => format!("Read {path}"),
        ("write_file", Some(path), _) => format!("Write {path}"),
        ("edit_file", Some(path), _) => format!("Edit {path}"),
        ("list_directory", path, _) => format!("List {}", path.unwrap_or(".")),
        ("glob", _, Some(pattern)) => format!("Find {pattern}"),
        ("grep", path, Some(pattern)) => format!("Search \"{pattern}\" in {}", path.unwrap_or(".")),
        ("bash", _, _) => format!("Run {}", command(arguments).unwrap_or_default()),
        ("web_fetch", _, _) => format!("Fetch {}", field("url").or_else(|| field("prompt")).unwrap_or_default()),
        ("web_search", _, _) => format!("Search the web for \"{}\"", field("query").unwrap_or_default()),
        ("todo_write", _, _) => "Update todos".to_owned(),
        ("apply_patch", _, _) => "Apply a patch".to_owned(),
        _ => tool.to_owned(),
    };
    let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LINE) {
        Some((at, _)) => format!("{}…", line.get(..at).unwrap_or_default()),
        None => line,
    }
}

/// What the call did, as a picture.
pub fn display(tool: &str, arguments: &Value, output: &str) -> Option<Display> {
    let field = |name: &str| arguments.get(name).and_then(Value::as_str);
    match tool {
        "bash" => Some(Display::Terminal {
            command: command(arguments)?,
            tail: tail(output),
            exit_code: exit(output),
            background: None,
        }),
        "edit_file" => {
            let path = field("path")?;
            let edits: Vec<&Value> = match arguments.get("edits").and_then(Value::as_array) {
                Some(edits) => edits.iter().collect(),
                None => vec![arguments],
            };
            let files: Vec<Diff> = edits.into_iter().filter_map(|edit| change(path, edit)).collect();
            (!files.is_empty()).then_some(Display::Diff { files })
        }
        "write_file" => Some(Display::Diff { files: vec![diff(field("path")?, "", field("content")?, true)] }),
        _ => None,
    }
}

fn change(path: &str, edit: &Value) -> Option<Diff> {
    let field = |name: &str| edit.get(name).and_then(Value::as_str);
    Some(diff(path, field("old_string")?, field("new_string")?, false))
}

/// Where in the file it happened is not known: lines are counted from the beginning of what was replaced.
fn diff(path: &str, old: &str, new: &str, created: bool) -> Diff {
    let lines = |text: &str| u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
    if old.len() + new.len() > CHANGED {
        let (added, removed) = (lines(new), lines(old));
        return Diff { path: path.to_owned(), unified: String::new(), added, removed, created, deleted: false };
    }
    let whole =
        |text: &str| if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
    let (old, new) = (whole(old), whole(new));
    let unified = TextDiff::from_lines(&old, &new).unified_diff().context_radius(3).to_string();
    let count =
        |mark: char| lines(&unified.lines().filter(|line| line.starts_with(mark)).map(|_| "x\n").collect::<String>());
    let (added, removed) = (count('+'), count('-'));
    Diff { path: path.to_owned(), unified, added, removed, created, deleted: false }
}

/// The end of an output.
fn tail(output: &str) -> String {
    let lines: Vec<&str> = output.lines().collect();
    lines.get(lines.len().saturating_sub(20)..).unwrap_or_default().join("\n")
}

/// The exit code, where the output begins with it.
fn exit(output: &str) -> Option<i32> {
    let first = output.lines().take(4).find_map(|line| {
        ["Process exited with code ", "Exit code: ", "Exit code "].iter().find_map(|begin| line.strip_prefix(begin))
    });
    first.and_then(|code| code.trim().parse().ok())
}

/// The todo list that a call wrote.
pub fn todos(tool: &str, arguments: &Value) -> Option<Vec<Todo>> {
    let list = arguments.get("todos").filter(|_| tool == "todo_write")?.as_array()?;
    let todo = |(entry, number): (&Value, usize)| {
        let field = |names: &[&str]| names.iter().find_map(|name| entry.get(*name).and_then(Value::as_str));
        Some(Todo {
            id: number.to_string(),
            text: field(&["content", "step", "description", "text", "title"])?.to_owned(),
            status: match field(&["status"]).unwrap_or_default() {
                "in_progress" => TodoStatus::InProgress,
                "completed" | "done" => TodoStatus::Completed,
                "cancelled" | "canceled" => TodoStatus::Cancelled,
                _ => TodoStatus::Pending,
            },
            parent: None,
        })
    };
    let todos: Vec<Todo> = list.iter().zip(1..).filter_map(todo).collect();
    (!todos.is_empty()).then_some(todos)
}
