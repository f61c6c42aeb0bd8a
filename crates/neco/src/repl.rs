//! `neco repl`: from the arguments to the exit code.

use std::sync::Arc;

use neco_config::Env;
use neco_proto::Command;
use neco_tui::line::repl::{self, Streams, Surroundings};
use neco_tui::line::run::listen;

use crate::args::{EverywhereArgs, OutputFormat, RunArgs};
use crate::ask::{self, Channel, PipedLines, Tty};
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::{files, picture};
use crate::say;
use crate::server;
use crate::signals::InterruptMask;
use crate::terminal::{self, is_unattended};
use crate::tui::{host, offer_others, unless_left};

/// Takes lines until there are no more.
pub fn run(args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = crate::folder(everywhere)?;
    let terminal = terminal::look_at(env);
    if terminal.stdin {
        offer_others(&folder, everywhere, env);
    }
    let attachments = picture::attachments(&files::pictures(args))?;
    let runtime = compose::runtime()?;
    let mask = InterruptMask::default();
    let mut signals = listen(&runtime, &mask)?;
    let runs_on = runtime.handle().clone();
    let server = match server::named(everywhere, env) {
        Some(url) => Some(runtime.block_on(server::reach(url, env))?),
        None => None,
    };
    let terminal_host = host::Surroundings::new((args, everywhere, env), &folder, mask.clone(), None, server)?;
    let client = runtime.block_on(unless_left(terminal_host.open_first(), &mut signals))?;
    let streams = Streams {
        interactive: terminal.stdin && terminal.stdout,
        capable: terminal.stdout && terminal.is_capable(),
        tmux: env.is_set("TMUX"),
    };
    let (own, piped) = (env.clone(), PipedLines::of_stdin());
    let lines = Arc::clone(&piped);
    let seat = move |folder: String| {
        // Where nobody sits at a terminal, whoever feeds the lines answers with the next one.
        let tty = (terminal.stdin || !is_unattended(&own)).then(Tty::open).flatten();
        let channel = tty.map_or_else(|| Channel::Lines(Arc::clone(&lines)), Channel::Terminal);
        (terminal::printer(OutputFormat::Text, &own), Some(ask::person(channel, folder.into(), &own)))
    };
    let (host, app) = (Arc::clone(&terminal_host.host) as _, terminal_host.app());
    let (seat, quit) = (Box::new(seat), compose::quit);
    let around = Surroundings { host, app, seat, quit, runtime: runs_on, mask, streams, piped };
    let first = args.message().map(|words| files::added(words, args)).transpose()?;
    let first = first.map(|content| Command::UserMessage { content, attachments });
    let outcome = repl::run(around, client, signals, first);
    runtime.block_on(terminal_host.close_all());
    runtime.shutdown_background();
    outcome.map_err(|error| say::unwritten(&error))?;
    if let Some(id) = terminal_host.host.last_said() {
        say::out(&format!("Resume it with  {} {id}\n", server::resume(everywhere, env)))?;
    }
    Ok(Exit::Done)
}
