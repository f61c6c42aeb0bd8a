//! Calls as hooks know them: the names and fields that hooks in the wild were written for.
//!
//! `bash` is `Bash`, `edit_file` with `path` is `Edit` with an absolute `file_path`, a timeout is in
//! milliseconds. Every hook gets the same, wherever it is written down, so that one script serves in
//! any agent. What has no common name keeps ours.

use std::path::Path;

use neco_safety::tools;
use serde_json::{Map, Value};

use super::matcher::AGENT;

/// The name of a tool that a hook is told.
pub(super) fn tool_name(tool: &str) -> String {
    match tools::common_names(tool).first() {
        Some(common) => (*common).to_owned(),
        None if tool == "task" => AGENT.to_owned(),
        None if tool.contains("__") && !tool.starts_with("mcp__") && !tools::starts_agents(tool) => {
            format!("mcp__{tool}")
        }
        None => tool.to_owned(),
    }
}

/// The arguments that a hook is told.
pub(super) fn to_common(tool: &str, arguments: &Value, cwd: &Path) -> Value {
    let Value::Object(fields) = arguments else { return arguments.clone() };
    let field = |(name, value): (&String, &Value)| match field(tool, name) {
        Some(Field { common, unit }) => ((*common).to_owned(), unit.to_common(value, cwd)),
        None => (name.clone(), value.clone()),
    };
    Value::Object(fields.iter().map(field).collect())
}

/// The arguments that a hook wants instead, by our own names. What it left as it was told stays
/// exactly what the model wrote.
pub(super) fn from_common(tool: &str, wanted: &Value, arguments: &Value, cwd: &Path) -> Value {
    let told = to_common(tool, arguments, cwd);
    if *wanted == told {
        return arguments.clone();
    }
    let Value::Object(fields) = wanted else { return wanted.clone() };
    let mut own = Map::new();
    for (name, value) in fields {
        let known = FIELDS.iter().find(|(tools, _, field)| tools.contains(&tool) && field.common == name);
        let own_name = known.map_or(name.as_str(), |(_, own, _)| own);
        let same = told.get(name) == Some(value);
        let value = match (arguments.get(own_name).filter(|_| same), known) {
            (Some(written), _) => written.clone(),
            (None, Some((_, _, field))) => field.unit.own(value),
            (None, None) => value.clone(),
        };
        own.insert(own_name.to_owned(), value);
    }
    Value::Object(own)
}

/// A field that has another name or another unit elsewhere.
struct Field {
    common: &'static str,
    unit: Unit,
}

#[derive(Clone, Copy)]
enum Unit {
    /// A path: absolute elsewhere.
    Path,
    /// A time: seconds here, milliseconds elsewhere.
    Time,
    Same,
}

impl Unit {
    fn to_common(self, value: &Value, cwd: &Path) -> Value {
        match (self, value) {
            (Self::Path, Value::String(path)) => Value::String(cwd.join(path).display().to_string()),
            (Self::Time, Value::Number(seconds)) => number(seconds.as_f64().unwrap_or_default() * 1000.0),
            (Self::Path | Self::Time | Self::Same, value) => value.clone(),
        }
    }

    fn own(self, value: &Value) -> Value {
        match (self, value) {
            (Self::Time, Value::Number(milliseconds)) => number(milliseconds.as_f64().unwrap_or_default() / 1000.0),
            (Self::Path | Self::Time | Self::Same, value) => value.clone(),
        }
    }
}

/// Whole numbers stay whole: `jq` and shells take them so.
fn number(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() < 9e15 { Value::from(number as i64) } else { Value::from(number) }
}

/// Tools, our name of a field, and what it is elsewhere.
const FIELDS: &[(&[&str], &str, Field)] = &[
    (&["read_file", "write_file", "edit_file"], "path", Field { common: "file_path", unit: Unit::Path }),
    (&["list_directory", "glob", "grep"], "path", Field { common: "path", unit: Unit::Path }),
    (&["bash"], "timeout", Field { common: "timeout", unit: Unit::Time }),
    (&["task"], "agent", Field { common: "subagent_type", unit: Unit::Same }),
    (&["bash"], "background", Field { common: "run_in_background", unit: Unit::Same }),
];

fn field(tool: &str, name: &str) -> Option<&'static Field> {
    FIELDS.iter().find(|(tools, own, _)| tools.contains(&tool) && *own == name).map(|(_, _, field)| field)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn told(tool: &str, arguments: Value) -> Value {
        to_common(tool, &arguments, Path::new("/w"))
    }

    #[test]
    fn hooks_are_told_what_they_know() {
        assert_eq!(tool_name("bash"), "Bash");
        assert_eq!(tool_name("edit_file"), "Edit");
        assert_eq!(tool_name("github__search"), "mcp__github__search");
        assert_eq!(tool_name("teleport"), "teleport");
        assert_eq!(tool_name("task"), "Agent");
        assert_eq!(tool_name("agent__explore"), "agent__explore");
        assert_eq!(
            told("task", json!({"description": "Look", "prompt": "Look for x", "agent": "explore"})),
            json!({"description": "Look", "prompt": "Look for x", "subagent_type": "explore"})
        );
        assert_eq!(
            told("edit_file", json!({"path": "src/a.rs", "old_string": "a", "new_string": "b"})),
            json!({"file_path": "/w/src/a.rs", "old_string": "a", "new_string": "b"})
        );
        assert_eq!(
            told("bash", json!({"command": "ls", "timeout": 2.5, "background": true})),
            json!({"command": "ls", "timeout": 2500, "run_in_background": true})
        );
        assert_eq!(told("grep", json!({"pattern": "x", "path": "/a"})), json!({"pattern": "x", "path": "/a"}));
        assert_eq!(told("other", json!([1])), json!([1]));
    }

    #[test]
    fn what_a_hook_changes_comes_back_and_the_rest_stays_as_written() {
        let cwd = Path::new("/w");
        let written = json!({"path": "a.rs", "content": "x"});
        assert_eq!(from_common("write_file", &told("write_file", written.clone()), &written, cwd), written);
        assert_eq!(
            from_common("write_file", &json!({"file_path": "/w/a.rs", "content": "y"}), &written, cwd),
            json!({"path": "a.rs", "content": "y"})
        );
        assert_eq!(
            from_common("write_file", &json!({"file_path": "/w/b.rs", "content": "x"}), &written, cwd),
            json!({"path": "/w/b.rs", "content": "x"})
        );
        let command = json!({"command": "sleep 9", "timeout": 1});
        assert_eq!(
            from_common("bash", &json!({"command": "true", "timeout": 500}), &command, cwd),
            json!({"command": "true", "timeout": 0.5})
        );
        assert_eq!(from_common("bash", &json!({"command": "true"}), &command, cwd), json!({"command": "true"}));
        assert_eq!(from_common("bash", &json!("nonsense"), &command, cwd), json!("nonsense"));
    }
}
