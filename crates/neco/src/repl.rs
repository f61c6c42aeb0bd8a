//! `neco repl`: from the arguments to the exit code.

use std::sync::Arc;

use neco_config::Env;
use neco_proto::Command;
use neco_tui::line::repl::{self, Process, Streams, Surroundings};
use neco_tui::line::{Person, print::Printer};

use crate::args::{EverywhereArgs, OutputFormat, RunArgs};
use crate::ask::{self, Tty};
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::drive::listen;
use crate::run::{files, picture, stop};
use crate::say;
use crate::signals::{InterruptMask, Signal};
use crate::terminal::Terminal;
use crate::tui::host::TerminalHost;

/// Takes lines until there are no more.
pub fn run(args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = crate::folder(everywhere)?;
    let attachments = picture::attachments(&files::pictures(args))?;
    let runtime = compose::runtime()?;
    let mask = InterruptMask::default();
    let signals = listen(&runtime, &mask)?;
    let runs_on = runtime.handle().clone();
    let host = Arc::new(TerminalHost::new(args, everywhere, env, folder, mask.clone(), None));
    let client = runtime.block_on(host.open_first())?;
    let terminal = Terminal::look_at(env);
    let streams = Streams {
        interactive: terminal.stdin && terminal.stdout,
        capable: terminal.stdout && terminal.is_capable(),
        tmux: env.is_set("TMUX"),
    };
    let (app, process) = (host.app(), Arc::new(ThisProcess(env.clone())));
    let around = Surroundings { host: Arc::clone(&host) as _, app, process, runtime: runs_on, mask, streams };
    let first = args.message().map(|words| files::added(words, args)).transpose()?;
    let first = first.map(|content| Command::UserMessage { content, attachments });
    let outcome = repl::run(around, client, signals, first);
    runtime.block_on(host.close_all());
    runtime.shutdown_background();
    outcome.map_err(|error| say::unwritten(&error))?;
    if let Some(id) = host.last_said() {
        say::out(&format!("Resume it with  neco resume {id}\n"))?;
    }
    Ok(Exit::Done)
}

/// This process, with what the environment says of it.
struct ThisProcess(Env);

impl Process for ThisProcess {
    fn printer(&self) -> Printer {
        Terminal::look_at(&self.0).printer(OutputFormat::Text)
    }

    fn person(&self, folder: String) -> Option<Person> {
        Some(ask::person(Tty::open()?, folder.into(), &self.0))
    }

    fn note(&self, line: &str) {
        say::note(line);
    }

    fn quit(&self, signal: Signal) {
        stop::quit(signal);
    }
}
