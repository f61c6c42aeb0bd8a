//! What may have been meant by a path that does not exist.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use neco_proto::ErrorCode;
use neco_safety::path::{Access, Located};
use neco_safety::world::Files;
use neco_toolkit::ToolError;
use neco_workspace::{Scope, walker};

/// Entries that are looked at before giving up.
const MOST_ENTRIES: usize = 20_000;
/// Names that are offered.
const MOST_NAMES: usize = 5;

/// Finds where a path leads that must exist.
/// Fails when it lies outside, or does not exist; then with what may have been meant.
pub fn existing(files: &Files, path: &str) -> Result<Located, ToolError> {
    let located = files.locate(path, Access::Read)?;
    if located.exists() { Ok(located) } else { Err(not_found(files, &located)) }
}

/// The error for a path that does not exist, with what may have been meant.
pub fn not_found(files: &Files, located: &Located) -> ToolError {
    let shown = located.shown();
    let near = near_names(files, located.path());
    let message = match near.as_slice() {
        [] if shown == "~" || shown.starts_with("~/") => format!(
            "{shown} does not exist: `~` is no home folder here but a name; give the path from the workspace, or the \
             whole path"
        ),
        [] => format!(
            "{shown} does not exist, and nothing of a similar name does; look at what is in the folder before you \
             try another name"
        ),
        [one] => format!("{shown} does not exist; did you mean {one}?"),
        several => format!("{shown} does not exist; did you mean one of these? {}", several.join(", ")),
    };
    ToolError::new(ErrorCode::FileNotFound, message)
}

fn near_names(files: &Files, path: &Path) -> Vec<String> {
    let workspace = files.workspace();
    let Some(name) = path.file_name().filter(|_| path.starts_with(workspace)) else {
        return Vec::new();
    };
    let mut near = path.parent().map(|folder| similar_in(files, folder, name)).unwrap_or_default();
    for found in same_name_elsewhere(files, name) {
        if !near.contains(&found) {
            near.push(found);
        }
    }
    near.truncate(MOST_NAMES);
    near
}

/// Names like this one in the same folder, the most similar first.
fn similar_in(files: &Files, folder: &Path, name: &OsStr) -> Vec<String> {
    let wanted = name.to_string_lossy().to_lowercase();
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut near: Vec<(f64, String)> = entries
        .flatten()
        .take(MOST_ENTRIES)
        .filter(|entry| !entry.file_type().is_ok_and(|kind| files.leaves_out(&entry.path(), kind)))
        .map(|entry| {
            let found = entry.file_name().to_string_lossy().to_lowercase();
            (similarity(&wanted, &found), shown(files.workspace(), &entry.path()))
        })
        .filter(|(score, _)| *score > 0.75)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
    near.into_iter().take(3).map(|(_, name)| name).collect()
}

/// The same name with another ending counts as near too.
fn similarity(wanted: &str, found: &str) -> f64 {
    let stem = |name: &str| Path::new(name).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    let whole = strsim::normalized_damerau_levenshtein(wanted, found);
    if stem(wanted) == stem(found) { whole.max(0.8) } else { whole }
}

fn same_name_elsewhere(files: &Files, name: &OsStr) -> Vec<String> {
    let workspace = files.workspace();
    let is_open =
        |entry: &ignore::DirEntry| !entry.file_type().is_some_and(|kind| files.leaves_out(entry.path(), kind));
    let entries = walker(workspace, workspace, Scope::Visible).build().flatten().take(MOST_ENTRIES);
    let mut found: Vec<String> = entries
        .filter(|entry| entry.depth() > 0 && entry.file_name().eq_ignore_ascii_case(name) && is_open(entry))
        .map(|entry| shown(workspace, entry.path()))
        .take(MOST_NAMES)
        .collect();
    found.sort();
    found
}

fn shown(workspace: &Path, path: &Path) -> String {
    path.strip_prefix(workspace).unwrap_or(path).to_string_lossy().into_owned()
}
