//! Their tools, ours: what a call is named here, and its arguments as our tools have them.
//!
//! The history goes on being read by models that know our tools; a tool that nobody here has keeps its name.

use serde_json::{Map, Value, json};

/// A call as our tools would have it.
pub fn ours(name: &str, arguments: &str) -> (String, String) {
    let Ok(Value::Object(fields)) = serde_json::from_str::<Value>(arguments) else {
        return (tool(name).unwrap_or(name).to_owned(), arguments.to_owned());
    };
    let Some(tool) = tool(name) else { return (name.to_owned(), arguments.to_owned()) };
    (tool.to_owned(), Value::Object(renamed(tool, fields)).to_string())
}

fn tool(name: &str) -> Option<&'static str> {
    Some(match name {
        "Read" | "read" | "read_file" | "view" => "read_file",
        "Write" | "write" | "write_file" => "write_file",
        "Edit" | "MultiEdit" | "edit" | "multiedit" | "edit_file" | "replace" => "edit_file",
        "apply_patch" | "patch" => "apply_patch",
        "Bash" | "bash" | "exec_command" | "shell" | "shell_command" | "local_shell" | "run_shell_command" | "exec" => {
            "bash"
        }
        "LS" | "ls" | "list" | "list_directory" | "list_dir" => "list_directory",
        "Glob" | "glob" | "find" => "glob",
        "Grep" | "grep" | "grep_files" | "search_file_content" | "grep_search" => "grep",
        "WebFetch" | "webfetch" | "web_fetch" => "web_fetch",
        "WebSearch" | "websearch" | "web_search" | "google_web_search" => "web_search",
        "TodoWrite" | "todowrite" | "write_todos" | "update_plan" => "todo_write",
        _ => return None,
    })
}

fn renamed(tool: &str, fields: Map<String, Value>) -> Map<String, Value> {
    fields.into_iter().map(|(name, value)| field(tool, name, value)).collect()
}

fn field(tool: &str, name: String, value: Value) -> (String, Value) {
    let renamed = match (tool, name.as_str()) {
        ("read_file" | "write_file" | "edit_file", "file_path" | "filePath" | "absolute_path" | "filename") => "path",
        ("list_directory" | "glob" | "grep", "dir_path" | "dirPath" | "directory") => "path",
        ("edit_file", "oldString" | "old_str" | "oldText") => "old_string",
        ("edit_file", "newString" | "new_str" | "newText") => "new_string",
        ("edit_file", "replaceAll") => "replace_all",
        ("apply_patch", "input" | "patchText") => "patch",
        ("bash", "cmd") => "command",
        ("bash", "workdir" | "dir_path") => "cwd",
        ("todo_write", "plan") => "todos",
        _ => return (name, value),
    };
    (renamed.to_owned(), value)
}

/// A command line, which some write as a list of words, the shell first.
pub fn command(arguments: &Value) -> Option<String> {
    match arguments.get("command")? {
        Value::String(command) => Some(command.clone()),
        Value::Array(words) => {
            let words: Vec<&str> = words.iter().filter_map(Value::as_str).collect();
            match words.as_slice() {
                ["bash" | "sh" | "zsh" | "/bin/bash" | "/bin/sh", "-c" | "-lc", script] => Some((*script).to_owned()),
                words => Some(words.join(" ")),
            }
        }
        _ => None,
    }
}

/// The same call with its command line as one text, as our tool has it.
pub fn with_command(tool: &str, arguments: String) -> String {
    if tool != "bash" {
        return arguments;
    }
    let Ok(mut fields) = serde_json::from_str::<Value>(&arguments) else { return arguments };
    match (command(&fields), fields.get("command")) {
        (Some(line), Some(Value::Array(_))) => {
            fields["command"] = json!(line);
            fields.to_string()
        }
        _ => arguments,
    }
}
