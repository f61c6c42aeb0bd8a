//! A workflow, and how a run of one stands.

use std::path::Path;

use neco_proto::app::workflows::{ShowWorkflow, ShowWorkflowRun, ShownRun, ShownWorkflow, WorkflowInput, WorkflowRun};
use neco_proto::app::{AppError, Trouble};
use neco_session::Hub;

use crate::app::LocalApp;
use crate::error::{of_session, of_workflow};
use crate::workspace::told_files::workflow_places;

pub(crate) async fn show(app: &LocalApp, request: ShowWorkflow) -> Result<ShownWorkflow, AppError> {
    let found = workflow_places(&app.env).find(&request.name, Path::new(&request.folder)).map_err(of_workflow)?;
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

/// The one run whose id begins so.
///
/// # Errors
/// When there is none, or several.
pub async fn find_run(hub: &Hub, id: &str) -> Result<WorkflowRun, AppError> {
    let wanted = id.trim().to_lowercase();
    let mut runs = hub.workflow_runs(None).await;
    runs.retain(|run| !wanted.is_empty() && run.workflow_id.to_string().starts_with(&wanted));
    match runs.len() {
        1 => Ok(runs.remove(0)),
        0 => Err(AppError::new(Trouble::NotFound, format!("there is no run {id:?} of a workflow"))
            .hint("`neco workflow list --all` lists the runs of all folders.")),
        several => {
            Err(AppError::new(Trouble::Invalid, format!("{several} runs begin with {id:?}: give more of the id")))
        }
    }
}
