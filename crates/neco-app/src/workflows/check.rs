//! Everything that is wrong with workflows before anything runs.

use std::collections::BTreeMap;
use std::path::Path;

use neco_model::Models;
use neco_proto::app::AppError;
use neco_proto::app::workflows::{CheckWorkflows, CheckedWorkflow, CheckedWorkflows};
use neco_session::roles::Definitions;
use neco_session::workflow::{Graph, KnownNames, WorkflowError, WorkflowFile};
use neco_toolkit::Registry;
use serde_json::Value;

use crate::app::LocalApp;
use crate::services;
use crate::workspace::told_files::{definitions, workflow_places};

pub(crate) async fn check(app: &LocalApp, request: CheckWorkflows) -> Result<CheckedWorkflows, AppError> {
    let folder = Path::new(&request.folder);
    let loaded = app.settings(folder)?;
    let tools = services::all_tools(&loaded.config.tools, &services::indexes(app.env.data_dir()));
    let roles = definitions(&app.env, folder, &loaded);
    let models = services::models(&loaded.config, &app.env)?;
    let checked = |name: String| {
        let found = workflow_places(&app.env).find(&name, folder).and_then(|found| found.file);
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
        agent: &|role| roles.find(role).map(|_| ()).map_err(|error| error.to_string()),
        tool: &|name| tools.find(name).cloned().map_err(|error| error.message),
        model: &|name| models.info(name).map(|_| ()).map_err(|error| error.to_string()),
    });
    let problems = [Graph::new(file, &values).err(), names.err()];
    WorkflowError::none_of(problems.into_iter().flatten().flat_map(WorkflowError::each).collect())
}

fn each(error: &WorkflowError) -> Vec<String> {
    error.clone().each().iter().map(ToString::to_string).collect()
}
