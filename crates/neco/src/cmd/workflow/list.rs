//! Workflows and runs of them as lines.

use std::fmt::Write;

use jiff::Timestamp;
use neco_proto::app::workflows::WorkflowList;

use crate::cmd::when::ago;
use crate::print::clean::clean_line;
use crate::print::wrap::{columns, fitting};

/// Columns of a description.
const DESCRIPTION: usize = 80;
/// Characters of an id that tell runs apart.
const SHORT: usize = 18;

/// The workflows there are, then the runs.
#[must_use]
pub fn as_lines(list: &WorkflowList, all: bool) -> String {
    let widest = list.workflows.iter().map(|one| columns(&one.name)).max().unwrap_or_default();
    let mut text = String::from("Workflows\n");
    for one in &list.workflows {
        let gap = " ".repeat(widest.saturating_sub(columns(&one.name)) + 2);
        let short = |words: &Option<String>| fitting(&clean_line(words.as_deref().unwrap_or_default()), DESCRIPTION);
        let words = match &one.error {
            None => short(&one.description),
            Some(_) => format!("can't be used: {}", short(&one.error)),
        };
        let _ = writeln!(text, "  {}{gap}{:<8}  {words}", clean_line(&one.name), one.source);
    }
    if list.runs.is_empty() {
        let _ = writeln!(text, "\nno workflow was run{}", if all { "" } else { " in this folder" });
        return text;
    }
    text.push_str("\nRuns\n");
    let now = Timestamp::now();
    for run in &list.runs {
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
