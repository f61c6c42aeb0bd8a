//! Asking something of the agents of a session that another process runs.

use std::path::Path;

use neco_app::services::{self, ServiceSetup};
use neco_config::{Config, Env};
use neco_proto::event::AgentNode;
use neco_session::SessionError;
use neco_store::{EventLog, SessionRecord};
use neco_view::agent_ask::{self, AgentAsk};
use serde_json::json;

use crate::agent_orders;
use crate::args::EverywhereArgs;
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::clean_line;
use crate::run::attach::{self, Attached, Which};
use crate::say;
use crate::short_id::short_id;
use crate::terminal::{self, Terminal};
use crate::workflow_args::WhichSession;

/// Sessions of a folder that are looked at for one that runs.
const LOOKED_AT: usize = 200;

/// A session that runs, with its agents.
struct Running {
    attached: Attached,
    nodes: Vec<AgentNode>,
}

/// Asks it of the agent in the session that is meant.
///
/// # Errors
/// When no such session runs, there is no such agent, or it can't be done now.
pub fn ask(
    ask: AgentAsk,
    which: &WhichSession,
    json: bool,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<Exit, Failure> {
    let folder = crate::folder(everywhere)?;
    let runtime = compose::runtime()?;
    let done = runtime.block_on(async {
        let running = match &which.session {
            Some(id) => named(id, env).await?,
            None => meant(&ask, &folder, env).await?,
        };
        let text = match (&ask, json) {
            (AgentAsk::Status { agent }, true) => as_json(agent.as_deref(), &running)?,
            (_, _) => said(ask, &running, env).await?,
        };
        say::out(&format!("{}\n", text.trim_end()))
    });
    runtime.shutdown_background();
    done.map(|()| Exit::Done)
}

async fn said(ask: AgentAsk, running: &Running, env: &Env) -> Result<String, Failure> {
    let terminal = Terminal::look_at(env);
    let width = if terminal.stdout { terminal::stdout_width() } else { usize::MAX };
    let done = agent_orders::carry_out(&running.attached.client, ask, width, terminal.stdout_paint()).await;
    done.map_err(|words| Failure::new(Exit::Failed, words))
}

fn as_json(agent: Option<&str>, running: &Running) -> Result<String, Failure> {
    let session = running.attached.record.id;
    let value = match agent {
        None => json!({ "session_id": session, "nodes": running.nodes }),
        Some(agent) => json!(agent_ask::find(&running.nodes, agent).map_err(Failure::usage)?),
    };
    Ok(format!("{value:#}"))
}

async fn named(id: &str, env: &Env) -> Result<Running, Failure> {
    match attach::find(Which::Id(id), env).await? {
        Some(attached) => look(attached).await,
        None => Err(nothing_runs(&format!("no process has a session {} open", clean_line(id)))),
    }
}

async fn look(attached: Attached) -> Result<Running, Failure> {
    let nodes = agent_orders::nodes(&attached.client).await?;
    Ok(Running { attached, nodes })
}

/// The one session of this folder that runs; of several, the one that has such an agent.
async fn meant(ask: &AgentAsk, folder: &Path, env: &Env) -> Result<Running, Failure> {
    let open = open_in(folder, env).await?;
    let mut running = Vec::new();
    for record in open {
        if let Some(attached) = attach::find(Which::Id(&record.id.to_string()), env).await? {
            running.push(look(attached).await?);
        }
    }
    if running.is_empty() {
        return Err(nothing_runs("no process has a session of this folder open"));
    }
    if let [_, _, ..] = running.as_slice() {
        running.retain(|one| agent_of(ask).is_none_or(|agent| agent_ask::find(&one.nodes, agent).is_ok()));
    }
    let ids: Vec<String> = running.iter().map(|one| short_id(one.attached.record.id)).collect();
    match (running.pop(), ids.len()) {
        (Some(one), 1) => Ok(one),
        (Some(_), _) => Err(Failure::usage(format!("several sessions run here: {}", ids.join(", ")))
            .hint("Name one with --session; `neco agents status --session ID` lists its agents.")),
        (None, _) => Err(nothing_runs("none of the sessions that run here has such an agent")),
    }
}

fn agent_of(ask: &AgentAsk) -> Option<&str> {
    match ask {
        AgentAsk::Status { agent } => agent.as_deref(),
        AgentAsk::Order { agent, .. } => Some(agent),
    }
}

/// The sessions of a folder, or of the nearest one above it, that some process has open.
async fn open_in(folder: &Path, env: &Env) -> Result<Vec<SessionRecord>, Failure> {
    let store = compose::open_store(env.data_dir()).await?;
    let hub = services::hub(&store, ServiceSetup::bare(env, &Config::built_in()))?;
    let found = async {
        let here = hub.list(Some(folder), LOOKED_AT).await?;
        if !here.is_empty() {
            return Ok(here);
        }
        match hub.nearest(folder).await? {
            Some(above) => hub.list(Some(&above), LOOKED_AT).await,
            None => Ok(Vec::new()),
        }
    };
    let found: Result<Vec<SessionRecord>, SessionError> = found.await;
    drop(hub);
    let mut open = Vec::new();
    for record in found? {
        if store.is_leased(record.id).await {
            open.push(record);
        }
    }
    store.close().await?;
    Ok(open)
}

fn nothing_runs(words: &str) -> Failure {
    Failure::usage(words.to_owned()).hint(
        "Agents are asked while a process has their session open (neco, neco repl, neco -m, neco workflow run); \
         `neco session tree` shows how they stood last.",
    )
}
