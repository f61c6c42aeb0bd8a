//! What lines that begin with a slash do.

use std::fmt::Write;
use std::sync::{Arc, PoisonError};

use neco_proto::{Answer, Command, Query};
use neco_tui::host::{CommandOutcome, Host, Wanted};
use neco_tui::outside;
use neco_tui::term::notify;
use neco_view::ContextView;
use neco_view::slash::{self, Outside, Slash, TABLE};
use tokio::runtime::Runtime;

use super::answers;
use super::meanwhile::Seen;
use super::open::Repl;
use crate::failure::Failure;
use crate::print::clean::clean;
use crate::say;
use crate::terminal::Terminal;

/// Whether there is a next line.
pub(super) enum Next {
    /// There is.
    Go,
    /// The person leaves.
    Leave,
}

impl Repl {
    pub(super) fn command(&mut self, runtime: &Runtime, line: &str) -> Result<Next, Failure> {
        let custom = runtime.block_on(outside::commands(&self.host, &self.host));
        let slash = match slash::parse(line, &custom) {
            Ok(slash) => slash,
            Err(words) => return told(&words),
        };
        match slash {
            Slash::Exit => return Ok(Next::Leave),
            Slash::Help => {
                let mut text = String::new();
                for row in TABLE.iter().filter(|row| is_here(row.name)) {
                    let _ = writeln!(text, "/{} {}: {}", row.name, row.argument, row.help);
                }
                for own in &custom {
                    let _ = writeln!(text, "/{} {}: {}", own.name, own.argument, own.help);
                }
                return told(&text);
            }
            Slash::New => self.open(runtime, Wanted::New)?,
            Slash::Resume(id) => self.open(runtime, Wanted::Id(id))?,
            Slash::Mode(mode) => self.tell(runtime, Command::SetMode { mode }, &format!("mode {mode}"))?,
            Slash::Approval(approval) => {
                self.tell(runtime, Command::SetApproval { approval }, &format!("approval {approval}"))?;
            }
            Slash::Model(model) => {
                let words = format!("model {model}");
                self.tell(runtime, Command::SetModel { model }, &words)?;
            }
            Slash::Generation(generation) => {
                self.tell(runtime, Command::SetGeneration { generation }, &format!("generation {generation}"))?;
            }
            Slash::Compact(focus) => {
                self.tell(runtime, Command::Compact { focus }, "asked for; an empty line shows what came of it")?
            }
            Slash::Rename(title) => self.tell(runtime, Command::Rename { title }, "renamed")?,
            Slash::Undo => self.take_back(runtime, Query::UndoPreview)?,
            Slash::Redo => self.take_back(runtime, Query::RedoPreview)?,
            Slash::Context(view) => self.ask(runtime, Query::Context, view)?,
            Slash::Tree => self.tree(runtime)?,
            Slash::How(_) | Slash::Cost | Slash::Todo | Slash::Plan => self.standing(runtime, &slash)?,
            Slash::Rewind(wanted) => self.rewind(runtime, &wanted)?,
            Slash::Expand => return told(&self.seen.expand()),
            Slash::Copy => return self.copy(),
            Slash::Theme(_) => return told("lines have no colours to choose: themes are for the window"),
            Slash::Outside(what, argument) => return self.outside(runtime, what, argument),
            Slash::Custom { name, argument } => {
                match runtime.block_on(outside::custom(&self.host, &self.host, name, argument)) {
                    Ok(content) => self.turn(runtime, Command::UserMessage { content, attachments: Vec::new() })?,
                    Err(error) => return told(&error.words()),
                }
            }
        }
        Ok(Next::Go)
    }

    fn outside(&mut self, runtime: &Runtime, what: Outside, argument: String) -> Result<Next, Failure> {
        let carried_out = outside::carry_out(&self.host, &self.host, self.client.as_ref(), what, &argument);
        let outcome = match runtime.block_on(carried_out) {
            Ok(outcome) => outcome,
            Err(error) => return told(&error.words()),
        };
        match outcome {
            CommandOutcome::Show(text) | CommandOutcome::Print(text) | CommandOutcome::Say(text) => return told(&text),
            CommandOutcome::Prompt(content) => {
                self.turn(runtime, Command::UserMessage { content, attachments: Vec::new() })?;
            }
            CommandOutcome::Send(command) => self.turn(runtime, command)?,
            CommandOutcome::Open(wanted) => self.open(runtime, wanted)?,
            CommandOutcome::GoOn(wanted, words) => {
                told(&words)?;
                self.open(runtime, wanted)?;
            }
            CommandOutcome::Fill(text) => return told(&text),
            CommandOutcome::Done => {}
        }
        Ok(Next::Go)
    }

    fn open(&mut self, runtime: &Runtime, wanted: Wanted) -> Result<(), Failure> {
        match runtime.block_on(self.host.open(wanted)) {
            Ok(client) => {
                let before = std::mem::replace(&mut self.client, client);
                *self.present.lock().unwrap_or_else(PoisonError::into_inner) = Arc::clone(&self.client);
                self.seen = runtime.block_on(Seen::now(self.client.as_ref()));
                runtime.block_on(self.host.close(before));
                self.standing(runtime, &Slash::New)
            }
            Err(error) => told(&error.words()).map(drop),
        }
    }

    pub(super) fn tell(&self, runtime: &Runtime, command: Command, done: &str) -> Result<(), Failure> {
        match runtime.block_on(self.client.send(command)) {
            Ok(_) => told(done),
            Err(error) => told(&error.to_string()),
        }
        .map(drop)
    }

    fn ask(&self, runtime: &Runtime, query: Query, view: ContextView) -> Result<(), Failure> {
        match runtime.block_on(self.client.ask(query)) {
            Ok(answer) => told(&answers::answer(&answer, view)),
            Err(error) => told(&error.to_string()),
        }
        .map(drop)
    }

    /// The agents; the root among them is at work or not, whatever it did last.
    fn tree(&self, runtime: &Runtime) -> Result<(), Failure> {
        match runtime.block_on(self.client.ask(Query::Tree)) {
            Ok(Answer::Tree { nodes }) => told(&answers::tree(&nodes, self.seen.root_works())),
            Ok(_) => Ok(Next::Go),
            Err(error) => told(&error.to_string()),
        }
        .map(drop)
    }

    /// The last answer goes to the clipboard, through the terminal.
    fn copy(&self) -> Result<Next, Failure> {
        let answer = self.seen.last_answer();
        if answer.is_empty() {
            return told("there is no answer yet");
        }
        let terminal = Terminal::look_at(&self.env);
        if !(terminal.stdout && terminal.is_capable()) {
            return told("this terminal has no clipboard that Neco could reach; the answer is above");
        }
        say::out(&notify::copy(answer, self.env.is_set("TMUX")))?;
        told(if answer.len() > notify::SURE { "copied, if your terminal takes so much; many don't" } else { "copied" })
    }

    fn standing(&self, runtime: &Runtime, what: &Slash) -> Result<(), Failure> {
        match runtime.block_on(self.client.ask(Query::Snapshot)) {
            Ok(Answer::Snapshot(snapshot)) => told(&answers::standing(&snapshot, what)),
            Ok(_) => Ok(Next::Go),
            Err(error) => told(&error.to_string()),
        }
        .map(drop)
    }
}

/// Whether a command of the table makes sense in lines.
fn is_here(name: &str) -> bool {
    name != "theme"
}

pub(super) fn told(text: &str) -> Result<Next, Failure> {
    say::out(&format!("{}\n", clean(text).trim_end()))?;
    Ok(Next::Go)
}
