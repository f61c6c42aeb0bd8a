//! `neco import`: the set-up of another agent, taken over.

use clap::Args;
use neco_config::Env;
use neco_proto::app::setups::{
    FindSetups, FoundSetup, ImportSetup, PluginToAdd, PreviewSetup, SetupAgent, SetupOutcome, SetupReport,
};
use neco_proto::app::{App, Known};
use neco_view::paint::lists::setups as list;

use super::confirm::person;
use super::plugin;
use super::program::{ask, ask_of, block_on, folder, print, with_files, with_store};
use crate::args::{Choices, EverywhereArgs, JsonArg, one_of};
use crate::exit::Exit;
use crate::failure::Failure;
use crate::say;

/// The agents.
const AGENTS: &Choices<SetupAgent> = &[
    (SetupAgent::ClaudeCode, "claude-code", "~/.claude, ~/.claude.json, .claude"),
    (SetupAgent::Codex, "codex", "~/.codex, .codex"),
    (SetupAgent::Gemini, "gemini", "~/.gemini, .gemini"),
    (SetupAgent::Opencode, "opencode", "~/.config/opencode, opencode.json, .opencode"),
    (SetupAgent::Cursor, "cursor", "~/.cursor, .cursor"),
    (SetupAgent::Openclaw, "openclaw", "~/.openclaw"),
    (SetupAgent::ClaudeCode, "claude", ""),
    (SetupAgent::Gemini, "gemini-cli", ""),
];

/// What follows the help.
pub const IMPORT: &str = "\
Models, providers, MCP servers, skills, commands, agents, rules, hooks, permissions and memory come in, as far as Neco
does not read them where they are. Keys are never copied: what holds one is told, with what to do. What you have set
here stays, the other agent's files stay as they are, and a second import changes nothing. Where a piece fails the others
come in all the same, and the exit code is 1.

Examples:
  neco import                        says which agents are set up, and asks
  neco import codex --dry-run        shows what would be done
  neco import claude-code --all      takes in all sessions, too

One session in a file is imported with `neco session import FILE`.";

/// `neco import …`
#[derive(Clone, Copy, Debug, Args)]
pub struct ImportArgs {
    /// The agent; without it those that are set up are listed
    #[arg(value_parser = one_of(AGENTS), value_name = "AGENT")]
    pub agent: Option<SetupAgent>,
    /// Shows what would be done, and writes nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Takes in the sessions of all folders, too
    #[arg(long)]
    pub all: bool,
    #[command(flatten)]
    pub json: JsonArg,
}

/// Runs `neco import …`.
pub fn run(args: ImportArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = folder(everywhere)?;
    if let Some(agent) = args.agent {
        return take(&[agent], args, folder, everywhere, env);
    }
    let found = ask(&FindSetups { folder: folder.clone() }, everywhere, env)?.setups;
    if args.json.json {
        return print(args.json, &found, String::new);
    }
    if found.is_empty() {
        say::out("no set-up of another agent was found\n")?;
        return Ok(Exit::Done);
    }
    let lines = list::found(&found);
    match asked(&lines, &found, env)? {
        Some(agents) => take(&agents, args, folder, everywhere, env),
        None => {
            say::out(&format!("{lines}\nto take one over: neco import codex --dry-run, then without --dry-run\n"))?;
            Ok(Exit::Done)
        }
    }
}

/// The agents that a person chooses; nothing when nobody is there.
fn asked(lines: &str, found: &[FoundSetup], env: &Env) -> Result<Option<Vec<SetupAgent>>, Failure> {
    let question = format!("{lines}Which ones? Numbers, all, or Enter for none: ");
    let Some(answer) = person(env).and_then(|tty| tty.ask(&question)) else { return Ok(None) };
    let known = |setup: &FoundSetup| SetupAgent::named(&setup.agent.to_string());
    if answer.trim() == "all" {
        return Ok(Some(found.iter().filter_map(known).collect()));
    }
    let mut agents = Vec::new();
    for word in answer.split([' ', ',']).map(str::trim).filter(|word| !word.is_empty()) {
        let number = word.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
        let setup = number.and_then(|at| found.get(at)).and_then(known).or_else(|| SetupAgent::named(word));
        agents.push(setup.ok_or_else(|| Failure::usage(format!("{word} is none of the {} set-ups", found.len())))?);
    }
    Ok(Some(agents))
}

/// Takes over one set-up after the other.
fn take(
    agents: &[SetupAgent],
    args: ImportArgs,
    folder: String,
    everywhere: &EverywhereArgs,
    env: &Env,
) -> Result<Exit, Failure> {
    let (mut wanted, mut exit): (Vec<PluginToAdd>, Exit) = (Vec::new(), Exit::Done);
    let each = async |app: &dyn App| {
        for agent in agents {
            let report = report(*agent, args, folder.clone(), app).await?;
            print(args.json, &report, || list::as_lines(&report, agent.title()))?;
            if report.rows.iter().any(|row| row.outcome == Known::This(SetupOutcome::Failed)) {
                exit = Exit::Failed;
            }
            wanted.extend(report.rows.into_iter().filter_map(|row| row.add));
        }
        Ok(exit)
    };
    let exit = match args.all && !args.dry_run {
        // Sessions go into the store: it has to be the real one.
        true => block_on(with_store(everywhere, env, each))?,
        false => with_files(everywhere, env, each)?,
    };
    if args.dry_run || args.json.json {
        return Ok(exit);
    }
    plugins(&wanted, everywhere, env)?;
    Ok(exit)
}

/// Offers to add the plugins that can be had at once; all that each brings is shown before it counts.
fn plugins(wanted: &[PluginToAdd], everywhere: &EverywhereArgs, env: &Env) -> Result<(), Failure> {
    let Some(tty) = person(env).filter(|_| !wanted.is_empty()) else { return Ok(()) };
    let names: Vec<&str> = wanted.iter().map(|plugin| plugin.from.as_str()).collect();
    let question = format!("Plugins that can be added here: {}. Look at them now? [y/N] ", names.join(", "));
    if !tty.ask(&question).is_some_and(|answer| matches!(answer.trim().to_lowercase().as_str(), "y" | "yes")) {
        return Ok(());
    }
    for plugin in wanted {
        // The others can be added all the same.
        if let Err(failure) = plugin::add_wanted(plugin, everywhere, env) {
            say::note(&format!("{} was not added: {}", plugin.from, failure.message));
        }
    }
    Ok(())
}

async fn report(agent: SetupAgent, args: ImportArgs, folder: String, app: &dyn App) -> Result<SetupReport, Failure> {
    let sessions = args.all;
    match args.dry_run {
        true => ask_of(app, &PreviewSetup { agent, folder, sessions }).await,
        false => ask_of(app, &ImportSetup { agent, folder, sessions }).await,
    }
}
