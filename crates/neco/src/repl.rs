//! `neco repl`: from the arguments to the exit code.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use neco_config::Env;
use neco_proto::{Client, Command};
use neco_tui::host::Host;
use neco_tui::outside;
use neco_tui::told::{Output, fenced, is_command, with_what_ran};
use tokio::runtime::Runtime;

use super::commands::Next;
use super::keyboard::Read;
use super::lines::Lines;
use super::meanwhile::Seen;
use super::turn::{Course, hear_signals, stop_agents};
use crate::args::{EverywhereArgs, RunArgs};
use crate::ask::Tty;
use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::run::drive::listen;
use crate::run::picture;
use crate::say;
use crate::signals::InterruptMask;
use crate::terminal::Terminal;
use crate::tui::OpenSessions;
use crate::tui::host::TerminalHost;

/// What is said at the beginning.
const GREETING: &str = "Neco, line by line. /help lists the commands. A line that ends with \\ goes on in the next one. \
                        Ctrl-C stops the work, then its agents; Ctrl-D or /exit leaves.\n";

/// Takes lines until there are no more.
///
/// # Errors
/// When it can't begin.
pub fn run(args: &RunArgs, everywhere: &EverywhereArgs, env: &Env) -> Result<Exit, Failure> {
    let folder = crate::folder(everywhere)?;
    let attachments = picture::attachments(&args.images)?;
    let runtime = compose::runtime()?;
    let mask = InterruptMask::default();
    let signals = listen(&runtime, &mask)?;
    let sessions = OpenSessions::new(everywhere.clone(), env.clone(), runtime.handle().clone());
    let host = TerminalHost::new(args.clone(), everywhere.clone(), env.clone(), folder, sessions, mask.clone(), None);
    let client = runtime.block_on(async {
        let tty = Tty::open();
        host.open_first(tty.as_ref()).await
    })?;
    let course = Arc::new(Mutex::new(Course::default()));
    let present = Arc::new(Mutex::new(Arc::clone(&client)));
    let lines = Lines::of(&Terminal::look_at(env), host.history());
    runtime.spawn(hear_signals(signals, Arc::clone(&course), Arc::clone(&present), lines.undone()));
    let seen = runtime.block_on(Seen::now(client.as_ref()));
    let mut repl = Repl { host, client, present, env: env.clone(), mask, course, ran: Vec::new(), seen, lines };
    say::out(GREETING)?;
    if let Some(content) = args.message() {
        repl.turn(&runtime, Command::UserMessage { content, attachments })?;
    }
    let outcome = repl.take_lines(&runtime);
    let Repl { host, client, .. } = repl;
    runtime.block_on(async {
        host.close(client).await;
        host.close_all().await;
    });
    runtime.shutdown_background();
    outcome?;
    if let Some(id) = host.last_said() {
        say::out(&format!("go on with it: neco --session {id}\n"))?;
    }
    Ok(Exit::Done)
}

/// What the main thread has in its hands.
pub(super) struct Repl {
    pub(super) host: TerminalHost,
    pub(super) client: Arc<dyn Client>,
    /// The same, for whoever hears signals.
    pub(super) present: Arc<Mutex<Arc<dyn Client>>>,
    pub(super) env: Env,
    pub(super) mask: InterruptMask,
    pub(super) course: Arc<Mutex<Course>>,
    /// What the person ran and the model was not told yet.
    pub(super) ran: Vec<String>,
    /// How far the session was shown.
    pub(super) seen: Seen,
    /// Where lines come from.
    pub(super) lines: Lines,
}

impl Repl {
    fn take_lines(&mut self, runtime: &Runtime) -> Result<(), Failure> {
        // Whether the last thing typed was Ctrl-C, with nothing left to stop.
        let mut leaves = false;
        loop {
            self.catch_up(runtime)?;
            let custom = runtime.block_on(outside::commands(&self.host, &self.host));
            self.lines.set_names(custom.into_iter().map(|own| own.name));
            let line = match self.lines.next() {
                Read::Line(line) => line,
                Read::Dropped => match runtime.block_on(stop_agents(self.client.as_ref())) {
                    Some(words) => {
                        say::note(&words);
                        continue;
                    }
                    None if std::mem::replace(&mut leaves, true) => return say::out("\n"),
                    None => {
                        say::note("Ctrl-C again leaves");
                        continue;
                    }
                },
                Read::End => return say::out("\n"),
            };
            leaves = false;
            match self.take(runtime, line.trim())? {
                Next::Go => {}
                Next::Leave => return Ok(()),
            }
        }
    }

    fn take(&mut self, runtime: &Runtime, line: &str) -> Result<Next, Failure> {
        if line.is_empty() {
            self.wait(runtime)?;
            return Ok(Next::Go);
        }
        self.host.remember(line);
        self.lines.remember(line);
        if is_command(line) {
            return self.command(runtime, line);
        }
        if let Some(command) = line.strip_prefix('!') {
            self.shell(runtime, command.trim())?;
            return Ok(Next::Go);
        }
        let content = with_what_ran(line.to_owned(), &std::mem::take(&mut self.ran));
        self.turn(runtime, Command::UserMessage { content, attachments: Vec::new() })?;
        Ok(Next::Go)
    }

    /// Runs a command line of the person; the model is told of it with the next message.
    fn shell(&mut self, runtime: &Runtime, line: &str) -> Result<(), Failure> {
        let output = Arc::new(Mutex::new(Output::default()));
        let sink = Arc::clone(&output);
        let take = move |text: String| {
            let _ = io::stdout().write_all(crate::print::clean::clean(&text).as_bytes());
            sink.lock().unwrap_or_else(PoisonError::into_inner).push(&text);
        };
        let ran = runtime.block_on(self.host.shell(line.to_owned(), Arc::new(take)));
        let ended = match ran {
            Ok(Some(0)) => String::new(),
            Ok(Some(code)) => format!("(exit code {code})"),
            Ok(None) => "(stopped)".to_owned(),
            Err(error) => return say::out(&format!("! {}\n", error.words())),
        };
        if !ended.is_empty() {
            say::out(&format!("{ended}\n"))?;
        }
        let told = output.lock().unwrap_or_else(PoisonError::into_inner).told(line, &ended);
        self.ran.push(fenced(&told, ""));
        Ok(())
    }
}
