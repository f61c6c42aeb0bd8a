//! `neco workflow show`: a workflow, or how a run of one stands.

use std::fmt::Write;

use neco_proto::app::workflows::{
    ListWorkflows, ShowWorkflow, ShowWorkflowRun, ShownRun, ShownWorkflow, WorkflowEntry, WorkflowRun,
};
use neco_proto::app::{App, Caller, Trouble};
use neco_proto::event::{WorkflowGraph, WorkflowTask};
use serde_json::json;

use crate::cmd::program::ask_of;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::{clean, clean_line};
use crate::print::paint::Paint;
use crate::print::workflow::{tree, tree_lines, words};

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
pub async fn text(wanted: ShowWorkflow, shape: &Shape<'_>, app: &dyn App) -> Result<String, Failure> {
    match (app.ask(&Caller::person(), &wanted).await, shape.task) {
        (Err(error), _) if error.trouble == Trouble::NotFound => {
            let ShownRun { run, graph } = match ask_of(app, &ShowWorkflowRun { run: wanted.name }).await {
                Err(failure) if failure.exit == Exit::Usage => {
                    let list = ask_of(app, &ListWorkflows { folder: wanted.folder, all: false }).await?;
                    let known: Vec<String> =
                        list.workflows.into_iter().map(|WorkflowEntry { name, .. }| name).collect();
                    let known = known.join(", ");
                    let hint = format!("There are the workflows {known}; `neco workflow list --all` lists runs.");
                    return Err(failure.hint(hint));
                }
                shown => shown?,
            };
            let graph = graph.ok_or_else(|| Failure::new(Exit::Failed, "the session of that run is gone"))?;
            of_run(&run, &graph, shape)
        }
        (_, Some(_)) => Err(Failure::usage("--task is for a run: give the beginning of its id")),
        (shown, None) => {
            let shown = shown?;
            Ok(if shape.json { definition_json(&shown) } else { definition(&shown, shape.paint) })
        }
    }
}

fn of_run(run: &WorkflowRun, graph: &WorkflowGraph, shape: &Shape<'_>) -> Result<String, Failure> {
    if let Some(name) = shape.task {
        let found = graph.tasks.iter().find(|task| task.id == name);
        let found = found.ok_or_else(|| Failure::usage(format!("the workflow has no task {name:?}")))?;
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
