//! Calls of a tool that other agents have and that is several of ours.

use serde_json::{Map, Value, json};

/// What Claude calls its editor of text.
const EDITORS: [&str; 2] = ["str_replace_based_edit_tool", "str_replace_editor"];

/// The call of a tool of ours that a call of another agent's tool means; nothing where it is no such tool, or its
/// arguments say nothing that one of ours can do.
pub fn meant(name: &str, arguments: &str) -> Option<(&'static str, String)> {
    if !EDITORS.iter().any(|editor| editor.eq_ignore_ascii_case(name.trim())) {
        return None;
    }
    let given: Map<String, Value> = serde_json::from_str(arguments).ok()?;
    let path = given.get("path")?.clone();
    let text = |name: &str| given.get(name).filter(|text| text.is_string()).cloned();
    let (tool, arguments) = match given.get("command")?.as_str()? {
        "view" => match given.get("view_range").and_then(range) {
            Some((first, Some(lines))) => ("read_file", json!({ "path": path, "offset": first, "limit": lines })),
            Some((first, None)) => ("read_file", json!({ "path": path, "offset": first })),
            None => ("read_file", json!({ "path": path })),
        },
        "create" => ("write_file", json!({ "path": path, "content": text("file_text")? })),
        "str_replace" => {
            // Without a new text the old one is deleted.
            let (old, new) = (text("old_str")?, text("new_str").unwrap_or_else(|| Value::from("")));
            ("edit_file", json!({ "path": path, "old_string": old, "new_string": new }))
        }
        // A number of a line is no place that is checked: `insert` is left to the tools that look at the text.
        _ => return None,
    };
    Some((tool, arguments.to_string()))
}

/// The first of these lines and how many there are; the last one may be -1, which is the end.
fn range(lines: &Value) -> Option<(i64, Option<i64>)> {
    let [first, last] = lines.as_array()?.as_slice() else { return None };
    let (first, last) = (first.as_i64()?, last.as_i64()?);
    Some((first, if last < first { None } else { last.checked_sub(first)?.checked_add(1) }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_of_an_editor_is_a_tool_of_ours() {
        for (arguments, tool, ours) in [
            (json!({ "command": "view", "path": "a" }), "read_file", json!({ "path": "a" })),
            (
                json!({ "command": "view", "path": "a", "view_range": [3, 5] }),
                "read_file",
                json!({ "path": "a", "offset": 3, "limit": 3 }),
            ),
            (
                json!({ "command": "view", "path": "a", "view_range": [3, -1] }),
                "read_file",
                json!({ "path": "a", "offset": 3 }),
            ),
            (
                json!({ "command": "create", "path": "a", "file_text": "x" }),
                "write_file",
                json!({ "path": "a", "content": "x" }),
            ),
            (
                json!({ "command": "str_replace", "path": "a", "old_str": "x" }),
                "edit_file",
                json!({ "path": "a", "old_string": "x", "new_string": "" }),
            ),
        ] {
            let (found, text) = meant("str_replace_based_edit_tool", &arguments.to_string()).unwrap();
            assert_eq!((found, serde_json::from_str::<Value>(&text).unwrap()), (tool, ours));
        }
    }

    #[test]
    fn what_means_nothing_of_ours_stays_as_it_is() {
        let editor = "str_replace_editor";
        for arguments in [
            "",
            "[]",
            r#"{"command": "undo_edit", "path": "a"}"#,
            r#"{"command": "view"}"#,
            r#"{"command": "create", "path": "a"}"#,
            r#"{"command": "create", "path": "a", "content": "x"}"#,
            r#"{"command": "str_replace", "path": "a", "new_str": "x"}"#,
            r#"{"command": "insert", "path": "a", "insert_line": 2, "insert_text": "x"}"#,
        ] {
            assert_eq!(meant(editor, arguments), None, "{arguments}");
        }
        let odd = r#"{"command": "view", "path": "a", "view_range": [-9223372036854775808, 5]}"#;
        assert_eq!(meant(editor, odd).unwrap().0, "read_file");
        assert_eq!(meant("edit_file", r#"{"command": "view", "path": "a"}"#), None);
    }
}
