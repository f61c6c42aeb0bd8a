//! The definitions that count in a folder.

use std::path::Path;

use neco_proto::app::agents::{AgentDefinition, AgentList, ListAgents, ShowAgent, ShownAgent};
use neco_proto::app::{AppError, Origin, Trouble};
use neco_session::roles::{self, Definition, Definitions, RoleModel};

use crate::app::LocalApp;
use crate::workspace::told_files;

pub(super) fn of_folder(app: &LocalApp, folder: &str) -> Result<Definitions, AppError> {
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
    Ok(ShownAgent { definition: definition(one), prompt: one.prompt.clone(), output_schema: one.output_schema.clone() })
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
            RoleModel::OfType | RoleModel::Named(_) => Some(one.model_name("", None).to_owned()),
        },
        temperature: one.temperature,
        tools: one.tools.only.clone(),
        disallowed_tools: one.tools.except.clone(),
        mode: one.narrowing.mode,
        deny: one.narrowing.deny.clone(),
        ask: one.narrowing.ask.clone(),
        max_turns: one.max_turns,
        timeout: one.timeout.map(|time| time.as_secs_f64()),
        budget: one.budget,
    }
}
