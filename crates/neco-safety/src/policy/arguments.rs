//! The files that the arguments of a server's tool name, by their text alone: nobody knows what such a tool does with
//! which of them.

use std::path::PathBuf;

use serde_json::Value;

use crate::command::{Named, Place, paths_named, pattern_named};
use crate::listed::is_listed;

/// More texts of one call are not looked at.
const MOST_TEXTS: usize = 4096;
/// Longer texts are no paths.
const LONGEST_PATH: usize = 4096;

/// Every path that arguments name, as they would be meant from the workspace on.
pub(super) fn named(arguments: &Value, place: &Place) -> Vec<Named> {
    let mut named = Vec::new();
    for (argument, text) in texts(arguments) {
        let holds_paths = is_for_paths(argument);
        if !(holds_paths || looks_like_path(text)) || text.len() > LONGEST_PATH {
            continue;
        }
        named.extend(paths_named(text, place).chain(file_of_address(text)).map(Named::Path));
        named.extend(Some(text).filter(|_| holds_paths).and_then(|text| pattern_named(text, place)));
    }
    named
}

/// Every text in arguments, each with the name of the argument that it stands in; names in an argument are texts too.
fn texts(arguments: &Value) -> Vec<(&str, &str)> {
    let mut found = Vec::new();
    let mut waiting = vec![("", arguments)];
    while let Some((argument, value)) = waiting.pop() {
        if found.len() >= MOST_TEXTS {
            break;
        }
        match value {
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => found.push((argument, text.as_str())),
            Value::Array(items) => waiting.extend(items.iter().map(|item| (argument, item))),
            Value::Object(entries) => {
                found.extend(entries.keys().map(|name| (argument, name.as_str())));
                waiting.extend(entries.iter().map(|(name, value)| (name.as_str(), value)));
            }
        }
    }
    found
}

/// Whether an argument of this name holds paths, whatever they look like.
fn is_for_paths(argument: &str) -> bool {
    const NAMES: &str = "source sources destination destinations src dest dst target targets from to root roots cwd \
        location locations";
    let name = argument.to_ascii_lowercase();
    let speaks_of_files = ["path", "file", "dir", "folder", "uri"].iter().any(|part| name.contains(part));
    speaks_of_files || is_listed(&name, NAMES)
}

/// Whether a text is one line that may well be a path.
fn looks_like_path(text: &str) -> bool {
    let is_line = !text.contains(['\n', '\r']);
    let begins_so = text.starts_with(['/', '~', '.']) || text.starts_with("file:");
    is_line && (begins_so || text.contains(['/', '.']) && !text.contains(char::is_whitespace))
}

/// The file of a `file:` address, its escapes read.
fn file_of_address(text: &str) -> Option<PathBuf> {
    let address = url::Url::parse(text).ok().filter(|address| address.scheme() == "file")?;
    address.to_file_path().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn paths_are_found_wherever_arguments_name_them() {
        let place = Place::new("/w").with_home("/home/me");
        let names = |arguments: &Value, path: &str| named(arguments, &place).contains(&Named::Path(path.into()));
        for arguments in [
            json!({ "path": "data" }),
            json!({ "path": "/w/data" }),
            json!({ "path": "src/../data/" }),
            json!({ "paths": ["src", "./data"] }),
            json!({ "file_path": "data" }),
            json!({ "uri": "file:///w/data" }),
            json!({ "uri": "file:///w/d%61ta" }),
            json!({ "edits": [{ "where": { "file": "data" } }] }),
            json!({ "x": "/w/data" }),
            json!({ "x": "./data" }),
            json!({ "source": "data", "destination": "copy" }),
            json!({ "changes": { "/w/data": "new" } }),
        ] {
            assert!(names(&arguments, "/w/data"), "{arguments}");
        }
        for (argument, text) in [("query", "data"), ("text", "all\nof /w/data"), ("path", "data2")] {
            let arguments = json!({ argument: text });
            assert!(!names(&arguments, "/w/data"), "{arguments}");
        }
        assert!(names(&json!({ "path": "~/x" }), "/home/me/x"));
    }

    #[test]
    fn a_pattern_counts_where_a_path_is_expected() {
        let place = Place::new("/w");
        let patterns = |arguments: Value| {
            named(&arguments, &place).into_iter().filter(|named| matches!(named, Named::Pattern(_))).count()
        };
        assert_eq!(patterns(json!({ "path": "da*/x" })), 1);
        assert_eq!(patterns(json!({ "query": "da*/x" })), 0);
    }
}
