//! The window is put away, loses its session or does not get one, and ends.

use std::time::Duration;

use futures::{FutureExt, StreamExt};
use neco_proto::app::AppError;
use neco_proto::{ClientError, ErrorCode, EventStream};

use super::early::for_the_old;
use super::errands::Back;
use super::opening::Retold;
use super::signals::suspend;
use super::start::WindowError;
use super::window::Window;
use crate::app::Detaching;
use crate::term::{Guard, guard};
use crate::transcript::block::Tone;
use crate::update::{News, say_first};

/// How long an editor may take to end once it was told.
const EDITOR: Duration = Duration::from_secs(1);

/// What is said where something was asked of a session that could not be opened.
const DROPPED: &str = "What you asked for in the meantime was for that session; ask again";

/// The command that lists the sessions.
const SESSIONS: &str = "/resume";

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
                Back::LineBegins(..) | Back::Custom(..) => {}
            }
        }
    }

    /// A session could not be opened.
    pub(super) fn not_opened(&mut self, error: &AppError) {
        if !self.session.is_open() {
            return self.open_here(error);
        }
        self.app.transcript.say(Tone::Warning, error.words());
        // Nobody has the session any more, and it can't be gone on with here.
        if std::mem::take(&mut self.takes_over) {
            self.over = true;
            return self.end_if_over();
        }
        self.app.opening = false;
        self.stay();
        // They came for another session: the others are there to choose from.
        if self.app.unchosen {
            let effects = say_first(&mut self.app, SESSIONS.to_owned());
            self.app.wants(effects);
        }
    }

    /// The first session could not be opened: where the process that had it open is gone since, it is opened here.
    fn open_here(&mut self, error: &AppError) {
        match self.host.successor() {
            Some((wanted, told)) if !self.takes_over => {
                self.takes_over = true;
                self.app.transcript.say(Tone::Warning, told);
                self.errands.open(wanted, Retold::Whole);
            }
            Some(_) | None => {
                self.failed = Some(error.words());
                self.quits = true;
            }
        }
    }

    /// A session could not be opened, and the one before it stays: it hears what was said meanwhile, and is asked
    /// nothing that was meant for the other.
    fn stay(&mut self) {
        let (kept, dropped) = for_the_old(std::mem::take(&mut self.early));
        if !dropped.is_empty() {
            self.app.transcript.say(Tone::Warning, DROPPED);
        }
        self.app.wants(kept);
    }

    /// The events of the session ended with an error.
    pub(super) fn lose(&mut self, error: ClientError) {
        match error {
            ClientError::Failed { .. } => self.lost = Some(error),
            ClientError::Gone | ClientError::Refused(_) => self.app.transcript.say(Tone::Warning, error.to_string()),
        }
    }

    /// Something was refused. When that is because nothing can be kept any more, the events end with the same words:
    /// those are told, and what was to be said is kept. Gives back what is still to be told.
    pub(super) fn unless_lost(&mut self, news: News, events: &mut Option<EventStream>) -> Option<News> {
        let (News::Refused(error, _) | News::NotRun(error, _) | News::NotDecided(error, _) | News::Unanswered(error)) =
            &news
        else {
            return Some(news);
        };
        if !matches!(error, ClientError::Failed { code: ErrorCode::StoreFailed, .. }) {
            return Some(news);
        }
        while let Some(event) = events.as_mut().and_then(|events| events.next().now_or_never()) {
            self.take(event, events);
        }
        if self.lost.is_none() {
            return Some(news);
        }
        if let News::Refused(_, Some(unsent)) = &news {
            self.host.remember(unsent.text.trim());
        }
        None
    }

    /// The session is gone. Was it another process's, then this window goes on with it; what is being written stays.
    pub(super) fn goes_on_alone(&mut self) {
        // It goes on elsewhere, and this window hears in a moment that it does.
        if self.app.detaching == Detaching::Asked {
            self.app.detaching = Detaching::Ended;
            return;
        }
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
        for news in [self.errands.stop_custom(), self.errands.stop_shell(false)].concat() {
            drop(self.app.news(news));
        }
        self.terminal.close(&mut self.app);
        drop(guard);
        if self.terminal.keys.is_none() {
            guard::mend();
        }
    }
}
