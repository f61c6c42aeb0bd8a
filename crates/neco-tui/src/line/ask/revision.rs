//! The change that a call would make once a person has edited it, as far as that can be told from here.

use std::path::Path;

use neco_proto::Diff;
use serde_json::Value;
use similar::{ChangeTag, TextDiff};

/// A file that is bigger is not compared with.
const MOST_BYTES: u64 = 1024 * 1024;
/// Unchanged lines around a change.
const CONTEXT: usize = 3;

/// The change of a `write_file` or `edit_file` with `arguments`; none for other tools. The tool works
/// it out anew before it writes: this is for the person's eyes.
pub fn diff(tool: &str, arguments: &Value, folder: &Path) -> Vec<Diff> {
    let text = |name: &str| arguments.get(name).and_then(Value::as_str);
    let Some(path) = text("path") else { return Vec::new() };
    match (tool, text("content"), text("old_string"), text("new_string")) {
        ("write_file", Some(content), _, _) => {
            let file = folder.join(path);
            let is_small = std::fs::metadata(&file).is_ok_and(|file| file.is_file() && file.len() <= MOST_BYTES);
            let old = is_small.then(|| std::fs::read_to_string(&file).ok()).flatten();
            if file.exists() && old.is_none() {
                // Too big, or no text: there is nothing to compare it with line by line.
                let added = u32::try_from(content.lines().count()).unwrap_or(u32::MAX);
                let unified = String::new();
                return vec![Diff {
                    path: path.to_owned(),
                    unified,
                    added,
                    removed: 0,
                    created: false,
                    deleted: false,
                }];
            }
            vec![between(path, old.as_deref().unwrap_or_default(), content, !file.exists())]
        }
        ("edit_file", _, Some(old), Some(new)) => vec![between(path, old, new, false)],
        _ => Vec::new(),
    }
}

fn between(path: &str, old: &str, new: &str, created: bool) -> Diff {
    let changes = TextDiff::from_lines(old, new);
    let count = |tag: ChangeTag| {
        u32::try_from(changes.iter_all_changes().filter(|change| change.tag() == tag).count()).unwrap_or(u32::MAX)
    };
    let unified = changes.unified_diff().context_radius(CONTEXT).missing_newline_hint(false).to_string();
    let (added, removed) = (count(ChangeTag::Insert), count(ChangeTag::Delete));
    Diff { path: path.to_owned(), unified, added, removed, created, deleted: false }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_file_is_compared_with_what_is_on_the_disk() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a"), "one\ntwo\n").unwrap();
        let changed = diff("write_file", &json!({ "path": "a", "content": "one\nthree\n" }), folder.path());
        assert!(changed[0].unified.contains("-two\n+three\n") && !changed[0].created, "{changed:?}");
        let made = diff("write_file", &json!({ "path": "b", "content": "x" }), folder.path());
        assert!(made[0].created && made[0].added == 1);
    }

    #[test]
    fn an_edit_shows_what_goes_and_what_comes() {
        let changed =
            diff("edit_file", &json!({ "path": "a", "old_string": "x\n", "new_string": "y\n" }), Path::new("/"));
        assert!(changed[0].unified.contains("-x\n+y\n"));
        assert_eq!(diff("bash", &json!({ "command": "ls" }), Path::new("/")), []);
    }
}
