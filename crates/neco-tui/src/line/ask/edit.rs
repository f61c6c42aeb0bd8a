//! What a person changes of a call: the command, the new text, or the arguments as JSON.

use std::path::Path;

use serde_json::Value;

/// Tools with one argument that is what a person wants to change, and whether it may be empty.
const PLAIN: &[(&str, &str, bool)] = &[
    ("bash", "command", false),
    ("write_file", "content", true),
    ("edit_file", "new_string", true),
    ("apply_patch", "patch", false),
];

/// The part of a call that is opened in an editor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// Its text.
    pub text: String,
    /// The name of the file it is edited in, for the editor's colours.
    pub file_name: String,
    field: Option<&'static str>,
    may_be_empty: bool,
}

/// What came of an edit.
#[derive(Clone, Debug, PartialEq)]
pub enum Saved {
    /// Nothing is different.
    Same,
    /// Nothing is left, where something is needed.
    Empty,
    /// These arguments.
    Changed(Value),
}

impl Draft {
    /// What is opened for a call of `tool` with `arguments`.
    pub fn of(tool: &str, arguments: &Value) -> Self {
        let plain = PLAIN.iter().find(|(name, _, _)| *name == tool).and_then(|(_, field, may_be_empty)| {
            let text = arguments.get(*field)?.as_str()?;
            let file_name = file_name(arguments, field);
            Some(Self { text: text.to_owned(), file_name, field: Some(field), may_be_empty: *may_be_empty })
        });
        plain.unwrap_or_else(|| Self {
            text: serde_json::to_string_pretty(arguments).unwrap_or_default() + "\n",
            file_name: "arguments.json".to_owned(),
            field: None,
            may_be_empty: false,
        })
    }

    /// What the person made of `arguments`.
    ///
    /// # Errors
    /// In words for the person, when it is no JSON.
    pub fn saved(&self, arguments: &Value, saved: &str) -> Result<Saved, String> {
        // Editors end a file with a line end, whether the text had one or not.
        let saved = if self.text.ends_with('\n') { saved } else { saved.strip_suffix('\n').unwrap_or(saved) };
        if saved == self.text {
            return Ok(Saved::Same);
        }
        if saved.trim().is_empty() && !self.may_be_empty {
            return Ok(Saved::Empty);
        }
        let mut changed = arguments.clone();
        match (self.field, changed.as_object_mut()) {
            (Some(field), Some(object)) => {
                object.insert(field.to_owned(), Value::String(saved.to_owned()));
            }
            (Some(_), None) | (None, _) => {
                changed = serde_json::from_str(saved).map_err(|error| format!("not JSON: {error}"))?;
            }
        }
        Ok(if changed == *arguments { Saved::Same } else { Saved::Changed(changed) })
    }
}

/// The name of the file that is changed: editors tell `Makefile` and `a.rs` by their names.
fn file_name(arguments: &Value, field: &str) -> String {
    if field == "command" {
        return "command.sh".to_owned();
    }
    if field == "patch" {
        return "change.patch".to_owned();
    }
    let path = arguments.get("path").and_then(Value::as_str).unwrap_or_default();
    let name = Path::new(path).file_name().and_then(|name| name.to_str());
    let is_plain = |name: &&str| {
        let plain = |char: char| char.is_alphanumeric() || matches!(char, '.' | '_' | '-' | '+' | ' ');
        name.len() <= 100 && !name.starts_with('-') && name.chars().all(plain)
    };
    name.filter(is_plain).unwrap_or("text.txt").to_owned()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_command_is_edited_as_it_is() {
        let arguments = json!({ "command": "make", "timeout": 5 });
        let draft = Draft::of("bash", &arguments);
        assert_eq!((draft.text.as_str(), draft.file_name.as_str()), ("make", "command.sh"));
        let changed = draft.saved(&arguments, "make test\n").unwrap();
        assert_eq!(changed, Saved::Changed(json!({ "command": "make test", "timeout": 5 })));
        for (saved, came) in [("make\n", Saved::Same), ("make", Saved::Same), ("", Saved::Empty), (" \n", Saved::Empty)]
        {
            assert_eq!(draft.saved(&arguments, saved), Ok(came), "{saved:?}");
        }
    }

    #[test]
    fn new_text_of_a_file_keeps_its_end_and_may_be_nothing() {
        let arguments = json!({ "path": "a/b.rs", "content": "fn main() {}\n" });
        let draft = Draft::of("write_file", &arguments);
        assert_eq!(draft.file_name, "b.rs");
        let changed = |content: &str| Saved::Changed(json!({ "path": "a/b.rs", "content": content }));
        assert_eq!(draft.saved(&arguments, "fn x() {}\n").unwrap(), changed("fn x() {}\n"));
        assert_eq!(draft.saved(&arguments, "").unwrap(), changed(""));
    }

    #[test]
    fn the_file_is_called_what_editors_know() {
        let name = |path: &str| Draft::of("edit_file", &json!({ "path": path, "new_string": "x" })).file_name;
        assert_eq!((name("x/Makefile").as_str(), name("a.test.tsx").as_str()), ("Makefile", "a.test.tsx"));
        for odd in ["..", "-rf", "a\u{1b}b", "a;b", ""] {
            assert_eq!(name(odd), "text.txt", "{odd:?}");
        }
    }

    #[test]
    fn a_patch_is_edited_as_it_is() {
        let arguments = json!({ "patch": "*** Delete File: a" });
        let draft = Draft::of("apply_patch", &arguments);
        assert_eq!((draft.text.as_str(), draft.file_name.as_str()), ("*** Delete File: a", "change.patch"));
        let changed = draft.saved(&arguments, "*** Delete File: b\n").unwrap();
        assert_eq!(changed, Saved::Changed(json!({ "patch": "*** Delete File: b" })));
    }

    #[test]
    fn anything_else_is_json() {
        let arguments = json!({ "path": "a", "edits": [] });
        let draft = Draft::of("edit_file", &arguments);
        assert_eq!(draft.file_name, "arguments.json");
        assert_eq!(draft.saved(&arguments, "{\"path\": \"b\"}").unwrap(), Saved::Changed(json!({ "path": "b" })));
        assert_eq!(draft.saved(&arguments, "{\"path\":\"a\",\"edits\":[]}").unwrap(), Saved::Same);
        assert!(draft.saved(&arguments, "{").unwrap_err().starts_with("not JSON"));
    }
}
