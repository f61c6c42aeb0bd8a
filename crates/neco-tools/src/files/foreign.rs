//! Names that other agents have for the same arguments: models that were taught those keep to them.

use serde_json::Value;

/// Their names, and ours.
pub type Names = &'static [(&'static str, &'static str)];

pub const FILE: Names = &[
    ("file_path", "path"),
    ("filePath", "path"),
    ("absolute_path", "path"),
    ("filename", "path"),
    ("target_file", "path"),
];
pub const FOLDER: Names =
    &[("dir_path", "path"), ("dirPath", "path"), ("directory", "path"), ("target_directory", "path")];
pub const CONTENT: Names = &[("contents", "content"), ("file_text", "content")];
pub const SEARCH: Names = &[
    ("query", "pattern"),
    ("case_insensitive", "ignore_case"),
    ("-i", "ignore_case"),
    ("-A", "after"),
    ("-B", "before"),
    ("-C", "context"),
    ("include", "glob"),
    ("include_pattern", "glob"),
    ("head_limit", "limit"),
    ("max_results", "limit"),
    ("output_mode", "output"),
];
pub const FIND: Names = &[("glob_pattern", "pattern"), ("query", "pattern")];
pub const COMMAND: Names = &[
    ("cmd", "command"),
    ("working_directory", "cwd"),
    ("workdir", "cwd"),
    ("dir_path", "cwd"),
    ("directory", "cwd"),
    ("is_background", "background"),
    ("run_in_background", "background"),
];
pub const CHANGE: Names = &[
    ("oldString", "old_string"),
    ("old_str", "old_string"),
    ("newString", "new_string"),
    ("new_str", "new_string"),
    ("replaceAll", "replace_all"),
];
pub const PATCH: Names = &[("input", "patch"), ("patchText", "patch")];

/// Gives fields the names that they have here; one that is there under both names stays as it is, and is told of.
pub fn rename(arguments: &mut Value, names: Names) {
    let Some(fields) = arguments.as_object_mut() else { return };
    for (theirs, ours) in names {
        if !fields.contains_key(*ours)
            && let Some(value) = fields.remove(*theirs)
        {
            fields.insert((*ours).to_owned(), value);
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn names_of_others_are_understood_and_nothing_is_overwritten() {
        for (names, given, meant) in [
            (FILE, json!({"file_path": "a"}), json!({"path": "a"})),
            (FILE, json!({"path": "a", "file_path": "b"}), json!({"path": "a", "file_path": "b"})),
            (CHANGE, json!({"oldString": "a", "new_str": "b"}), json!({"old_string": "a", "new_string": "b"})),
            (FOLDER, json!(["x"]), json!(["x"])),
        ] {
            let mut arguments = given;
            rename(&mut arguments, names);
            assert_eq!(arguments, meant);
        }
    }
}
