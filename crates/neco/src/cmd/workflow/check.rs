//! `neco workflow validate`: everything that is wrong before anything runs.

use neco_proto::app::workflows::CheckedWorkflow;

use crate::print::clean::clean;

/// What is wrong, a line each.
#[must_use]
pub fn as_lines(checked: &[CheckedWorkflow]) -> String {
    let lines = |one: &CheckedWorkflow| match one.tasks {
        Some(tasks) => format!("{}: fine, {tasks} tasks\n", one.file),
        None => one.errors.iter().map(|problem| format!("{}: {}\n", one.file, clean(problem))).collect(),
    };
    checked.iter().map(lines).collect()
}
