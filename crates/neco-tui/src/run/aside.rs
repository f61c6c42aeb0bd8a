//! The terminal is another program's for a while, or for good.

use std::time::Duration;

use tokio::time::Instant;

use super::drawing::size;
use super::errands::Back;
use super::opening::Retold;
use super::signals::suspend;
use super::window::{Window, WindowError};
use crate::term::keys::Came;
use crate::term::{Guard, Keys, give_back, guard, retake};
use crate::transcript::block::Tone;
use crate::update::News;

/// How long a terminal may take for what is to be written before somebody else has it.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long the first answers are waited for.
const FIRST: Duration = Duration::from_millis(100);

/// How long an editor may take to end once it was told.
const EDITOR: Duration = Duration::from_secs(1);

impl Window {
    /// The terminal is asked before anything else is done, and behind the first frame. The answers of one beside us are
    /// there at once; nobody waits long for any other.
    pub(super) async fn first_answers(&mut self) -> Result<(), WindowError> {
        let by = Instant::now() + FIRST;
        self.pace.asked(0, Instant::now());
        self.hear(by).await;
        while self.keys.as_ref().is_some_and(Keys::is_waiting)
            && self.pace.is_open(Instant::now())
            && Instant::now() < by
        {
            self.draw()?;
            while !self.writer.is_free() && tokio::time::timeout_at(by, self.writer.freed()).await.is_ok() {}
            self.ask();
            if !self.keys.as_ref().is_some_and(Keys::is_asking) {
                break;
            }
            self.hear(by).await;
        }
        Ok(())
    }

    /// An answer that is still to come is not for whoever reads from the terminal next.
    pub(super) async fn hear_out(&mut self) {
        self.hear(Instant::now() + PATIENCE).await;
    }

    async fn hear(&mut self, by: Instant) {
        let Some(keys) = self.keys.as_mut().filter(|keys| keys.is_asking()) else { return };
        if let Ok(Ok(Came::Answer(took))) = tokio::time::timeout_at(by, keys.next()).await {
            self.answered(took);
        }
    }

    /// The terminal is another program's for a while: nobody reads its keys, nothing is drawn.
    pub(super) async fn step_aside(&mut self) -> Result<(), WindowError> {
        self.hear_out().await;
        self.screen.clear()?;
        self.writer.write(std::mem::take(self.screen.out()));
        // Dropping them stops the thread that reads them.
        self.keys = None;
        let written = async {
            while !self.writer.is_free() {
                self.writer.freed().await;
            }
        };
        // A terminal that takes nothing can't be had for an editor either; the person sees why.
        let _ = tokio::time::timeout(PATIENCE, written).await;
        give_back();
        Ok(())
    }

    /// The terminal is ours again; what is on it stays, and the next frame begins below.
    pub(super) fn step_in(&mut self) -> Result<(), WindowError> {
        retake()?;
        self.keys = Some(Keys::new());
        self.size = size().unwrap_or(self.size);
        self.screen.abandon();
        Ok(())
    }

    /// The process is to stop until the shell goes on with it.
    pub(super) async fn put_away(&mut self) -> Result<(), WindowError> {
        if self.keys.is_none() {
            // The editor that has the terminal was told as well.
            suspend();
            return Ok(());
        }
        self.step_aside().await?;
        // Whoever goes on with it says so by a signal, which is no news then.
        self.went_on = suspend();
        self.step_in()?;
        if !self.went_on {
            self.app.tell("there is no shell that could go on with it");
        }
        Ok(())
    }

    /// The process was stopped, and goes on: whoever stopped it without a word left the terminal as it was, and the
    /// shell has made it its own.
    pub(super) fn goes_on(&mut self) -> Result<(), WindowError> {
        if std::mem::take(&mut self.went_on) || self.keys.is_none() {
            return Ok(());
        }
        give_back();
        retake()?;
        self.size = size().unwrap_or(self.size);
        self.screen.abandon();
        Ok(())
    }

    /// The process is to end. An editor that is open is told first, so that it does not stay without a terminal, and
    /// what it has saved of a message is kept.
    pub(super) async fn end_editor(&mut self) {
        self.quits = true;
        if self.keys.is_some() {
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
        if !self.over || self.keys.is_none() {
            return;
        }
        self.quits = true;
        let Some(words) = self.host.ended() else { return };
        let is_told = self.lost.is_none();
        // With what was pasted, not with the word that stands for it.
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
        // What an editor has on the screen is not drawn over.
        if self.keys.is_some() {
            let frame = self.app.last_frame(self.size.0, self.size.1);
            // There is no better place to complain of a terminal than the terminal.
            let _ = self.screen.draw(frame);
            let _ = self.screen.clear();
            self.writer.write(std::mem::take(self.screen.out()));
        }
        self.writer.close();
        drop(guard);
        if self.keys.is_none() {
            guard::mend();
        }
    }
}
