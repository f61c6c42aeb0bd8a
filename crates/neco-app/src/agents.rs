//! Who a child agent can be: the definitions that count in a folder, and what is wrong with them.

use std::path::Path;

use neco_proto::app::agents::{
    AgentDefinition, AgentList, CheckAgents, CheckedAgents, ListAgents, Problem, ShowAgent, ShownAgent,
};
use neco_proto::app::{AppError, Origin, Trouble};
use neco_session::roles::{self, Definition, Definitions, RoleModel, read_definition};

use crate::app::LocalApp;
use crate::error::invalid;
use crate::workspace::told_files;

fn of_folder(app: &LocalApp, folder: &str) -> Result<Definitions, AppError> {
    let folder = Path::new(folder);
    Ok(told_files::definitions(&app.env, folder, &app.settings(folder)?))
}

pub(crate) async fn list(app: &LocalApp, request: ListAgents) -> Result<AgentList, AppError> {
    let found = of_folder(app, &request.folder)?;
    Ok(AgentList { agents: found.iter().map(definition).collect(), problems: found.problems().to_vec() })
}

pub(crate) async fn show(app: &LocalApp, request: ShowAgent) -> Result<ShownAgent, AppError> {
    let found = of_folder(app, &request.folder)?;
    let one = found.find(&request.name).map_err(|error| {
        AppError::new(Trouble::NotFound, error.to_string())
            .hint("`neco agents list` lists them; `neco agents validate` says why one is missing.")
    })?;
    Ok(ShownAgent {
        definition: definition(one),
        prompt: one.prompt.clone(),
        output_schema: one.output_schema.clone(),
        query: one.query.clone(),
    })
}

fn definition(one: &Definition) -> AgentDefinition {
    AgentDefinition {
        name: one.name.clone(),
        description: one.description.clone(),
        origin: match one.origin {
            roles::Origin::BuiltIn => Origin::BuiltIn,
            roles::Origin::Person(_) => Origin::Person,
            roles::Origin::Folder(_) => Origin::Folder,
        },
        file: one.origin.file().map(|file| file.display().to_string()),
        node_type: one.node_type,
        model: match &one.model {
            RoleModel::OfParent => None,
            RoleModel::OfType | RoleModel::Named(_) | RoleModel::Set(_) => Some(one.model_name("", None).to_owned()),
        },
        temperature: one.temperature,
        max_output: one.max_output,
        tools: one.tools.only.clone(),
        disallowed_tools: one.tools.except.clone(),
        mode: one.narrowing.mode,
        deny: one.narrowing.deny.clone(),
        ask: one.narrowing.ask.clone(),
        max_turns: one.max_turns,
        timeout: one.timeout.map(|time| time.as_secs_f64()),
        budget: one.budget,
        inputs: one.inputs.clone(),
    }
}

pub(crate) async fn check(app: &LocalApp, request: CheckAgents) -> Result<CheckedAgents, AppError> {
    if request.files.is_empty() {
        return Ok(CheckedAgents { problems: of_folder(app, &request.folder)?.problems().to_vec() });
    }
    let mut problems = Vec::new();
    for file in &request.files {
        problems.extend(of_file(Path::new(&request.folder), file)?);
    }
    Ok(CheckedAgents { problems })
}

fn of_file(folder: &Path, file: &str) -> Result<Vec<Problem>, AppError> {
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path).map_err(|error| invalid(format!("{file} can't be read: {error}")))?;
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(read_definition(&text, file, &stem, roles::Origin::Person(path)).1)
}
