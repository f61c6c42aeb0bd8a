//! One line after the other, until there are no more.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use neco_proto::clean::clean;
use neco_proto::{Answer, Client, Command, Query};
use neco_view::wording::background;

use super::commands::Next;
use super::keyboard::Read;
use super::lines::Lines;
use super::process::Surroundings;
use super::signals::{hear_signals, stop_agents};
use super::turn::LineSession;
use crate::host::LineOf;
use crate::line::say::{note, out};
use crate::line::signals::Signals;
use crate::told::{Output, fenced, is_command, is_farewell, with_what_ran};

/// What is said at the beginning.
const GREETING: &str = "Neco, line by line. /help lists the commands. A line that ends with \\ continues in the next one. \
                        Ctrl-C stops the work, then its agents; Ctrl-D or /exit leaves.\n";

/// Says `first`, if anything, and takes lines until there are no more; the session that is on the screen then is closed.
pub fn run(around: Surroundings, client: Arc<dyn Client>, signals: Signals, first: Option<Command>) -> io::Result<()> {
    let lines = Lines::of(around.streams, &around.piped, around.host.history());
    let session = LineSession::new(around, client);
    let Surroundings { quit, runtime, .. } = &session.around;
    runtime.spawn(hear_signals(signals, Arc::clone(&session.course), *quit, lines.undone()));
    let mut repl = Repl { session, ran: Vec::new(), lines };
    let outcome = repl.begin(first).and_then(|()| repl.take_lines());
    repl.tell_ended_with_session();
    let LineSession { around, client, .. } = repl.session;
    around.runtime.block_on(around.host.close(client));
    outcome
}

/// What the main thread has in its hands.
pub(super) struct Repl {
    pub session: LineSession,
    /// What the person ran and the model was not told yet.
    ran: Vec<String>,
    /// Where lines come from.
    pub lines: Lines,
}

impl Repl {
    fn begin(&mut self, first: Option<Command>) -> io::Result<()> {
        out(GREETING)?;
        first.map_or(Ok(()), |asked| self.session.turn(asked))
    }

    fn take_lines(&mut self) -> io::Result<()> {
        // Whether the last thing typed was Ctrl-C, with nothing left to stop.
        let mut leaves = false;
        loop {
            self.session.catch_up()?;
            let custom = self.custom();
            self.lines.set_names(custom);
            let line = match self.lines.next() {
                Read::Line(line) => line,
                Read::Dropped => {
                    match self.session.around.runtime.block_on(stop_agents(self.session.client.as_ref())) {
                        Some(words) => {
                            note(&words);
                            continue;
                        }
                        None if std::mem::replace(&mut leaves, true) => return out("\n"),
                        None => {
                            note("Ctrl-C again leaves");
                            continue;
                        }
                    }
                }
                Read::End => return out("\n"),
            };
            leaves = false;
            match self.take(line.trim())? {
                Next::Go => {}
                Next::Leave => return Ok(()),
            }
        }
    }

    /// Says which commands in the background end with the session; what another process runs goes on there.
    fn tell_ended_with_session(&self) {
        if self.session.around.host.successor().is_some() {
            return;
        }
        let Ok(Answer::Background { commands }) = self.session.ask(Query::Background) else { return };
        let named = background::named(commands.iter().filter(|command| command.runs()));
        if !named.is_empty() {
            note(&format!("Stopped in the background: {named}"));
        }
    }

    fn take(&mut self, line: &str) -> io::Result<Next> {
        if line.is_empty() {
            self.session.wait()?;
            return Ok(Next::Go);
        }
        self.session.around.host.remember(line);
        self.lines.remember(line);
        if is_farewell(line) {
            return Ok(Next::Leave);
        }
        if is_command(line) {
            return self.command(line);
        }
        if let Some(command) = line.strip_prefix('!') {
            self.shell(command.trim())?;
            return Ok(Next::Go);
        }
        let content = with_what_ran(line.to_owned(), &std::mem::take(&mut self.ran));
        self.session.turn(Command::UserMessage { content, attachments: Vec::new() })?;
        Ok(Next::Go)
    }

    /// Runs a command line of the person; the model is told of it with the next message.
    fn shell(&mut self, line: &str) -> io::Result<()> {
        let output = Arc::new(Mutex::new(Output::default()));
        let sink = Arc::clone(&output);
        let take = move |text: String| {
            let _ = io::stdout().write_all(clean(&text).as_bytes());
            sink.lock().unwrap_or_else(PoisonError::into_inner).push(&text);
        };
        let ran = self.session.around.host.shell(line.to_owned(), LineOf::Person, Arc::new(take));
        let ran = self.session.unless_stopped(ran).unwrap_or(Ok(None));
        let ended = match ran {
            Ok(Some(0)) => String::new(),
            Ok(Some(code)) => format!("(exit code {code})"),
            Ok(None) => "(stopped)".to_owned(),
            Err(error) => return out(&format!("! {}\n", error.words())),
        };
        if !ended.is_empty() {
            out(&format!("{ended}\n"))?;
        }
        let told = output.lock().unwrap_or_else(PoisonError::into_inner).told(line, &ended);
        self.ran.push(fenced(&told, ""));
        Ok(())
    }
}
