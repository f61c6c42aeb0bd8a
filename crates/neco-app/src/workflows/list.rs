//! The workflows of a folder and the runs there were.

use std::path::Path;

use neco_proto::app::AppError;
use neco_proto::app::workflows::{ListWorkflows, WorkflowEntry, WorkflowList};
use neco_session::workflow::FoundWorkflow;

use crate::app::LocalApp;
use crate::workspace::told_files::workflow_places;

pub(crate) async fn list(app: &LocalApp, request: ListWorkflows) -> Result<WorkflowList, AppError> {
    let runs = app.hub.workflow_runs((!request.all).then_some(request.folder.as_str())).await;
    let found = workflow_places(&app.env).list(Path::new(&request.folder));
    Ok(WorkflowList { workflows: found.into_iter().map(entry).collect(), runs })
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
