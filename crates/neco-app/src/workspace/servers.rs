//! The MCP servers of a folder: in boxes of their own, shared by the sessions in it; and its scripted tools beside theirs.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use futures::FutureExt;
use neco_ext::mcp::{McpError, McpSetup, ServerProgram, ServerSettings, ServerState, Servers};
use neco_ext::scripts;
use neco_proto::ToolOrigin;
use neco_safety::world::{Files, Processes};
use neco_sandbox::{Roots, Spawner};
use neco_session::hub::{Preparation, Prepare};

use crate::services::{environment, hidden_variables};
use crate::workspace::folder::{FolderState, Workspace};
use crate::workspace::rules::{self, RuleFlags};
use crate::workspace::sandbox::own_program;
use crate::workspace::server_logins::ServerLogins;
use crate::workspace::told_before::ToldBefore;

/// How long a single request waits for servers of which nobody knows yet what they offer, and a conversation, whose person
/// wants to see their message; they go on starting after it.
const PATIENCE: Duration = Duration::from_secs(20);
const IN_CONVERSATION: Duration = Duration::from_secs(2);

/// The servers of a folder that brings this; none is started.
pub(super) fn servers(workspace: &Arc<Workspace>, state: &FolderState) -> Servers {
    let folder = workspace.folder().to_owned();
    let of: Weak<Workspace> = Arc::downgrade(workspace);
    let processes = Arc::new(move |program: &ServerProgram| match of.upgrade() {
        Some(workspace) => starter(&workspace, program),
        None => Err(io::Error::other("nobody works in the folder any more")),
    });
    let redactor = workspace.redactor().clone();
    let (data_dir, logins) = (workspace.env().data_dir().to_owned(), Arc::new(ServerLogins::new(workspace.env())));
    let setup = McpSetup { folder, data_dir, processes, redactor, logins };
    let servers = Servers::new(setup, known(workspace, state));
    plug_in_scripts(&servers, state);
    servers
}

/// Agents have the scripted tools that may be used now.
pub(super) fn plug_in_scripts(servers: &Servers, state: &FolderState) {
    let own = own_program();
    let tools = scripts::tools(state.plugged.scripts(), own.parent());
    servers.plugged().replace(|origin| matches!(origin, ToolOrigin::Script { .. }), tools);
}

/// The servers that may be used, whose secrets nobody is told from now on.
pub(super) fn known(workspace: &Workspace, state: &FolderState) -> Vec<ServerSettings> {
    let servers = state.plugged.servers();
    let hidden = hidden_variables(&state.loaded.config);
    // At once: what is learnt costs by how often that is.
    workspace.redactor().learn(servers.iter().flat_map(|server| server.secrets(&hidden)));
    servers
}

/// What starts the program of a server: in the folder's sandbox, without our secrets and without what rules close.
/// Flags of one opening are not among these rules: a folder's sessions share its servers.
fn starter(workspace: &Workspace, program: &ServerProgram) -> io::Result<Arc<dyn Processes>> {
    let (state, env) = (workspace.now(), workspace.env());
    let spawner = Spawner::new(environment(env), &hidden_variables(&state.loaded.config));
    let rules = rules::load(&RuleFlags::default(), env, workspace.folder(), &state.loaded, &state.plugged);
    let policy = rules.map_err(|error| io::Error::other(error.message))?.policy;
    let files =
        Files::new(workspace.folder(), program.plugin.iter().cloned().collect())?.with_roots(&program.writable)?;
    let files = files.with_closed(policy.closed());
    let spawner = spawner.boxed(&state.sandbox, Roots::from(&files))?;
    Ok(Arc::new(spawner.closing(files.closed())))
}

/// What a turn begins without, in words.
struct Missing {
    failed: Vec<String>,
    /// Those that may still come.
    starting: Option<String>,
}

/// What could not be started, in words: what is found out after a turn had begun without it, the next turn tells.
type Failures = Arc<Mutex<Vec<String>>>;

/// Starts the servers of which nobody knows yet what they offer, before a turn that could use them; those that were
/// `given` with the session at once, as whoever gave them shows what they offer. That one can't be reached is said again
/// where it was not `told` yet.
pub(crate) fn prepare(servers: Servers, given: Vec<String>, interactive: bool, told: ToldBefore) -> Prepare {
    let patience = if interactive { IN_CONVERSATION } else { PATIENCE };
    let (failed_late, said_before) = (Failures::default(), Failures::default());
    if !given.is_empty() {
        let (servers, names, failed_late) = (servers.clone(), given.clone(), Arc::clone(&failed_late));
        tokio::spawn(async move {
            servers.start(names.clone()).await;
            let (failed, _) = looked_at(&servers, &names);
            locked(&failed_late).extend(failed);
        });
    }
    Arc::new(move || {
        let starting =
            servers.standing(|name, state| given.iter().any(|one| one == name) && *state == ServerState::Starting);
        let mut names = servers.unknown();
        names.extend(starting.into_iter().map(|(settings, _)| settings.name));
        let mut late = std::mem::take(&mut *locked(&failed_late));
        let said_before = Arc::clone(&said_before);
        late.retain(|words| !locked(&said_before).contains(words));
        let told = told.clone();
        if names.is_empty() && late.is_empty() {
            return None;
        }
        if names.is_empty() {
            let words = || "MCP servers that were still starting can't be used".to_owned();
            let work = async move { news(&told, &said_before, late).await }.boxed();
            return Some(Preparation { words: Box::new(words), work });
        }
        let (of, wanted) = (servers.clone(), names.clone());
        let words = Box::new(move || {
            let (_, starting) = looked_at(&of, &wanted);
            format!("Waiting for {}, for at most {} s", named(&starting), patience.as_secs())
        });
        let work = start(servers.clone(), names, patience, Arc::clone(&failed_late));
        let work = work.then(async move |said| {
            let failed = news(&told, &said_before, late.into_iter().chain(said.failed).collect()).await;
            failed.into_iter().chain(said.starting).collect()
        });
        Some(Preparation { words, work: work.boxed() })
    })
}

/// What of this is to be told: a server that whoever opened the session gave is looked at when it is started and before
/// a turn, and what is wrong with it is told once.
async fn news(told: &ToldBefore, said_before: &Failures, failed: Vec<String>) -> Vec<String> {
    let mut once: Vec<String> = Vec::new();
    for words in failed {
        if !once.contains(&words) {
            once.push(words);
        }
    }
    locked(said_before).extend(once.iter().cloned());
    told.news(once).await
}

fn locked(said: &Failures) -> MutexGuard<'_, Vec<String>> {
    said.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts servers and waits a while for them; says which can't be used, and which are still starting.
async fn start(servers: Servers, names: Vec<String>, patience: Duration, failed_late: Failures) -> Missing {
    let (starting, wanted) = (servers.clone(), names.clone());
    let mut started = tokio::spawn(async move { starting.start(wanted).await });
    match tokio::time::timeout(patience, &mut started).await {
        Ok(Ok(errors)) => {
            let failed = errors.iter().map(|error| sentence(&error.to_string())).collect();
            return Missing { failed, starting: None };
        }
        Ok(Err(error)) => {
            let failed = vec![format!("MCP servers could not be started: {error}")];
            return Missing { failed, starting: None };
        }
        Err(_) => {}
    }
    // One that hangs must not keep what is wrong with the others from being told.
    let (failed, starting) = looked_at(&servers, &names);
    let missing = Missing { failed, starting: still_starting(&starting) };
    tokio::spawn(async move {
        let _ = started.await;
        let (failed, _) = looked_at(&servers, &starting);
        locked(&failed_late).extend(failed);
    });
    missing
}

/// Those of these servers that can't be used, in words, and those that are still starting.
fn looked_at(servers: &Servers, names: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut failed, mut starting) = (Vec::new(), Vec::new());
    for (ServerSettings { name, .. }, state) in servers.standing(|name, _| names.iter().any(|one| one == name)) {
        match state {
            ServerState::Failed(why) => failed.push(McpError::Connection { server: name, why }),
            ServerState::NeedsLogin => failed.push(McpError::NeedsLogin(name)),
            ServerState::Configured | ServerState::Starting => starting.push(name),
            ServerState::Disabled | ServerState::Known | ServerState::Running => {}
        }
    }
    (failed.iter().map(|error| sentence(&error.to_string())).collect(), starting)
}

fn still_starting(names: &[String]) -> Option<String> {
    match names {
        [] => None,
        [only] => Some(format!("The MCP server {only} is still starting; its tools follow when it is ready")),
        several => Some(format!(
            "{} MCP servers are still starting: {}; their tools follow when they are ready",
            several.len(),
            several.join(", ")
        )),
    }
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

#[cfg(test)]
mod tests {
    use neco_config::Env;
    use neco_safety::secrets::Redactor;

    use super::*;
    use crate::running_sessions::RunningSessions;

    #[tokio::test]
    async fn what_is_found_out_twice_is_told_once() {
        let (told, said_before) = (ToldBefore::nothing(), Failures::default());
        let twice = vec!["it is gone".to_owned(); 2];
        assert_eq!(news(&told, &said_before, twice).await, ["it is gone"]);
        assert_eq!(*locked(&said_before), ["it is gone"]);
    }

    #[tokio::test]
    async fn what_is_wrong_with_one_is_told_while_another_is_still_starting() {
        let home = tempfile::tempdir().unwrap();
        let settings = "[mcp_servers.bad]\ncommand = 'false'\nsandbox = false\n[mcp_servers.slow]\ncommand = 'cat'\n";
        std::fs::write(home.path().join("config.toml"), settings).unwrap();
        let vars = [("NECO_HOME", home.path().to_str().unwrap()), ("PATH", "/usr/bin:/bin")];
        let (env, full) = (Env::for_test(vars, home.path()), ["sandbox.level=full".to_owned()]);
        let open = RunningSessions::default();
        let workspace = Workspace::open(&env, home.path(), &full, &Redactor::default(), open).map(Arc::new);
        let workspace = workspace.unwrap_or_else(|error| panic!("{}", error.message));
        let servers = workspace.servers();
        assert!(servers.learn("bad").await.is_err());
        let (failed, starting) = looked_at(servers, &["bad".to_owned(), "slow".to_owned()]);
        assert!(failed.len() == 1 && failed[0].starts_with("Can't connect to the MCP server bad: "), "{failed:?}");
        let told = still_starting(&starting).unwrap();
        assert_eq!(told, "The MCP server slow is still starting; its tools follow when it is ready");
        assert_eq!(looked_at(servers, &[]), (Vec::new(), Vec::new()));
    }
}
