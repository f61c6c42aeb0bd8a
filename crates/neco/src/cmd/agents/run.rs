//! The forms of `neco agents`.

use neco_config::Env;
use neco_proto::AgentOrder;
use neco_proto::app::agents::{CheckAgents, Level, ListAgents, ShowAgent};
use neco_proto::app::{Caller, Trouble};
use neco_view::agent_ask::AgentAsk;
use neco_view::paint::lists::agents as show;
use serde_json::json;

use super::reach;
use crate::args::EverywhereArgs;
use crate::cmd::program::{ask_once, with_files};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;
use crate::workflow_args::{AgentsCommand, TextArgs, WhichSession};

/// Runs `neco agents …`.
///
/// # Errors
/// When there is no such agent, or a file can't be read.
pub fn run(command: &AgentsCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = crate::folder(everywhere)?.display().to_string();
    match command {
        AgentsCommand::List { json } => {
            let list = ask_once(&ListAgents { folder }, everywhere, env)?;
            say::out(&if *json { show::all_json(&list) } else { show::all(&list, env.home()) })?;
            if !json {
                list.problems.iter().for_each(|problem| say::note(&problem.to_string()));
            }
            Ok(Exit::Done)
        }
        AgentsCommand::Status { agent, which, json } => {
            reach::ask(AgentAsk::Status { agent: agent.clone() }, which, *json, everywhere, env)
        }
        AgentsCommand::Tell(args) => args.ask("tell", everywhere, env),
        AgentsCommand::Redirect(args) => args.ask("redirect", everywhere, env),
        AgentsCommand::Answer(args) => args.ask("answer", everywhere, env),
        AgentsCommand::Set(args) => args.ask("set", everywhere, env),
        AgentsCommand::Pause { agent, which } => order(agent, AgentOrder::Pause, which, everywhere, env),
        AgentsCommand::Resume { agent, which } => order(agent, AgentOrder::Resume, which, everywhere, env),
        AgentsCommand::Cancel { agent, which } => order(agent, AgentOrder::Cancel, which, everywhere, env),
        AgentsCommand::Show { name, json } => {
            let wanted = ShowAgent { folder, name: name.clone() };
            let shown = with_files(everywhere, env, async |app| Ok(app.ask(&Caller::person(), &wanted).await))?;
            let shown = match shown {
                // What has a number behind it is one that works.
                Err(error) if error.trouble == Trouble::NotFound && names_one_at_work(name) => {
                    let ask = AgentAsk::Status { agent: Some(name.clone()) };
                    return reach::ask(ask, &WhichSession::default(), *json, everywhere, env);
                }
                shown => shown?,
            };
            say::out(&if *json { show::one_json(&shown) } else { show::one(&shown, env.home()) })?;
            Ok(Exit::Done)
        }
        AgentsCommand::Validate { files, json } => {
            let files = files.iter().map(|file| file.display().to_string()).collect();
            let problems = ask_once(&CheckAgents { folder, files }, everywhere, env)?.problems;
            say::out(&if *json { format!("{:#}\n", json!(problems)) } else { show::problems(&problems) })?;
            let broken = problems.iter().any(|problem| problem.level == Level::Error);
            Ok(if broken { Exit::Failed } else { Exit::Done })
        }
    }
}

impl TextArgs {
    fn ask(&self, verb: &str, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
        let ask = AgentAsk::parse(&format!("{verb} {} {}", self.agent, self.text.join(" "))).map_err(Failure::usage)?;
        reach::ask(ask, &self.which, false, everywhere, env)
    }
}

fn order(
    agent: &str,
    order: AgentOrder,
    which: &WhichSession,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<Exit, Failure> {
    reach::ask(AgentAsk::Order { agent: agent.to_owned(), order }, which, false, everywhere, env)
}

fn names_one_at_work(name: &str) -> bool {
    let number = name.rsplit_once('-').map(|(_, number)| number);
    name == "root"
        || number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}
