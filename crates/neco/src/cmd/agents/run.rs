//! The forms of `neco agents`.

use std::path::{Path, PathBuf};

use neco_app::workspace::plugged::Plugged;
use neco_app::workspace::told_files::agent_places;
use neco_config::{Env, LoadOptions};
use neco_proto::AgentOrder;
use neco_proto::agent_ask::AgentAsk;
use neco_session::roles::{DefinitionPlaces, Definitions, Level, Origin, Problem, read_definition};
use serde_json::json;

use super::{reach, show};
use crate::args::EverywhereArgs;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::clean_line;
use crate::say;
use crate::workflow_args::{AgentsCommand, TextArgs, WhichSession};

/// Runs `neco agents …`.
///
/// # Errors
/// When there is no such agent, or a file can't be read.
pub fn run(command: &AgentsCommand, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = crate::folder(everywhere)?;
    match command {
        AgentsCommand::List { json } => {
            let found = definitions(&folder, everywhere, env)?;
            say::out(&if *json { show::all_json(&found) } else { show::all(&found, env) })?;
            if !json {
                found.problems().iter().for_each(|problem| say::note(&problem.to_string()));
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
            let found = definitions(&folder, everywhere, env)?;
            let definition = match found.find(name) {
                Ok(definition) => definition,
                // What has a number behind it is one that works.
                Err(_) if names_one_at_work(name) => {
                    let ask = AgentAsk::Status { agent: Some(name.clone()) };
                    return reach::ask(ask, &WhichSession::default(), *json, everywhere, env);
                }
                Err(error) => {
                    return Err(Failure::usage(error.to_string())
                        .hint("`neco agents list` lists them; `neco agents validate` says why one is missing."));
                }
            };
            say::out(&if *json { show::one_json(definition) } else { show::one(definition, env) })?;
            Ok(Exit::Done)
        }
        AgentsCommand::Validate { files, json } => {
            let problems = match files.is_empty() {
                true => definitions(&folder, everywhere, env)?.problems().to_vec(),
                false => of_files(files)?,
            };
            tell(&problems, *json)?;
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

/// The definitions that count in a folder, as a session there would have them.
fn definitions(folder: &Path, everywhere: &EverywhereArgs, env: &Env) -> Result<Definitions, Failure> {
    let loaded = neco_config::load(LoadOptions { env, cwd: folder, overrides: &everywhere.overrides })?;
    let trusted = Plugged::look(env, folder, &loaded).trusted_agents();
    Ok(Definitions::load(&DefinitionPlaces { trusted, ..agent_places(env) }, folder))
}

fn of_files(files: &[PathBuf]) -> Result<Vec<Problem>, Failure> {
    let mut problems = Vec::new();
    for file in files {
        let text = std::fs::read_to_string(file)
            .map_err(|error| Failure::usage(format!("{} can't be read: {error}", file.display())))?;
        let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let origin = Origin::Person(std::path::absolute(file).unwrap_or_else(|_| file.clone()));
        problems.extend(read_definition(&text, &file.display().to_string(), &stem, origin).1);
    }
    Ok(problems)
}

fn tell(problems: &[Problem], as_json: bool) -> Result<(), Failure> {
    if as_json {
        let value = |problem: &Problem| json!({ "file": problem.file, "line": problem.line, "level": problem.level.name(), "message": problem.what });
        return say::out(&format!("{:#}\n", json!(problems.iter().map(value).collect::<Vec<_>>())));
    }
    if problems.is_empty() {
        return say::out("nothing is wrong\n");
    }
    let line = |problem: &Problem| {
        let Problem { file, line, level, what } = problem;
        format!("{}:{line}: {}: {}\n", clean_line(file), level.name(), clean_line(what))
    };
    say::out(&problems.iter().map(line).collect::<String>())
}
