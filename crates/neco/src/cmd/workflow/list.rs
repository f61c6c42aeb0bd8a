//! Workflows and runs of them as lines and as JSON.

use std::fmt::Write;

use jiff::Timestamp;
use neco_session::workflow::{FoundWorkflow, RunNote};
use serde_json::{Value, json};

use crate::cmd::when::ago;
use crate::print::clean::clean_line;
use crate::print::wrap::{columns, fitting};

/// Columns of a description.
const DESCRIPTION: usize = 80;
/// Characters of an id that tell runs apart.
const SHORT: usize = 18;

/// The workflows there are, then the runs.
#[must_use]
pub fn as_lines(found: &[FoundWorkflow], runs: &[RunNote], all: bool) -> String {
    let widest = found.iter().map(|one| columns(&one.name)).max().unwrap_or_default();
    let mut text = String::from("Workflows\n");
    for one in found {
        let gap = " ".repeat(widest.saturating_sub(columns(&one.name)) + 2);
        let words = match &one.file {
            Ok(file) => fitting(&clean_line(&file.description), DESCRIPTION),
            Err(error) => format!("can't be used: {}", fitting(&clean_line(&error.to_string()), DESCRIPTION)),
        };
        let _ = writeln!(text, "  {}{gap}{:<8}  {words}", clean_line(&one.name), one.source.name());
    }
    if runs.is_empty() {
        let _ = writeln!(text, "\nno workflow was run{}", if all { "" } else { " in this folder" });
        return text;
    }
    text.push_str("\nRuns\n");
    let now = Timestamp::now();
    for run in runs {
        let id: String = run.workflow_id.to_string().chars().take(SHORT).collect();
        let place = if all { format!("  {}", clean_line(&run.cwd)) } else { String::new() };
        let _ = writeln!(
            text,
            "  {id}  {:<11}  {:<10}  {}{place}",
            run.state,
            ago(run.began_ms, now),
            clean_line(&run.name)
        );
    }
    text
}

/// The same as JSON.
#[must_use]
pub fn as_json(found: &[FoundWorkflow], runs: &[RunNote]) -> String {
    let workflows: Vec<Value> = found
        .iter()
        .map(|one| {
            json!({
                "name": one.name,
                "source": one.source.name(),
                "file": one.source.file(),
                "description": one.file.as_ref().map(|file| file.description.clone()).ok(),
                "tasks": one.file.as_ref().map(|file| file.tasks.len()).ok(),
                "error": one.file.as_ref().err().map(ToString::to_string),
            })
        })
        .collect();
    format!("{:#}\n", json!({ "workflows": workflows, "runs": runs }))
}
