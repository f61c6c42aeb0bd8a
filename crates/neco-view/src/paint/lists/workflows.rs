//! Workflows and runs of them as lines.

use std::fmt::Write;

use jiff::Timestamp;
use neco_proto::app::workflows::{
    CheckedWorkflow, ListWorkflows, ShowWorkflow, ShowWorkflowRun, ShownRun, ShownWorkflow, WorkflowList, WorkflowRun,
};
use neco_proto::app::{App, AppError, Caller, Trouble};
use neco_proto::clean::{clean, clean_line};
use neco_proto::event::{WorkflowGraph, WorkflowTask};
use serde_json::json;

use crate::figures::{self, ago};
use crate::paint::colour::Paint;
use crate::paint::text::workflow::{tree, tree_lines, words};
use crate::paint::wrap::{columns, fitting};

/// Columns of a description.
const DESCRIPTION: usize = 80;
/// Characters of an id that tell runs apart.
const SHORT: usize = 18;

/// The workflows there are, then the runs.
pub fn as_lines(list: &WorkflowList, all: bool, now: Timestamp) -> String {
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

/// What is wrong with files of workflows, a line each.
pub fn checked(workflows: &[CheckedWorkflow]) -> String {
    let lines = |one: &CheckedWorkflow| match one.tasks {
        Some(tasks) => format!("{}: no problems, {}\n", one.file, figures::count(tasks as u64, "task")),
        None => one.errors.iter().map(|problem| format!("{}: {}\n", one.file, clean(problem))).collect(),
    };
    workflows.iter().map(lines).collect()
}

/// What is to be shown, and how.
pub struct Shape<'a> {
    /// Only this task of a run.
    pub task: Option<&'a str>,
    /// As JSON.
    pub json: bool,
    /// Its colours.
    pub paint: Paint,
}

/// What is named: a workflow when there is one of that name, else a run.
///
/// # Errors
/// When there is neither.
pub async fn text(wanted: ShowWorkflow, shape: &Shape<'_>, app: &dyn App) -> Result<String, AppError> {
    let caller = Caller::person();
    match (app.ask(&caller, &wanted).await, shape.task) {
        (Err(error), _) if error.trouble == Trouble::NotFound => {
            let ShownRun { run, graph } = match app.ask(&caller, &ShowWorkflowRun { run: wanted.name }).await {
                Err(error) if matches!(error.trouble, Trouble::Invalid | Trouble::NotFound | Trouble::NotAllowed) => {
                    let list =
                        app.ask(&caller, &ListWorkflows { folder: wanted.folder, ..ListWorkflows::default() }).await?;
                    let known: Vec<String> = list.workflows.into_iter().map(|one| one.name).collect();
                    let known = known.join(", ");
                    let hint = format!("There are the workflows {known}; `neco workflow list --all` lists runs.");
                    return Err(error.hint(hint));
                }
                shown => shown?,
            };
            let gone = || AppError::new(Trouble::Failed, "the session of that run is gone");
            of_run(&run, &graph.ok_or_else(gone)?, shape)
        }
        (_, Some(_)) => Err(AppError::new(Trouble::Invalid, "--task is for a run: give the beginning of its id")),
        (shown, None) => {
            let shown = shown?;
            Ok(if shape.json { definition_json(&shown) } else { definition(&shown, shape.paint) })
        }
    }
}

fn of_run(run: &WorkflowRun, graph: &WorkflowGraph, shape: &Shape<'_>) -> Result<String, AppError> {
    if let Some(name) = shape.task {
        let found = graph.tasks.iter().find(|task| task.id == name);
        let none = || AppError::new(Trouble::Invalid, format!("the workflow has no task {name:?}"));
        let found = found.ok_or_else(none)?;
        return Ok(if shape.json { format!("{:#}\n", json!(found)) } else { whole(found) });
    }
    if shape.json {
        let mut value = json!(graph);
        if let Some(fields) = value.as_object_mut() {
            fields.insert("session_id".to_owned(), json!(run.session));
        }
        return Ok(format!("{value:#}\n"));
    }
    let mut text = tree(graph, shape.paint);
    let _ = writeln!(text, "\nrun {} · session {}", graph.workflow_id, run.session);
    if let Some(inputs) = graph.inputs.as_ref().and_then(|inputs| inputs.as_object()) {
        for (name, value) in inputs {
            let _ = writeln!(text, "{} = {}", clean_line(name), clean_line(&words(value)));
        }
    }
    Ok(text)
}

fn whole(task: &WorkflowTask) -> String {
    let said = task.output.as_ref().map(words).or_else(|| task.error.as_deref().map(clean)).unwrap_or_default();
    format!("{} · {}\n{}\n", clean_line(&task.id), task.state, said.trim_end())
}

fn definition(shown: &ShownWorkflow, paint: Paint) -> String {
    let from = shown.file.as_deref().unwrap_or("built-in");
    let mut text = format!("{} ({})\n{}\n", clean_line(&shown.name), clean_line(from), clean(&shown.description));
    if !shown.inputs.is_empty() {
        text.push_str("\nInputs\n");
    }
    for (name, input) in &shown.inputs {
        let default = input.default.as_ref().map(|value| format!("  (default {value})")).unwrap_or_default();
        let words = clean_line(&format!("{}{default}", input.description));
        let _ = writeln!(text, "  {}  {words}", clean_line(name));
    }
    text.push_str("\nTasks\n");
    for line in tree_lines(&shown.tasks, paint) {
        let _ = writeln!(text, "  {line}");
    }
    text
}

fn definition_json(shown: &ShownWorkflow) -> String {
    let ShownWorkflow { name, source, definition, .. } = shown;
    format!("{:#}\n", json!({ "name": name, "source": source, "definition": definition }))
}
