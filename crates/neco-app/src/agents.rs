//! Who a child agent can be: the definitions that count in a folder, and what is wrong with them.

use std::path::Path;

use neco_ext::mcp::ServerSettings;
use neco_proto::app::agents::{
    AgentDefinition, AgentList, CheckAgents, CheckedAgents, Level, ListAgents, Problem, ShowAgent, ShownAgent,
};
use neco_proto::app::{AppError, Origin, Trouble};
use neco_session::roles::{self, Definition, Definitions, RoleModel, read_definition};

use crate::app::LocalApp;
use crate::error::invalid;
use crate::named_tools::without_server;
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
    let folder = Path::new(&request.folder);
    let servers = app.plugged(folder)?.servers();
    let mut problems = Vec::new();
    for file in &request.files {
        problems.extend(of_file(folder, file, &servers)?);
    }
    if request.files.is_empty() {
        let found = of_folder(app, &request.folder)?;
        problems.extend_from_slice(found.problems());
        for one in found.iter() {
            let Some(file) = one.origin.file() else { continue };
            let text = std::fs::read_to_string(file).unwrap_or_default();
            let shown = file.strip_prefix(folder).map(|inside| inside.display().to_string());
            problems.extend(of_servers(one, &text, &shown.unwrap_or_else(|_| app.env.shown(file)), &servers));
        }
    }
    Ok(CheckedAgents { problems })
}

fn of_file(folder: &Path, file: &str, servers: &[ServerSettings]) -> Result<Vec<Problem>, AppError> {
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path).map_err(|error| invalid(format!("{file} can't be read: {error}")))?;
    let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let (definition, mut problems) = read_definition(&text, file, &stem, roles::Origin::Person(path));
    problems.extend(definition.iter().flat_map(|one| of_servers(one, &text, file, servers)));
    Ok(problems)
}

/// The tools that a definition names of MCP servers which are not in use: its agent goes without them.
fn of_servers(one: &Definition, text: &str, shown: &str, servers: &[ServerSettings]) -> Vec<Problem> {
    let missing = without_server(one.tools.only.iter().flatten(), servers);
    let problem = |(tool, why): (&str, String)| Problem {
        file: shown.to_owned(),
        line: text.lines().position(|line| line.contains(tool)).map_or(1, |before| before + 1),
        level: Level::Warning,
        what: format!("the agent goes without {tool}: {why}"),
    };
    missing.into_iter().map(problem).collect()
}
