//! The window is put away, and ends.

use std::time::Duration;

use super::errands::Back;
use super::opening::Retold;
use super::signals::suspend;
use super::window::{Window, WindowError};
use crate::term::{Guard, guard};
use crate::transcript::block::Tone;
use crate::update::News;

/// How long an editor may take to end once it was told.
const EDITOR: Duration = Duration::from_secs(1);

impl Window {
    /// The process is to stop until the shell goes on with it.
    pub(super) async fn put_away(&mut self) -> Result<(), WindowError> {
        if self.terminal.keys.is_none() {
            // The editor that has the terminal was told as well.
            suspend();
            return Ok(());
        }
        self.terminal.step_aside().await?;
        // Whoever goes on with it says so by a signal, which is no news then.
        self.went_on = suspend();
        self.terminal.step_in()?;
        if !self.went_on {
            self.app.tell("No shell to return to");
        }
        Ok(())
    }

    /// The process was stopped, and goes on: whoever stopped it without a word left the terminal as it was, and the
    /// shell has made it its own.
    pub(super) fn goes_on(&mut self) -> Result<(), WindowError> {
        if !std::mem::take(&mut self.went_on) && self.terminal.keys.is_some() {
            self.terminal.take_again()?;
        }
        Ok(())
    }

    /// The process is to end. An editor that is open is told first, so that it does not stay without a terminal, and
    /// what it has saved of a message is kept.
    pub(super) async fn end_editor(&mut self) {
        self.quits = true;
        if self.terminal.keys.is_some() {
            return;
        }
        // The second time it is not asked any more.
        for _ in 0..2 {
            self.host.end_editor();
            match tokio::time::timeout(EDITOR, self.edited()).await {
                Ok(Some(News::Prompt(Ok(Some(text))))) => return self.host.remember(&text),
                Ok(_) => return,
                Err(_) => {}
            }
        }
    }

    /// What comes of the editor.
    async fn edited(&mut self) -> Option<News> {
        loop {
            match self.back.recv().await? {
                Back::Edited(news) => return Some(news),
                Back::News(..) | Back::Opened(_) | Back::Prints(_) | Back::ShellEnded(..) => {}
            }
        }
    }

    /// The session is gone. Was it another process's, then this window goes on with it; what is being written stays.
    pub(super) fn goes_on_alone(&mut self) {
        match self.host.successor() {
            Some((wanted, words)) if !self.takes_over && self.lost.is_none() => {
                self.takes_over = true;
                self.app.opening = true;
                self.app.transcript.view.end_calls();
                self.app.transcript.say(Tone::Warning, words);
                self.errands.open(wanted, Retold::Not);
            }
            Some(_) | None => {
                self.over = true;
                self.end_if_over();
            }
        }
    }

    /// The session ended without the person: they are told why, and what they were writing is kept. Not before they
    /// have done what they do in their editor.
    pub(super) fn end_if_over(&mut self) {
        if !self.over || self.terminal.keys.is_none() {
            return;
        }
        self.quits = true;
        let Some(words) = self.host.ended() else { return };
        let is_told = self.lost.is_none();
        // With what was pasted, not with the word that stands for it.
        self.app.prompt.give_back();
        let written = self.app.prompt.send().text;
        let mut kept = "";
        if !written.trim().is_empty() {
            self.host.remember(written.trim());
            kept = "; what you were writing is the last of the history";
        }
        // Why it can't be kept is told when the window is closed.
        if is_told {
            self.app.transcript.say(Tone::Warning, format!("{words}{kept}"));
        }
    }

    /// Takes the live rows off and gives the terminal back.
    pub(super) fn leave(&mut self, guard: Guard) {
        for news in self.errands.stop_shell() {
            drop(self.app.news(news));
        }
        self.terminal.close(&mut self.app);
        drop(guard);
        if self.terminal.keys.is_none() {
            guard::mend();
        }
    }
}
