//! `neco workflow show`: a workflow, or how a run of one stands.

use std::fmt::Write;
use std::path::Path;

use neco_app::workspace::told_files::workflow_places;
use neco_config::Env;
use neco_proto::event::{WorkflowGraph, WorkflowTask};
use neco_session::workflow::{FoundWorkflow, RunNote, WorkflowError, WorkflowFile};
use serde_json::json;

use super::command::{find, with_hub};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::{clean, clean_line};
use crate::print::paint::Paint;
use crate::print::workflow::{tree, tree_lines, words};
use crate::say;
use crate::terminal::Terminal;

/// Shows what is named: a workflow when there is one of that name, else a run.
///
/// # Errors
/// When there is neither.
pub(super) fn run(what: &str, task: Option<&str>, as_json: bool, folder: &Path, env: &Env) -> Result<Exit, Failure> {
    match workflow_places(env).find(what, folder) {
        Ok(found) if task.is_none() => {
            let file = found.file.clone().map_err(|error| Failure::usage(error.to_string()))?;
            say::out(&if as_json { definition_json(&found, &file) } else { definition(&found, &file, paint(env)) })?;
        }
        Ok(_) => return Err(Failure::usage("--task is for a run: give the beginning of its id")),
        Err(WorkflowError::Unknown { known, .. }) => {
            let (run, graph) = with_hub(env, async |hub| {
                let run = find(&hub, what).await.map_err(|failure| {
                    failure.hint(format!(
                        "There are the workflows {}; `neco workflow list --all` lists runs.",
                        known.join(", ")
                    ))
                })?;
                let graph = hub.workflow(&run).await?;
                Ok((run, graph))
            })?;
            let graph = graph.ok_or_else(|| Failure::new(Exit::Failed, "the session of that run is gone"))?;
            show(&run, &graph, task, as_json, env)?;
        }
        Err(error) => return Err(Failure::usage(error.to_string())),
    }
    Ok(Exit::Done)
}

fn paint(env: &Env) -> Paint {
    let terminal = Terminal::look_at(env);
    if terminal.stdout { terminal.paint() } else { Paint::new(false) }
}

fn show(run: &RunNote, graph: &WorkflowGraph, task: Option<&str>, as_json: bool, env: &Env) -> Result<(), Failure> {
    if let Some(name) = task {
        let found = graph.tasks.iter().find(|task| task.id == name);
        let found = found.ok_or_else(|| Failure::usage(format!("the workflow has no task {name:?}")))?;
        return say::out(&if as_json { format!("{:#}\n", json!(found)) } else { whole(found) });
    }
    if as_json {
        let mut value = json!(graph);
        if let Some(fields) = value.as_object_mut() {
            fields.insert("session_id".to_owned(), json!(run.session));
        }
        return say::out(&format!("{value:#}\n"));
    }
    let mut text = tree(graph, paint(env));
    let _ = writeln!(text, "\nrun {} · session {}", graph.workflow_id, run.session);
    if let Some(inputs) = graph.inputs.as_ref().and_then(|inputs| inputs.as_object()) {
        for (name, value) in inputs {
            let _ = writeln!(text, "{} = {}", clean_line(name), clean_line(&words(value)));
        }
    }
    say::out(&text)
}

fn whole(task: &WorkflowTask) -> String {
    let said = task.output.as_ref().map(words).or_else(|| task.error.as_deref().map(clean)).unwrap_or_default();
    format!("{} · {}\n{}\n", clean_line(&task.id), task.state, said.trim_end())
}

fn definition(found: &FoundWorkflow, file: &WorkflowFile, paint: Paint) -> String {
    let from = found.source.file().map_or_else(|| "built-in".to_owned(), |file| file.display().to_string());
    let mut text = format!("{} ({})\n{}\n", clean_line(&found.name), clean_line(&from), clean(&file.description));
    if !file.inputs.is_empty() {
        text.push_str("\nInputs\n");
    }
    for (name, input) in &file.inputs {
        let default = input.default.as_ref().map(|value| format!("  (default {value})")).unwrap_or_default();
        let words = clean_line(&format!("{}{default}", input.description));
        let _ = writeln!(text, "  {}  {words}", clean_line(name));
    }
    text.push_str("\nTasks\n");
    for line in tree_lines(&tasks(file), paint) {
        let _ = writeln!(text, "  {line}");
    }
    text
}

fn definition_json(found: &FoundWorkflow, file: &WorkflowFile) -> String {
    let source = found.source.name();
    format!("{:#}\n", json!({ "name": found.name, "source": source, "definition": file.to_value() }))
}

/// The tasks of a file, none of them begun.
pub(super) fn tasks(file: &WorkflowFile) -> Vec<WorkflowTask> {
    file.tasks
        .iter()
        .filter_map(|entry| Some(entry.work().ok()?.pending(entry.id.clone(), entry.needs.clone())))
        .collect()
}
