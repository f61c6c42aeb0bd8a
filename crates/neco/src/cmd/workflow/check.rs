//! `neco workflow validate`: everything that is wrong before anything runs.

use std::collections::BTreeMap;
use std::path::Path;

use neco_app::services;
use neco_app::workspace::told_files::workflow_places;
use neco_config::{Env, LoadOptions};
use neco_model::Models;
use neco_session::roles::Definitions;
use neco_session::workflow::{Graph, KnownNames, WorkflowError, WorkflowFile};
use neco_toolkit::Registry;
use serde_json::{Value, json};

use crate::args::EverywhereArgs;
use crate::cmd::agents;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::clean;
use crate::say;

/// Checks files; 1 when something is wrong with one.
///
/// # Errors
/// When the settings can't be read.
pub(super) fn run(
    files: &[String],
    as_json: bool,
    folder: &Path,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<Exit, Failure> {
    let config = neco_config::load(LoadOptions { env, cwd: folder, overrides: &everywhere.overrides })?.config;
    let tools = services::all_tools(&config.tools, &services::indexes(env.data_dir()));
    let roles = agents::definitions(folder, everywhere, env)?;
    let models = services::models(&config, env)?;
    let checked: Vec<(&String, Result<WorkflowFile, WorkflowError>)> = files
        .iter()
        .map(|name| {
            let found = workflow_places(env).find(name, folder).and_then(|found| found.file);
            (name, found.and_then(|file| check(&file, &roles, &tools, &models).map(|()| file)))
        })
        .collect();
    let wrong = checked.iter().any(|(_, result)| result.is_err());
    say::out(&if as_json { report(&checked) } else { lines(&checked) })?;
    Ok(if wrong { Exit::Failed } else { Exit::Done })
}

/// As if every input had a value: which one is for whoever runs it.
fn check(file: &WorkflowFile, roles: &Definitions, tools: &Registry, models: &Models) -> Result<(), WorkflowError> {
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

fn lines(checked: &[(&String, Result<WorkflowFile, WorkflowError>)]) -> String {
    let line = |(name, result): &(&String, Result<WorkflowFile, WorkflowError>)| match result {
        Ok(file) => format!("{name}: fine, {} tasks\n", file.tasks.len()),
        Err(error) => each(error).iter().map(|problem| format!("{name}: {}\n", clean(problem))).collect(),
    };
    checked.iter().map(line).collect()
}

fn each(error: &WorkflowError) -> Vec<String> {
    error.clone().each().iter().map(ToString::to_string).collect()
}

fn report(checked: &[(&String, Result<WorkflowFile, WorkflowError>)]) -> String {
    let value = |(name, result): &(&String, Result<WorkflowFile, WorkflowError>)| {
        json!({
            "file": name,
            "valid": result.is_ok(),
            "tasks": result.as_ref().map(|file| file.tasks.len()).ok(),
            "error": result.as_ref().err().map(ToString::to_string),
            "errors": result.as_ref().err().map(each).unwrap_or_default(),
        })
    };
    format!("{:#}\n", json!(checked.iter().map(value).collect::<Vec<_>>()))
}
