//! Workflows, and the runs of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use neco_ext::plugins::PluginStore;
use neco_model::Models;
use neco_proto::app::workflows::{
    CancelWorkflow, CancelledWorkflow, CheckWorkflows, CheckedWorkflow, CheckedWorkflows, ListWorkflows, ShowWorkflow,
    ShowWorkflowRun, ShownRun, ShownWorkflow, WorkflowEntry, WorkflowInput, WorkflowList, WorkflowRun,
};
use neco_proto::app::{AppError, Trouble};
use neco_proto::event::WorkflowState;
use neco_proto::{Actor, Command, WorkflowOrder};
use neco_session::Hub;
use neco_session::roles::Definitions;
use neco_session::workflow::{FoundWorkflow, Graph, KnownNames, WorkflowError, WorkflowFile, WorkflowPlaces};
use neco_toolkit::Registry;
use serde_json::Value;

use crate::app::LocalApp;
use crate::error::{invalid, of_session, of_workflow};
use crate::opening::on_thread;
use crate::paging::page;
use crate::services;
use crate::workspace::told_files::{definitions, workflow_places};

/// Where workflows for work in a folder are.
fn places(app: &LocalApp, folder: &Path) -> WorkflowPlaces {
    workflow_places(&app.env, &PluginStore::new(app.env.config_dir()).active(folder).0)
}

pub(crate) async fn list(app: &LocalApp, request: ListWorkflows) -> Result<WorkflowList, AppError> {
    let runs = app.hub.workflow_runs((!request.all).then_some(request.folder.as_str())).await;
    let (here, folder) = (app.clone(), PathBuf::from(&request.folder));
    let found = on_thread(move || Ok(places(&here, &folder).list(&folder))).await?;
    let page = page(runs, &request.page, |run| (run.began_ms, run.workflow_id.to_string()))?;
    Ok(WorkflowList { workflows: found.into_iter().map(entry).collect(), runs: page.items, next: page.next })
}

fn entry(found: FoundWorkflow) -> WorkflowEntry {
    WorkflowEntry {
        name: found.name,
        source: found.origin,
        file: found.path.as_ref().map(|file| file.display().to_string()),
        tasks: found.file.as_ref().map(|file| file.tasks.len()).ok(),
        error: found.file.as_ref().err().map(ToString::to_string),
        description: found.file.map(|file| file.description).ok(),
    }
}

pub(crate) async fn show(app: &LocalApp, request: ShowWorkflow) -> Result<ShownWorkflow, AppError> {
    let (here, folder) = (app.clone(), PathBuf::from(&request.folder));
    let found = on_thread(move || places(&here, &folder).find(&request.name, &folder).map_err(of_workflow)).await?;
    let file = found.file.map_err(of_workflow)?;
    let pending =
        file.tasks.iter().filter_map(|task| Some(task.work().ok()?.pending(task.id.clone(), task.needs.clone())));
    Ok(ShownWorkflow {
        name: found.name,
        source: found.origin,
        file: found.path.as_ref().map(|file| file.display().to_string()),
        tasks: pending.collect(),
        definition: file.to_value(),
        description: file.description,
        inputs: file
            .inputs
            .into_iter()
            .map(|(name, input)| (name, WorkflowInput { description: input.description, default: input.default }))
            .collect(),
    })
}

pub(crate) async fn show_run(app: &LocalApp, request: ShowWorkflowRun) -> Result<ShownRun, AppError> {
    let run = find_run(&app.hub, &request.run).await?;
    let graph = app.hub.workflow(&run).await.map_err(of_session)?;
    Ok(ShownRun { run, graph })
}

/// Ends a run: where it runs, or in its log when nobody runs it.
pub(crate) async fn cancel(app: &LocalApp, by: Actor, request: CancelWorkflow) -> Result<CancelledWorkflow, AppError> {
    let run = find_run(&app.hub, &request.run).await?;
    let running = run.state == WorkflowState::Running;
    if let Some(open) = if running { app.elsewhere(run.session).await? } else { None } {
        let order = Command::WorkflowCommand { workflow_id: run.workflow_id, order: WorkflowOrder::Cancel };
        open.send_as(by, order).await?;
        return Ok(CancelledWorkflow { run, elsewhere: true });
    }
    app.hub.cancel_workflow(by, &run).await.map_err(of_session)?;
    Ok(CancelledWorkflow { run, elsewhere: false })
}

/// The one run whose id begins so.
async fn find_run(hub: &Hub, id: &str) -> Result<WorkflowRun, AppError> {
    let wanted = id.trim().to_lowercase();
    let mut runs = hub.workflow_runs(None).await;
    runs.retain(|run| !wanted.is_empty() && run.workflow_id.to_string().starts_with(&wanted));
    match runs.len() {
        1 => Ok(runs.remove(0)),
        0 => Err(AppError::new(Trouble::NotFound, format!("there is no run {id:?} of a workflow"))
            .hint("`neco workflow list --all` lists the runs of all folders.")),
        several => Err(invalid(format!("{several} runs begin with {id:?}: give more of the id"))),
    }
}

pub(crate) async fn check(app: &LocalApp, request: CheckWorkflows) -> Result<CheckedWorkflows, AppError> {
    let app = app.clone();
    on_thread(move || check_all(&app, request)).await
}

fn check_all(app: &LocalApp, request: CheckWorkflows) -> Result<CheckedWorkflows, AppError> {
    let folder = Path::new(&request.folder);
    let loaded = app.settings(folder)?;
    let tools = services::all_tools(&loaded.config.tools, &services::indexes(app.env.data_dir()));
    let roles = definitions(&app.env, folder, &loaded);
    let models = services::models(&loaded.config, &app.env)?;
    let checked = |name: String| {
        let found = places(app, folder).find(&name, folder).and_then(|found| found.file);
        let tasks = found.and_then(|file| problems(&file, &roles, &tools, &models).map(|()| file.tasks.len()));
        CheckedWorkflow {
            file: name,
            valid: tasks.is_ok(),
            error: tasks.as_ref().err().map(ToString::to_string),
            errors: tasks.as_ref().err().map(each).unwrap_or_default(),
            tasks: tasks.ok(),
        }
    };
    Ok(CheckedWorkflows { workflows: request.files.into_iter().map(checked).collect() })
}

/// As if every input had a value: which one is for whoever runs it.
fn problems(file: &WorkflowFile, roles: &Definitions, tools: &Registry, models: &Models) -> Result<(), WorkflowError> {
    let missing = file.inputs.iter().filter(|(_, input)| input.default.is_none());
    let values: BTreeMap<String, Value> = missing.map(|(name, _)| (name.clone(), Value::from(""))).collect();
    let names = file.check_names(&KnownNames {
        agent: &|role| roles.find(role).map(|_| ()),
        tool: &|name| tools.find(name).cloned(),
        model: &|name| models.info(name).map(|_| ()),
    });
    let problems = [Graph::new(file, &values).err(), names.err()];
    WorkflowError::none_of(problems.into_iter().flatten().flat_map(WorkflowError::each).collect())
}

fn each(error: &WorkflowError) -> Vec<String> {
    error.clone().each().iter().map(ToString::to_string).collect()
}
