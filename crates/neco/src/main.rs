//! The command line: arguments, composition, subcommands, exit codes.
//!
//! Reading order: [`args`] with [`command_line`], [`misread`], [`misuse`] and [`elsewhere`], [`run`] (a request), [`cmd`] (everything else), [`compose`] (what
//! starts and stops in which order), [`server`] (the one that is reached) with [`this_machine`], [`mod@print`] and [`ask`] (the window of a run), [`tui`] (the terminal window) and [`repl`] (the same in lines), [`outcome`], [`exit`], [`failure`].

#![cfg_attr(test, allow(clippy::string_slice))]

mod args;
mod ask;
mod cmd;
mod command_line;
mod compose;
#[cfg(test)]
mod documented_lines;
mod elsewhere;
mod failure;
mod help;
mod misread;
mod misuse;
mod panic;
mod print;
mod repl;
mod run;
mod say;
mod server;
mod systemd;
mod terminal;
mod this_machine;
mod tui;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use args::{CommandLine, EverywhereArgs, RunArgs, Subcommands};
use failure::Failure;
use neco_app::log_file as log;
use neco_config::Env;
use neco_tui::line::run::exit::{self, Exit};
use neco_tui::line::run::outcome;
use neco_tui::line::signals;
use neco_view::{agent_orders, short_id};

fn main() -> ExitCode {
    // Before anything else: a launcher of a command in a sandbox has no settings, no threads and no time.
    neco_sandbox::launcher::become_launcher_if_asked();
    // The same for what prints a command in a terminal of an editor.
    if let Some(exit) = neco_acp::print_command_if_asked() {
        return exit;
    }
    let begun = Instant::now();
    // What commands must not see is in the memory of this process too; where it can't be hidden
    // nothing else is to be done about it.
    let _ = neco_safety::secrets::hide_own_memory();
    let env = Env::from_process().reading_ahead();
    let line = CommandLine::of_process();
    neco_safety::path::sensitive::guard_settings(resolved(env.config_dir()));
    neco_safety::path::guard_credentials(server::run_folder(&env));
    neco_safety::path::guard_credentials(neco_app::workspace::keys::file(&env).path().to_owned());
    if !matches!(line.command, Some(Subcommands::Demo { .. })) {
        // The demo has a home of its own.
        neco_app::workspace::boxed_git::install(&env);
    }
    panic::install(log::path(&env));
    let exit = match enter(&line, &env) {
        Ok(exit) => exit,
        Err(failure) => {
            let failure = failure.advised(env.data_dir());
            tracing::error!("{failure}");
            say::failure(&failure);
            failure.exit
        }
    };
    tracing::info!(code = exit.number(), ms = begun.elapsed().as_millis(), "neco ends");
    log::finish();
    ExitCode::from(exit.number())
}

fn enter(line: &CommandLine, env: &Env) -> Result<Exit, Failure> {
    let debug = line.everywhere.debug;
    let file = match &line.command {
        Some(Subcommands::Serve(args)) if args.serves() => {
            Some(log::start_server(env, debug, &server::run_folder(env))?)
        }
        _ => log::start(env, debug)?,
    };
    if let Some(file) = file.filter(|_| debug || env.var("NECO_LOG").is_some()) {
        say::note(&format!("log: {}", file.display()));
    }
    this_machine::look(line, env)?;
    match &line.command {
        None if line.acp => cmd::acp::serve_editor(&line.run, &line.everywhere, env),
        None => converse(&line.run, &line.everywhere, env),
        Some(Subcommands::Run(args) | Subcommands::Chat(args)) => converse(args, &line.everywhere, env),
        Some(Subcommands::Resume(args)) => converse(&args.run, &line.everywhere, env),
        Some(Subcommands::Repl(args)) => repl::run(args, &line.everywhere, env),
        Some(Subcommands::Config(command)) => cmd::config::run(command, &line.everywhere, env),
        Some(Subcommands::Session(command)) => cmd::session::run(command, &line.everywhere, env),
        Some(Subcommands::Import(args)) => cmd::import::run(*args, &line.everywhere, env),
        Some(Subcommands::Memory(command)) => cmd::memory::run(command, &line.everywhere, env),
        Some(Subcommands::Plan(command)) => cmd::plan::run(command, &line.everywhere, env),
        Some(Subcommands::Agents(command)) => cmd::agents::run(command, &line.everywhere, env),
        Some(Subcommands::Workflow(command)) => cmd::workflow::run(command, &line.everywhere, env),
        Some(Subcommands::Acp(args)) => cmd::acp::run(args, &line.everywhere, env),
        Some(Subcommands::Mcp(command)) => cmd::mcp::run(command, &line.everywhere, env),
        Some(Subcommands::Serve(args)) => cmd::serve::run(args, &line.everywhere, env),
        Some(Subcommands::Web(args)) => cmd::web::run(args, &line.everywhere, env),
        Some(Subcommands::Attach { target, id }) => {
            cmd::background::attach(target, id.as_deref(), &line.everywhere, env)
        }
        Some(Subcommands::Ps(json)) => cmd::background::ps(*json, &line.everywhere, env),
        Some(Subcommands::Logs(args)) => cmd::background::logs(args, &line.everywhere, env),
        Some(Subcommands::Stop { id }) => cmd::background::stop(id, &line.everywhere, env),
        Some(Subcommands::Skill(command)) => cmd::skill::run(command, &line.everywhere, env),
        Some(Subcommands::Plugin(command)) => cmd::plugin::run(command, &line.everywhere, env),
        Some(Subcommands::Tools(command)) => cmd::tools::run(command, &line.everywhere, env),
        Some(Subcommands::Policy(command)) => cmd::policy::run(command, &line.everywhere, env),
        Some(Subcommands::Model(command)) => cmd::model::run(command, &line.everywhere, env),
        Some(Subcommands::Auth(command)) => cmd::auth::run(command, &line.everywhere, env),
        Some(Subcommands::Trust(args)) => cmd::trust::run(args, &line.everywhere, env),
        Some(Subcommands::Prompt(command)) => cmd::prompt::run(command, &line.everywhere, env),
        Some(Subcommands::Doctor(args)) => cmd::doctor::run(*args, &line.everywhere, env),
        Some(Subcommands::Demo { keep, plain }) => cmd::demo::run(*keep, *plain, env),
        Some(Subcommands::Eval(args)) => cmd::eval::run(args, &line.everywhere, env),
        Some(Subcommands::Init(args)) => cmd::init::run(args, &line.everywhere, env),
        Some(Subcommands::Login { provider }) => cmd::auth::log_in(provider.as_deref(), &line.everywhere, env),
        Some(Subcommands::Logout { provider }) => cmd::auth::log_out(provider.as_deref(), &line.everywhere, env),
        Some(Subcommands::Completions { shell }) => cmd::shell::completions(*shell),
        Some(Subcommands::Man) => cmd::shell::man(),
    }
}

/// The window where there is a terminal for it, else a single request.
pub(crate) fn converse(args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let everywhere = &server::chosen(args, everywhere, env)?;
    let args = &run::agent::taken(args, everywhere, env)?;
    let window = tui::is_wanted(args, env);
    if args.picks() && !(window && terminal::look_at(env).is_capable()) {
        return Err(Failure::usage("which session? No list can be shown without a terminal").hint(
            "  neco session list                  shows them\n  \
               neco --resume ID -m \"…\"            continues one\n  \
               neco --continue -m \"…\"             continues the last one of this folder",
        ));
    }
    let begins = !args.continue_latest && args.session.is_none();
    if begins && !args.picks() && folder(everywhere)? == resolved(env.home()) {
        say::note(
            "This is your home folder, and the agent would work in all of it. Start in a project folder, or name one with -C DIR",
        );
    }
    match window && !args.background {
        true => tui::run(args, everywhere, env),
        false => run::run(args, everywhere, env),
    }
}

/// A folder as paths that are judged name it: without links, as far as it exists.
fn resolved(folder: &Path) -> PathBuf {
    folder.canonicalize().unwrap_or_else(|_| folder.to_owned())
}

/// The folder to work in.
fn folder(everywhere: &EverywhereArgs) -> Result<PathBuf, Failure> {
    let wanted = match &everywhere.cwd {
        Some(folder) => folder.clone(),
        None => std::env::current_dir()
            .map_err(|error| Failure::usage(format!("the current folder can't be used: {error}")))?,
    };
    let folder = wanted
        .canonicalize()
        .map_err(|error| Failure::usage(format!("the folder {} can't be used: {error}", wanted.display())))?;
    if !folder.is_dir() {
        return Err(Failure::usage(format!("{} is not a folder", folder.display())));
    }
    Ok(folder)
}
