//! `neco agents`: the agents that can do a part of the work, and those that are at it in a session that another process
//! runs.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, Subcommand};
use neco_app::other_processes::Attached;
use neco_config::Env;
use neco_proto::app::agents::{CheckAgents, Level, ListAgents, ShowAgent};
use neco_proto::app::opening::WhichSession;
use neco_proto::app::sessions::{ListSessions, SessionState};
use neco_proto::app::{Caller, Trouble};
use neco_proto::event::{AgentNode, AgentState};
use neco_proto::{AgentOrder, Client, ClientError, SessionId};
use neco_store::SessionRecord;
use neco_view::agent_ask::{self, AgentAsk};
use neco_view::paint::lists::agents as show;
use serde_json::json;

use super::program::{ask_of, ask_once, block_on, folder, print, with_files, with_store};
use crate::agent_orders;
use crate::args::{EverywhereArgs, JsonArg};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::agents;
use crate::print::clean::clean_line;
use crate::run::attach;
use crate::say;
use crate::short_id::short_id;
use crate::terminal;

/// Sessions of a folder that are looked at for one that runs.
const LOOKED_AT: usize = 200;

const AT_WORK: &str = "\
The session is the one that is open in this folder; --session names another.
`status` alone lists the agents of every session that is open there.
In the window and in neco repl this is /agents VERB AGENT …
Exit codes: 0 done, 1 it can't be done now, 2 nothing is running or there is no such agent.";

/// `neco agents …`
#[derive(Debug, Subcommand)]
pub enum AgentsCommand {
    /// Lists the agents that can be used, and where they are defined
    List {
        #[command(flatten)]
        json: JsonArg,
    },
    /// Shows who an agent is: its prompt, tools, model and limits
    Show {
        /// Its name
        name: String,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Checks definitions: those of this folder and yours, or the files named
    Validate {
        /// Files
        #[arg(value_name = "FILE")]
        files: Vec<PathBuf>,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Shows the agents of the session that is open here, or one of them in detail
    #[command(after_help = AT_WORK)]
    Status {
        /// Its name, such as explore-1, or the beginning of its id
        agent: Option<String>,
        #[command(flatten)]
        which: SessionArg,
        #[command(flatten)]
        json: JsonArg,
    },
    /// Gives a running agent another task, after its current one
    #[command(after_help = AT_WORK)]
    Tell(TextArgs),
    /// Corrects a running agent: it reads it at its next turn
    #[command(after_help = AT_WORK)]
    Redirect(TextArgs),
    /// Answers the question of an agent
    #[command(after_help = AT_WORK)]
    Answer(TextArgs),
    /// Pauses an agent and all agents below it
    #[command(after_help = AT_WORK)]
    Pause(WhichAgent),
    /// Resumes a paused agent
    #[command(after_help = AT_WORK)]
    Resume(WhichAgent),
    /// Stops an agent and all agents below it, with every process they started
    #[command(after_help = AT_WORK)]
    Cancel(WhichAgent),
    /// Starts an agent over with its first task, without the agents below it; also one that failed
    #[command(after_help = AT_WORK)]
    Retry(WhichAgent),
    /// Changes the model, budget or tools of a running agent: model=NAME tokens=COUNT cost=USD tools=A,B
    #[command(after_help = AT_WORK)]
    Set(TextArgs),
}

/// Which session is meant.
#[derive(Debug, Default, Args)]
pub struct SessionArg {
    /// The id of an open session, or a part of it; without it the one of this folder
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

/// An agent that works.
#[derive(Debug, Args)]
pub struct WhichAgent {
    /// Its name, such as explore-1, or the beginning of its id
    agent: String,
    #[command(flatten)]
    which: SessionArg,
}

/// An agent and words for it.
#[derive(Debug, Args)]
pub struct TextArgs {
    /// Its name, such as explore-1, or the beginning of its id
    agent: String,
    /// What it is told
    #[arg(required = true)]
    text: Vec<String>,
    #[command(flatten)]
    which: SessionArg,
}

/// Runs `neco agents …`.
pub fn run(command: &AgentsCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = folder(everywhere)?;
    let order = |of: &WhichAgent, order: AgentOrder| {
        reach(AgentAsk::Order { agent: of.agent.clone(), order }, &of.which, JsonArg::default(), everywhere, env)
    };
    let tell = |verb: &str, args: &TextArgs| {
        let words = format!("{verb} {} {}", args.agent, args.text.join(" "));
        reach(
            AgentAsk::parse(&words).map_err(|error| Failure::usage(error.to_string()))?,
            &args.which,
            JsonArg::default(),
            everywhere,
            env,
        )
    };
    match command {
        AgentsCommand::List { json } => {
            let list = ask_once(&ListAgents { folder }, everywhere, env)?;
            say::out(&if json.json { show::all_json(&list) } else { show::all(&list, env.home()) })?;
            if !json.json {
                list.problems.iter().for_each(|problem| say::note(&problem.to_string()));
            }
            Ok(Exit::Done)
        }
        AgentsCommand::Status { agent, which, json } => {
            reach(AgentAsk::Status { agent: agent.clone() }, which, *json, everywhere, env)
        }
        AgentsCommand::Tell(args) => tell("tell", args),
        AgentsCommand::Redirect(args) => tell("redirect", args),
        AgentsCommand::Answer(args) => tell("answer", args),
        AgentsCommand::Set(args) => tell("set", args),
        AgentsCommand::Pause(agent) => order(agent, AgentOrder::Pause),
        AgentsCommand::Resume(agent) => order(agent, AgentOrder::Resume),
        AgentsCommand::Cancel(agent) => order(agent, AgentOrder::Cancel),
        AgentsCommand::Retry(agent) => order(agent, AgentOrder::Retry),
        AgentsCommand::Show { name, json } => {
            let wanted = ShowAgent { folder, name: name.clone() };
            let shown = with_files(everywhere, env, async |app| Ok(app.ask(&Caller::person(), &wanted).await))?;
            let shown = match shown {
                // What has a number behind it is one that works.
                Err(error) if error.trouble == Trouble::NotFound && names_one_at_work(name) => {
                    let ask = AgentAsk::Status { agent: Some(name.clone()) };
                    return reach(ask, &SessionArg::default(), *json, everywhere, env);
                }
                shown => shown?,
            };
            say::out(&if json.json { show::one_json(&shown) } else { show::one(&shown, env.home()) })?;
            Ok(Exit::Done)
        }
        AgentsCommand::Validate { files, json } => {
            let files = files.iter().map(|file| file.display().to_string()).collect();
            let problems = ask_once(&CheckAgents { folder, files }, everywhere, env)?.problems;
            print(*json, &problems, || show::problems(&problems))?;
            let broken = problems.iter().any(|problem| problem.level == Level::Error);
            Ok(if broken { Exit::Failed } else { Exit::Done })
        }
    }
}

fn names_one_at_work(name: &str) -> bool {
    let number = name.rsplit_once('-').map(|(_, number)| number);
    name == "root"
        || number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A session that runs, with its agents.
struct Running {
    id: SessionId,
    title: String,
    client: Arc<dyn Client>,
    nodes: Vec<AgentNode>,
    root_does: AgentState,
}

/// Asks something of an agent in the session that is meant.
fn reach(
    ask: AgentAsk,
    which: &SessionArg,
    json: JsonArg,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<Exit, Failure> {
    let folder = folder(everywhere)?;
    block_on(async {
        let open = match &which.session {
            Some(id) => vec![named(id, env).await?],
            None => open_here(&folder, everywhere, env).await?,
        };
        let of_all = matches!(ask, AgentAsk::Status { agent: None }) && !json.json;
        let running = if of_all { open } else { vec![meant(&ask, open)?] };
        let mut texts = Vec::new();
        for one in &running {
            let heading = if running.len() > 1 { format!("{}\n", one.name()) } else { String::new() };
            let text = match (&ask, json.json) {
                (AgentAsk::Status { agent }, true) => as_json(agent.as_deref(), one)?,
                (_, _) => said(ask.clone(), one, env).await?,
            };
            texts.push(format!("{heading}{}\n", text.trim_end()));
        }
        say::out(&texts.join("\n")).map(|()| Exit::Done)
    })
}

impl Running {
    /// What a person knows it by, with the id that commands take.
    fn name(&self) -> String {
        match clean_line(&self.title) {
            title if title.is_empty() => short_id(self.id),
            title => format!("{} ({title})", short_id(self.id)),
        }
    }
}

async fn said(ask: AgentAsk, running: &Running, env: &Env) -> Result<String, Failure> {
    let terminal = terminal::look_at(env);
    let (client, width, paint) = (running.client.as_ref(), terminal.stdout_width(), terminal.stdout_paint());
    if matches!(ask, AgentAsk::Status { agent: None }) {
        // The session may have closed since it was asked.
        return Ok(agents::open_tree(&running.nodes, running.root_does, width, paint));
    }
    let done = agent_orders::carry_out(client, ask, "neco agents", width, paint).await;
    done.map_err(|error| Failure::new(Exit::Failed, error.to_string()))
}

fn as_json(agent: Option<&str>, running: &Running) -> Result<String, Failure> {
    let value = match agent {
        None => json!({ "session_id": running.id, "nodes": running.nodes }),
        Some(agent) => {
            json!(agent_ask::find(&running.nodes, agent).map_err(|error| Failure::usage(error.to_string()))?)
        }
    };
    Ok(format!("{value:#}"))
}

async fn named(id: &str, env: &Env) -> Result<Running, Failure> {
    match attach::find(&WhichSession::Id(id.to_owned()), Path::new(""), env).await? {
        Some((attached, record)) => Ok(look(attached, record).await?),
        None => Err(nothing_runs(&format!("session {} is not open in any process", clean_line(id)))),
    }
}

async fn look(Attached { client, .. }: Attached, record: SessionRecord) -> Result<Running, ClientError> {
    let nodes = agent_orders::nodes(client.as_ref()).await?;
    let root_does = agent_orders::root_does(client.as_ref()).await?;
    Ok(Running { id: record.id, title: record.title, nodes, root_does, client })
}

/// The sessions of this folder that run, at least one. Those that do not answer are named, and hide no other.
async fn open_here(folder: &str, everywhere: &EverywhereArgs, env: &Env) -> Result<Vec<Running>, Failure> {
    let request =
        ListSessions { folder: Some(folder.to_owned()), limit: LOOKED_AT, states: true, ..ListSessions::default() };
    let found = with_store(everywhere, env, async |app| ask_of(app, &request).await).await?;
    let mut asked = Vec::new();
    for row in found.sessions.iter().filter(|row| row.state == Some(SessionState::Open)) {
        asked.extend(ask_one(row.id, env).await.transpose());
    }
    let (answered, silent) = answering(asked)?;
    silent.iter().for_each(|failure| say::note(&failure.message));
    Ok(answered)
}

/// An open session with its agents; nothing of one that was closed meanwhile.
async fn ask_one(id: SessionId, env: &Env) -> Result<Option<Running>, Failure> {
    let found = attach::find(&WhichSession::Id(id.to_string()), Path::new(""), env).await?;
    let Some((attached, record)) = found else { return Ok(None) };
    match look(attached, record).await {
        Ok(running) => Ok(Some(running)),
        Err(ClientError::Gone) => Ok(None),
        Err(error) => {
            let message = format!("session {} does not answer: {error}", short_id(id));
            Err(Failure { message, ..Failure::from(error) })
        }
    }
}

/// Those that answered, and why the others did not. Fails when none did.
fn answering<T>(asked: Vec<Result<T, Failure>>) -> Result<(Vec<T>, Vec<Failure>), Failure> {
    let (mut answered, mut silent) = (Vec::new(), Vec::new());
    for one in asked {
        match one {
            Ok(one) => answered.push(one),
            Err(error) => silent.push(error),
        }
    }
    match answered.is_empty() {
        true => Err(silent.pop().unwrap_or_else(|| nothing_runs("no session is open in this folder"))),
        false => Ok((answered, silent)),
    }
}

/// The one session that is meant; of several, the one that has such an agent.
fn meant(ask: &AgentAsk, mut running: Vec<Running>) -> Result<Running, Failure> {
    if let [_, _, ..] = running.as_slice() {
        let agent = match ask {
            AgentAsk::Status { agent } => agent.as_deref(),
            AgentAsk::Order { agent, .. } => Some(agent.as_str()),
        };
        running.retain(|one| agent.is_none_or(|agent| agent_ask::find(&one.nodes, agent).is_ok()));
    }
    let hint = match ask {
        AgentAsk::Status { agent: None } => {
            "Name one with --session, or leave out --json to have the agents of all of them listed."
        }
        AgentAsk::Status { agent: Some(_) } | AgentAsk::Order { .. } => {
            "Name one with --session; `neco agents status` lists the agents of all of them."
        }
    };
    let names: Vec<String> = running.iter().map(Running::name).collect();
    match (running.pop(), names.len()) {
        (Some(one), 1) => Ok(one),
        (Some(_), _) => Err(Failure::usage(format!("several sessions are open here: {}", names.join(", "))).hint(hint)),
        (None, _) => Err(nothing_runs("no session that is open here has such an agent")),
    }
}

fn nothing_runs(words: &str) -> Failure {
    Failure::usage(words.to_owned()).hint(
        "Agents can be reached while their session is open (neco, neco repl, neco -m, neco workflow run); \
         `neco session tree` shows how they ended.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_that_does_not_answer_hides_no_other() {
        let stuck = || Failure::new(Exit::Failed, "stuck");
        assert_eq!(answering(vec![Ok(1), Err(stuck()), Ok(2)]), Ok((vec![1, 2], vec![stuck()])));
        assert_eq!(answering::<u8>(vec![Err(stuck())]), Err(stuck()));
        assert_eq!(answering::<u8>(Vec::new()).map_err(|failure| failure.exit), Err(Exit::Usage));
    }
}
