//! What runs for the person, beside the session: their commands, and the lines of commands of their own. However much they
//! print, only the end of it waits to be shown.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use neco_proto::Client;
use neco_proto::app::{AppError, Trouble};
use tokio::task::AbortHandle;

use super::errands::{Back, DEFECT, Errands};
use crate::command_lines::Watch;
use crate::custom_commands::{self, SaidByCommand};
use crate::host::{LineOf, Printed};
use crate::update::News;

/// What is said of a command of the person's own that they stopped.
const STOPPED: &str = "Stopped; nothing was sent";

/// Bytes that wait to be shown at most.
const MOST: usize = 32 * 1024;

/// What was printed and not shown yet.
#[derive(Debug, Default)]
pub(super) struct Pieces {
    text: String,
    /// Lines before it that nobody will see.
    left_out: usize,
    /// Whether somebody was told that there is something.
    told: bool,
}

/// The same, shared with whoever prints.
pub(super) type Shared = Arc<Mutex<Pieces>>;

impl Pieces {
    /// Adds a piece; whether somebody is to be told that there is something.
    pub(super) fn push(&mut self, piece: &str) -> bool {
        self.text.push_str(piece);
        if self.text.len() > 2 * MOST {
            let cut = self.text.ceil_char_boundary(self.text.len() - MOST);
            let gone: String = self.text.drain(..cut).collect();
            self.left_out += gone.bytes().filter(|byte| *byte == b'\n').count().max(1);
        }
        !std::mem::replace(&mut self.told, true)
    }

    /// Takes what there is, and how many lines before it are missing.
    pub(super) fn take(&mut self) -> (String, usize) {
        self.told = false;
        (std::mem::take(&mut self.text), std::mem::take(&mut self.left_out))
    }
}

/// What waits; a writer that broke has left nothing half done.
pub(super) fn lock(pieces: &Shared) -> MutexGuard<'_, Pieces> {
    pieces.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The command that runs.
pub(super) struct Running {
    /// Which one: what the ones before it still print is not for this one.
    pub(super) number: u64,
    /// Dropping what runs kills it.
    pub(super) task: AbortHandle,
    /// What it printed.
    pub(super) pieces: Shared,
}

impl Errands {
    /// The number of the next command, what it prints, and where that goes.
    fn next_command(&mut self) -> (u64, Shared, Printed) {
        self.shells += 1;
        let number = self.shells;
        let pieces = Shared::default();
        let (back, kept) = (self.back.clone(), Arc::clone(&pieces));
        let printed: Printed = Arc::new(move |text| {
            if lock(&kept).push(&text) {
                let _ = back.send(Back::Prints(number));
            }
        });
        (number, pieces, printed)
    }

    /// Reads what a command of the person's own says, and runs its lines.
    pub(super) fn run_custom(&mut self, name: String, argument: String, client: Option<Arc<dyn Client>>) {
        let (number, pieces, printed) = self.next_command();
        let (host, program, back) = (Arc::clone(&self.host), Arc::clone(&self.program), self.back.clone());
        let begins = move |line: &str| drop(back.send(Back::LineBegins(number, line.to_owned())));
        let watch = Watch { begins: Arc::new(begins), printed };
        let task = tokio::spawn(async move {
            let (program, host, client) = (program.as_ref(), host.as_ref(), client.as_deref());
            custom_commands::said_by(program, host, client, name, argument, &watch).await
        });
        self.custom = Some(Running { number, task: task.abort_handle(), pieces });
        let (back, session) = (self.back.clone(), self.session);
        tokio::spawn(async move {
            let said = match task.await {
                Ok(said) => said,
                // Whoever stopped it has said so.
                Err(error) if error.is_cancelled() => return,
                Err(_) => Err(AppError::new(Trouble::Failed, format!("The command was not run: {DEFECT}"))),
            };
            let _ = back.send(Back::Custom(number, session, said));
        });
    }

    /// A line of the command of this number begins.
    pub(super) fn line_begins(&self, number: u64, line: String) -> Vec<News> {
        let runs = self.custom.as_ref().is_some_and(|custom| custom.number == number);
        runs.then_some(News::LineBegins(line)).into_iter().collect()
    }

    /// The command of this number is read. It says nothing where another session is on the screen by now.
    pub(super) fn custom_came(
        &mut self,
        number: u64,
        session: u64,
        said: Result<SaidByCommand, AppError>,
    ) -> Vec<News> {
        let ended = self.custom.take_if(|custom| custom.number == number).map(|_| News::LinesEnded);
        let said = News::Custom(said);
        let said = (!self.is_stale(session, &said)).then_some(said);
        ended.into_iter().chain(said).collect()
    }

    /// Stops the command of the person's own that is read, with the line of it that runs.
    pub(super) fn stop_custom(&mut self) -> Vec<News> {
        let Some(custom) = self.custom.take() else { return Vec::new() };
        custom.task.abort();
        vec![News::LinesEnded, News::Custom(Err(AppError::new(Trouble::Failed, STOPPED)))]
    }

    pub(super) fn run_shell(&mut self, command: String) {
        let (number, pieces, printed) = self.next_command();
        let (host, back) = (Arc::clone(&self.host), self.back.clone());
        let task =
            tokio::spawn(
                async move { host.shell(command, LineOf::Person, printed).await.map_err(|error| error.words()) },
            );
        self.shell = Some(Running { number, task: task.abort_handle(), pieces });
        tokio::spawn(async move {
            let ended = task.await.unwrap_or_else(|error| {
                if error.is_cancelled() { Ok(None) } else { Err(format!("The command was not run: {DEFECT}")) }
            });
            let _ = back.send(Back::ShellEnded(number, ended));
        });
    }

    /// What the command of this number printed since it was asked last; nothing when another one runs.
    pub(super) fn printed(&self, number: u64) -> Vec<News> {
        if let Some(custom) = self.custom.as_ref().filter(|custom| custom.number == number) {
            let (text, left_out) = lock(&custom.pieces).take();
            return vec![News::LinePrinted(left_out, text)];
        }
        let Some(shell) = self.shell.as_ref().filter(|shell| shell.number == number) else { return Vec::new() };
        let (text, left_out) = lock(&shell.pieces).take();
        let left_out = (left_out > 0).then_some(News::LeftOut(left_out));
        left_out.into_iter().chain((!text.is_empty()).then_some(News::Printed(text))).collect()
    }

    /// The command of this number is over.
    pub(super) fn shell_ended(&mut self, number: u64, ended: Result<Option<i32>, String>) -> Vec<News> {
        let mut news = self.printed(number);
        if self.shell.take_if(|shell| shell.number == number).is_some() {
            news.push(News::ShellEnded(ended));
        }
        news
    }

    /// Stops what the person runs: a line of a command of their own, or else their command. That is so at once: nobody
    /// waits until all it printed was looked at.
    pub(super) fn stop_shell(&mut self, runs_line: bool) -> Vec<News> {
        if runs_line {
            return self.stop_custom();
        }
        let Some(number) = self.shell.as_ref().map(|shell| {
            shell.task.abort();
            shell.number
        }) else {
            return Vec::new();
        };
        self.shell_ended(number, Ok(None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_is_bounded_and_told_of_once() {
        let mut pieces = Pieces::default();
        assert!(pieces.push("a\n"));
        for _ in 0..1000 {
            assert!(!pieces.push(&"yes\n".repeat(1000)), "nobody has looked yet");
        }
        assert!(pieces.text.len() <= 2 * MOST);
        let (text, left_out) = pieces.take();
        assert_eq!(text.lines().count() + left_out, 1_000_001);
        assert!(pieces.push("b"), "somebody has looked");
        assert_eq!(pieces.take(), ("b".to_owned(), 0));
    }
}
