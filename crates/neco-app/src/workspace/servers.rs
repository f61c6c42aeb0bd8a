//! The MCP servers of a folder: in boxes of their own, shared by the sessions in it.

use std::io;
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures::FutureExt;
use neco_ext::mcp::{McpSetup, ServerProgram, ServerSettings, Servers};
use neco_safety::world::{Files, Processes};
use neco_sandbox::{Roots, Spawner};
use neco_session::hub::{Preparation, Prepare};

use crate::services::{environment, hidden_variables};
use crate::workspace::folder::{FolderState, Workspace};
use crate::workspace::server_logins::ServerLogins;

/// How long a turn waits for servers of which nobody knows yet what they offer; they go on starting after it.
const PATIENCE: Duration = Duration::from_secs(20);

/// The servers of a folder; none is started.
pub(super) fn servers(workspace: &Arc<Workspace>) -> Servers {
    let folder = workspace.folder().to_owned();
    let of: Weak<Workspace> = Arc::downgrade(workspace);
    let processes = Arc::new(move |program: &ServerProgram| match of.upgrade() {
        Some(workspace) => starter(&workspace, program),
        None => Err(io::Error::other("nobody works in the folder any more")),
    });
    let redactor = workspace.redactor().clone();
    let (data_dir, logins) = (workspace.env().data_dir().to_owned(), Arc::new(ServerLogins::new(workspace.env())));
    let setup = McpSetup { folder, data_dir, processes, redactor, logins };
    Servers::new(setup, known(workspace, &workspace.now()))
}

/// The servers that may be used, whose secrets nobody is told from now on.
pub(super) fn known(workspace: &Workspace, state: &FolderState) -> Vec<ServerSettings> {
    let servers = state.plugged.servers();
    let hidden = hidden_variables(&state.loaded.config);
    servers.iter().for_each(|server| workspace.redactor().learn(server.secrets(&hidden)));
    servers
}

/// What starts the program of a server: in the folder's sandbox, without our secrets.
fn starter(workspace: &Workspace, program: &ServerProgram) -> io::Result<Arc<dyn Processes>> {
    let (state, env) = (workspace.now(), workspace.env());
    let spawner = Spawner::new(environment(env), &hidden_variables(&state.loaded.config));
    let files = Files::new(workspace.folder(), Vec::new())?.with_roots(&program.writable)?;
    let spawner = spawner.boxed(&state.sandbox, Roots::from(&files))?;
    Ok(Arc::new(spawner.closing(files.closed())))
}

/// Starts the servers of which nobody knows yet what they offer, before a turn that could use them.
pub(crate) fn prepare(servers: Servers) -> Prepare {
    Arc::new(move || {
        let names = servers.unknown();
        if names.is_empty() {
            return None;
        }
        let (words, starting) = (format!("Starting {}", named(&names)), servers.clone());
        let work = async move {
            let started = tokio::spawn(async move { starting.start(names).await });
            match tokio::time::timeout(PATIENCE, started).await {
                Ok(Ok(errors)) => errors.iter().map(|error| sentence(&error.to_string())).collect(),
                Ok(Err(error)) => vec![format!("MCP servers could not be started: {error}")],
                Err(_) => vec!["MCP servers are still starting; their tools follow when they are ready".to_owned()],
            }
        };
        Some(Preparation { words, work: work.boxed() })
    })
}

fn named(names: &[String]) -> String {
    match names {
        [only] => format!("the MCP server {only}"),
        several => format!("{} MCP servers: {}", several.len(), several.join(", ")),
    }
}

/// The same, as a sentence begins.
fn sentence(words: &str) -> String {
    let mut chars = words.chars();
    chars.next().map(|first| first.to_uppercase().chain(chars).collect()).unwrap_or_default()
}
