//! What a person changes of a call: the command, the new text, or the arguments as JSON.

use neco_proto::event::PermissionRequest;
use serde_json::Value;

/// Tools with one argument that is what a person wants to change.
const PLAIN: &[(&str, &str)] = &[("bash", "command"), ("write_file", "content"), ("edit_file", "new_string")];

/// The part of a call that is opened in an editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// Its text.
    pub text: String,
    /// The ending of the file it is edited in, for the editor's colours.
    pub ending: String,
    field: Option<&'static str>,
}

impl Draft {
    /// What is opened for `request`.
    #[must_use]
    pub fn of(request: &PermissionRequest) -> Self {
        let plain = PLAIN.iter().find(|(tool, _)| *tool == request.tool).and_then(|(_, field)| {
            let text = request.args.get(*field)?.as_str()?;
            Some(Self { text: text.to_owned(), ending: ending(request, field), field: Some(field) })
        });
        plain.unwrap_or_else(|| Self {
            text: serde_json::to_string_pretty(&request.args).unwrap_or_default() + "\n",
            ending: ".json".to_owned(),
            field: None,
        })
    }

    /// The arguments with what the person saved; `None` when nothing is changed or nothing is left.
    ///
    /// # Errors
    /// In words for the person, when it is no JSON.
    pub fn arguments(&self, request: &PermissionRequest, saved: &str) -> Result<Option<Value>, String> {
        let saved = self.without_added_end(saved);
        if saved == self.text || saved.trim().is_empty() {
            return Ok(None);
        }
        let Some(field) = self.field else {
            return serde_json::from_str(saved).map(Some).map_err(|error| format!("that is no JSON: {error}"));
        };
        let mut arguments = request.args.clone();
        if let Some(object) = arguments.as_object_mut() {
            object.insert(field.to_owned(), Value::String(saved.to_owned()));
        }
        Ok(Some(arguments))
    }

    /// Editors end a file with a line end, whether the text had one or not.
    fn without_added_end<'a>(&self, saved: &'a str) -> &'a str {
        if self.text.ends_with('\n') { saved } else { saved.strip_suffix('\n').unwrap_or(saved) }
    }
}

fn ending(request: &PermissionRequest, field: &str) -> String {
    if field == "command" {
        return ".sh".to_owned();
    }
    let path = request.args.get("path").and_then(Value::as_str).unwrap_or_default();
    let ending = std::path::Path::new(path).extension().and_then(|ending| ending.to_str());
    let plain = ending.filter(|ending| ending.len() <= 10 && ending.chars().all(|char| char.is_ascii_alphanumeric()));
    format!(".{}", plain.unwrap_or("txt"))
}

#[cfg(test)]
mod tests {
    use neco_proto::{CallId, Risk};
    use serde_json::json;

    use super::*;

    fn request(tool: &str, args: Value) -> PermissionRequest {
        PermissionRequest {
            call_id: CallId::from("c"),
            tool: tool.into(),
            summary: String::new(),
            args,
            risk: Risk::High,
            reason: String::new(),
            diff: Vec::new(),
            session_rule: String::new(),
        }
    }

    #[test]
    fn a_command_is_edited_as_it_is() {
        let request = request("bash", json!({ "command": "make", "timeout": 5 }));
        let draft = Draft::of(&request);
        assert_eq!((draft.text.as_str(), draft.ending.as_str()), ("make", ".sh"));
        let changed = draft.arguments(&request, "make test\n").unwrap().unwrap();
        assert_eq!(changed, json!({ "command": "make test", "timeout": 5 }));
        for nothing in ["make\n", "make", "", " \n"] {
            assert_eq!(draft.arguments(&request, nothing), Ok(None), "{nothing:?}");
        }
    }

    #[test]
    fn new_text_of_a_file_keeps_its_end() {
        let request = request("write_file", json!({ "path": "a/b.rs", "content": "fn main() {}\n" }));
        let draft = Draft::of(&request);
        assert_eq!(draft.ending, ".rs");
        assert_eq!(draft.arguments(&request, "fn x() {}\n").unwrap().unwrap()["content"], "fn x() {}\n");
    }

    #[test]
    fn anything_else_is_json() {
        let request = request("edit_file", json!({ "path": "a", "edits": [] }));
        let draft = Draft::of(&request);
        assert_eq!(draft.ending, ".json");
        assert_eq!(draft.arguments(&request, "{\"path\": \"b\"}").unwrap().unwrap(), json!({ "path": "b" }));
        assert!(draft.arguments(&request, "{").unwrap_err().starts_with("that is no JSON"));
    }
}
