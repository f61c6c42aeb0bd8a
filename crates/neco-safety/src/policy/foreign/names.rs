//! What other agents call the arguments of our tools.

use serde_json::Value;

/// The arguments under the names that Gemini CLI has for them.
pub fn their_arguments(tool: &str, arguments: &Value) -> Value {
    let path = match tool {
        "read_file" | "write_file" | "edit_file" => "file_path",
        "list_directory" | "glob" | "grep" => "dir_path",
        _ => return arguments.clone(),
    };
    let Some(entries) = arguments.as_object() else { return arguments.clone() };
    let renamed = |name: &String| if name == "path" { path.to_owned() } else { name.clone() };
    entries.iter().map(|(name, value)| (renamed(name), value.clone())).collect()
}
