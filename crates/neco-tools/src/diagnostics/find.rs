//! Which checkers are for a file or a folder.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use neco_safety::World;
use neco_toolkit::ToolError;

use super::checker::{Check, Checker, Checkers};

/// How far below a folder projects are looked for, and among how many files.
const DEEPEST: usize = 4;
const MOST_LOOKED_AT: usize = 5_000;

/// What was found for a place.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// What can be run.
    pub(super) checks: Vec<Check>,
    /// What should be run and can't.
    pub(super) missing: Vec<ToolError>,
    /// What could be run and is too much for one call.
    pub(super) left_out: Vec<Check>,
}

/// The checkers for a path, absolute and inside a root; `only` names one. Looks at the disk.
pub(super) fn find(
    checkers: &Checkers,
    world: &dyn World,
    path: &Path,
    only: Option<&str>,
) -> Result<Found, ToolError> {
    if let Some(name) = only
        && !checkers.list.iter().any(|checker| checker.name == name)
    {
        let names: Vec<&str> = checkers.list.iter().map(|checker| checker.name.as_str()).collect();
        return Err(ToolError::failed(format!("there is no checker {name:?}; there are: {}", names.join(", "))));
    }
    Ok(matching(checkers, world, path, path.is_file(), only))
}

/// What can be run for a file that may not be there yet. What checks single files checks the project.
pub(super) fn for_file(checkers: &Checkers, world: &dyn World, file: &Path) -> Vec<Check> {
    let found = matching(checkers, world, file, true, None);
    let roots: Vec<&Path> = world.files().writable().collect();
    let whole = |check: Check| {
        let checker = checkers.list.iter().find(|checker| checker.name == check.name)?;
        checkers.in_folder(checker, &check.folder, &roots, None, world.processes()).ok()
    };
    found.checks.into_iter().filter_map(whole).collect()
}

fn matching(checkers: &Checkers, world: &dyn World, path: &Path, is_file: bool, only: Option<&str>) -> Found {
    let roots: Vec<&Path> = world.files().writable().collect();
    let mut found = Found::default();
    for checker in checkers.list.iter().filter(|checker| only.is_none_or(|name| name == checker.name)) {
        if is_file && !is_for(checker, path) {
            continue;
        }
        let mut folders: Vec<PathBuf> = above(checker, path, &roots).into_iter().collect();
        if folders.is_empty() && !is_file {
            folders = below(checker, path);
        }
        // Without a marker a checker is for a folder that holds a file of its own.
        let by_ending = !is_file && checker.markers.is_empty() && !checker.endings.is_empty();
        if by_ending && only.is_none() && !may_hold_one(checker, path) {
            continue;
        }
        for folder in folders {
            let file = if is_file { path.strip_prefix(&folder).ok() } else { None };
            match checkers.in_folder(checker, &folder, &roots, file, world.processes()) {
                Ok(check) => found.checks.push(check),
                Err(error) => found.missing.push(error),
            }
        }
    }
    found
}

/// What to say when nothing is found.
pub(super) fn none(checkers: &Checkers, path: &Path) -> ToolError {
    let markers: Vec<&str> = checkers.list.iter().filter_map(|one| one.markers.first().map(String::as_str)).collect();
    let looked = if markers.is_empty() {
        "nothing is switched on".to_owned()
    } else {
        format!("looked for {}", markers.join(", "))
    };
    let mistakes: String = checkers.mistakes.iter().map(|mistake| format!("; {mistake}")).collect();
    ToolError::failed(format!(
        "no checker is known for {}: {looked}{mistakes}. Run the project's own with bash; the user names one for \
         good as [tools.diagnostics.checkers.NAME] with command = \"…\" in config.toml",
        path.display()
    ))
}

fn is_for(checker: &Checker, file: &Path) -> bool {
    let is_marker = file.file_name().is_some_and(|name| checker.markers.iter().any(|marker| name == marker.as_str()));
    let ending = file.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    checker.endings.is_empty() || is_marker || checker.endings.iter().any(|one| one.trim_start_matches('.') == ending)
}

/// Whether a folder holds a file that a checker is for, or so many others that nobody looked for it to the end.
fn may_hold_one(checker: &Checker, folder: &Path) -> bool {
    let mut walk = WalkBuilder::new(folder);
    let walk = walk.require_git(false).hidden(false).filter_entry(|entry| entry.file_name() != ".git").build();
    let is_file = |entry: &ignore::DirEntry| entry.file_type().is_some_and(|kind| kind.is_file());
    let mut looked_at = 0;
    walk.flatten().any(|entry| {
        looked_at += 1;
        looked_at > MOST_LOOKED_AT || (is_file(&entry) && is_for(checker, entry.path()))
    })
}

/// The nearest folder above that is a project of a checker.
fn above(checker: &Checker, path: &Path, roots: &[&Path]) -> Option<PathBuf> {
    let root =
        roots.iter().copied().filter(|root| path.starts_with(root)).max_by_key(|root| root.components().count())?;
    if checker.markers.is_empty() {
        return Some(root.to_path_buf());
    }
    let inside = path.ancestors().take_while(|folder| folder.starts_with(root));
    inside.filter(|folder| is_project(checker, folder)).map(Path::to_path_buf).next()
}

fn is_project(checker: &Checker, folder: &Path) -> bool {
    checker.markers.iter().any(|marker| folder.join(marker).is_file())
}

/// The topmost projects below a folder.
fn below(checker: &Checker, folder: &Path) -> Vec<PathBuf> {
    let walk = WalkBuilder::new(folder).max_depth(Some(DEEPEST)).require_git(false).hidden(false).build();
    let mut projects: Vec<PathBuf> = Vec::new();
    for entry in walk.flatten().take(MOST_LOOKED_AT) {
        let is_marker =
            entry.file_name().to_str().is_some_and(|name| checker.markers.iter().any(|marker| marker == name));
        let is_foreign = entry.path().components().any(|part| part.as_os_str() == "node_modules");
        if let Some(project) = entry.path().parent().filter(|_| is_marker && !is_foreign) {
            projects.push(project.to_path_buf());
        }
    }
    projects.sort();
    let mut topmost: Vec<PathBuf> = Vec::new();
    for project in projects {
        if !topmost.iter().any(|top| project.starts_with(top)) {
            topmost.push(project);
        }
    }
    topmost
}
