//! What lines that begin with a slash do.

use std::fmt::Write;
use std::io;

use neco_proto::clean::clean;
use neco_proto::{Answer, Command, Query};
use neco_view::setting::Setting;
use neco_view::slash::{self, Custom, Outside, Slash, TABLE};

use super::process::Surroundings;
use super::take::Repl;
use super::{answers, back};
use crate::command_lines::{LONGEST, Watch, stopped_after};
use crate::custom_commands::{self, SaidByCommand};
use crate::host::{Agreement, CommandOutcome, Wanted};
use crate::line::say::out;
use crate::outside;
use crate::term::notify;

/// Whether there is a next line.
pub(super) enum Next {
    /// There is.
    Go,
    /// The person leaves.
    Leave,
}

impl Repl {
    pub(super) fn command(&mut self, line: &str) -> io::Result<Next> {
        let custom = self.custom();
        match slash::parse(line, &custom) {
            Ok(Slash::Exit) => return Ok(Next::Leave),
            Ok(slash) => self.carry_out(slash, line, &custom)?,
            Err(error) => told(&error.to_string())?,
        }
        Ok(Next::Go)
    }

    fn carry_out(&mut self, slash: Slash, line: &str, custom: &[Custom]) -> io::Result<()> {
        match slash {
            // Whoever reads lines leaves.
            Slash::Exit => Ok(()),
            Slash::Help => {
                let mut text = String::new();
                // There are no themes in lines.
                for row in TABLE.iter().filter(|row| row.name != "theme") {
                    let _ = writeln!(text, "{}: {}", called(row.name, row.argument), row.help);
                }
                for own in custom {
                    let _ = writeln!(text, "{}: {}", called(&own.name, &own.argument), own.help);
                }
                told(&text)
            }
            Slash::New => self.open(Wanted::New),
            Slash::Resume(id) => self.open(Wanted::Id(id)),
            Slash::Mode(mode) => self.tell(Command::SetMode { mode }, &format!("mode {mode}")),
            Slash::Approval(approval) => self.tell(Command::SetApproval { approval }, &format!("approval {approval}")),
            Slash::Model(model) => {
                let words = format!("model {model}");
                self.tell(Command::SetModel { model }, &words)
            }
            Slash::Generation(generation) => {
                self.tell(Command::SetGeneration { generation }, &format!("tool level {generation}"))
            }
            Slash::Compact(focus) => self.tell(Command::Compact { focus }, "started; an empty line shows how it goes"),
            Slash::Rename(title) => self.tell(Command::Rename { title }, "renamed"),
            Slash::Undo => back::take_back(&self.session, &mut self.lines, Query::BackPreview),
            Slash::Redo => back::take_back(&self.session, &mut self.lines, Query::ForthPreview),
            Slash::Rewind(wanted) => back::rewind(&self.session, &mut self.lines, &wanted),
            Slash::Context(view) => match self.session.ask(Query::Context) {
                Ok(Answer::Context(report)) => told(&answers::context(&report, view)),
                Ok(_) => Ok(()),
                Err(error) => told(&error.to_string()),
            },
            // The root among the agents is at work or not, whatever it did last.
            Slash::Tree => match self.session.ask(Query::Tree) {
                Ok(Answer::Tree { nodes }) => told(&answers::tree(&nodes, self.session.seen.root_works)),
                Ok(_) => Ok(()),
                Err(error) => told(&error.to_string()),
            },
            Slash::How(Setting::Sandbox) => self.outside(Outside::Sandbox, "", line),
            Slash::How(_) | Slash::Cost | Slash::Todo | Slash::Plan => self.standing(&slash),
            Slash::Expand => told(&self.session.seen.expand()),
            // Lines are read when nothing runs.
            Slash::Background => told(slash::NO_COMMAND),
            Slash::Detach(_) => told(answers::NOTHING_WORKS),
            Slash::Copy => self.copy(),
            Slash::Theme(_) => told(answers::NO_THEMES),
            Slash::Outside(what, argument) => self.outside(what, &argument, line),
            Slash::Custom { name, argument } => {
                let Surroundings { app, host, .. } = &self.session.around;
                let client = Some(self.session.client.as_ref());
                let ends = stopped_after(LONGEST);
                let watch = Watch::beginnings(move |line| drop(told(&format!("running `{line}`; {ends}"))));
                let said = custom_commands::said_by(app.as_ref(), host.as_ref(), client, name, argument, &watch);
                match self.session.unless_stopped(said) {
                    Some(Ok(said)) => {
                        said.notes.iter().try_for_each(|note| told(note))?;
                        self.say_for_command(line, said)
                    }
                    Some(Err(error)) => told(&error.words()),
                    None => told("stopped; nothing was sent"),
                }
            }
        }
    }

    fn outside(&mut self, what: Outside, argument: &str, line: &str) -> io::Result<()> {
        let Surroundings { app, host, runtime, .. } = &self.session.around;
        let client = self.session.client.as_ref();
        let carried_out = outside::carry_out(app.as_ref(), host.as_ref(), client, what, argument);
        match runtime.block_on(carried_out) {
            Ok(
                CommandOutcome::Show(text)
                | CommandOutcome::Print(text)
                | CommandOutcome::Say(text)
                | CommandOutcome::Choose(_, _, text),
            ) => told(&text),
            Ok(CommandOutcome::List(listed)) => {
                listed.warnings.iter().try_for_each(|warning| told(&format!("! {warning}")))?;
                told(&listed.text)
            }
            Ok(CommandOutcome::Prompt(content)) => self.say_for_command(line, content.into()),
            Ok(CommandOutcome::Changes(files)) => {
                let texts: Vec<&str> = files.iter().map(|file| file.diff.trim_end_matches('\n')).collect();
                told(&texts.join("\n"))
            }
            Ok(CommandOutcome::Send(command)) => self.session.turn(command),
            Ok(CommandOutcome::Ask(agreement)) => self.agree(agreement, line),
            Ok(CommandOutcome::GoOn(wanted, words)) => {
                told(&words)?;
                self.open(wanted)
            }
            Err(error) => told(&error.words()),
        }
    }

    /// What a command says to the agent. A session that begins with it is called what the person wrote, as in the window.
    fn say_for_command(&mut self, line: &str, said: SaidByCommand) -> io::Result<()> {
        let begins = match self.session.ask(Query::Snapshot) {
            Ok(Answer::Snapshot(snapshot)) => snapshot.title.is_empty(),
            Ok(_) | Err(_) => false,
        };
        if begins {
            // One that can't be called so is called by the first words that are said.
            self.session.tell(Command::Rename { title: line.to_owned() }, "");
        }
        self.session.turn(said.command(false))
    }

    /// Asks before something is done that makes agents freer.
    fn agree(&mut self, agreement: Agreement, line: &str) -> io::Result<()> {
        let means = if agreement.means.is_empty() { String::new() } else { format!(" ({})", agreement.means) };
        told(&format!("{}{means}", agreement.question))?;
        match self.lines.answer("y or n: ") {
            Some(yes) if yes.eq_ignore_ascii_case("y") || yes.eq_ignore_ascii_case("yes") => {
                self.outside(agreement.yes.0, &agreement.yes.1, line)
            }
            Some(_) | None => told("nothing changed"),
        }
    }

    /// The commands of the person's own.
    pub(super) fn custom(&self) -> Vec<Custom> {
        let Surroundings { app, host, runtime, .. } = &self.session.around;
        runtime.block_on(custom_commands::all(app.as_ref(), host.as_ref()))
    }

    fn open(&mut self, wanted: Wanted) -> io::Result<()> {
        match self.session.open(wanted) {
            Ok(()) => self.standing(&Slash::New),
            Err(words) => told(&words),
        }
    }

    fn tell(&self, command: Command, done: &str) -> io::Result<()> {
        told(&self.session.tell(command, done))
    }

    /// The last answer goes to the clipboard, through the terminal.
    fn copy(&self) -> io::Result<()> {
        let (answer, streams) = (&self.session.seen.answer, self.session.around.streams);
        if answer.is_empty() {
            return told(slash::NO_ANSWER);
        }
        if !streams.capable {
            return told("no clipboard here; the answer is above");
        }
        out(&notify::copy(answer, streams.tmux))?;
        told(notify::copied(answer, streams.tmux))
    }

    fn standing(&self, what: &Slash) -> io::Result<()> {
        match self.session.ask(Query::Snapshot) {
            Ok(Answer::Snapshot(snapshot)) => told(&answers::standing(&snapshot, what)),
            Ok(_) => Ok(()),
            Err(error) => told(&error.to_string()),
        }
    }
}

/// A command as it is written, with what may follow it.
fn called(name: &str, argument: &str) -> String {
    if argument.is_empty() { format!("/{name}") } else { format!("/{name} {argument}") }
}

pub(super) fn told(text: &str) -> io::Result<()> {
    out(&format!("{}\n", clean(text).trim_end()))
}
