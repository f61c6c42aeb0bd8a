//! When a frame is drawn, and how much of what is finished leaves with it.

use std::io;
use std::time::Duration;

use rustix::termios::tcgetwinsize;
use tokio::time::Instant;

use super::window::{Window, WindowError};
use crate::term::Keys;

/// How often marks turn while something runs.
pub(super) const TICK: Duration = Duration::from_millis(120);

/// How often a time that goes on is told anew over a slow line.
const SLOW_TICK: Duration = Duration::from_secs(5);

/// A terminal has kept its size for so long before a frame is drawn for it. tmux folds its rows at once but tells of a
/// second size only 250 ms after the first: until then nobody knows where the live rows begin, and what is finished
/// would be erased with them.
const STILL: Duration = Duration::from_millis(300);

/// How long a question counts as not read of which something is still to be drawn.
const UNREAD: Duration = Duration::from_secs(10);

/// Long enough to be as good as not at all.
const NEVER: Duration = Duration::from_secs(3600);

/// Rows that leave with one frame, unless the line is slow.
const AT_MOST: usize = 400;

impl Window {
    /// When a frame can be drawn next. Nothing is due while the terminal is somebody else's.
    pub(super) fn wakes(&self, due: Instant) -> Instant {
        let now = Instant::now();
        match (&self.keys, self.writer.is_free()) {
            (None, _) => now + NEVER,
            (Some(_), false) => due.max(now + TICK),
            // Nobody hears the keys until it is looked again.
            (Some(Keys::Waiting), true) => now + TICK,
            (Some(_), true) if self.typed && self.app.leaving.slow.is_some() => due.max(self.pace.keys_at(now)),
            (Some(_), true) => due.max(self.pace.next(now)),
        }
    }

    /// How long the next frame can wait when nothing happens.
    pub(super) fn rest(&self) -> Duration {
        // What is finished leaves as fast as the terminal takes it.
        if self.behind || !self.app.leaving.is_empty() && (!self.pace.is_slow() || self.app.leaving.slow.is_some()) {
            return Duration::ZERO;
        }
        let tick = if self.app.leaving.slow.is_some() { SLOW_TICK } else { TICK };
        if self.app.moves() || self.looks_again { tick } else { NEVER }
    }

    /// Looks what size the terminal has.
    pub(super) fn look(&mut self) {
        if self.keys.is_some() {
            self.resized(size().unwrap_or(self.size));
        }
    }

    pub(super) fn resized(&mut self, size: (u16, u16)) {
        if size != self.size {
            self.screen.resized(size.0, size.1);
            self.size = size;
            self.still = Instant::now() + STILL;
        }
    }

    /// Draws a frame, unless the last one is not written yet or the terminal is somebody else's.
    pub(super) fn draw(&mut self) -> Result<bool, WindowError> {
        if self.keys.is_none() || !self.writer.is_free() {
            return Ok(false);
        }
        let now = Instant::now();
        if let Some((bytes, took)) = self.writer.take_last() {
            self.pace.took(bytes, took, now);
        }
        // The signal that tells of it may come later.
        self.look();
        if self.still > now {
            return Ok(false);
        }
        if self.draw_field(now)? {
            return Ok(true);
        }
        if self.pace.next(now) > now {
            return Ok(false);
        }
        // Over a slow line what is finished leaves in portions, so that keys and answers to them are not behind all of it.
        self.app.leaving.slow = self.pace.room();
        let least = usize::from(self.size.1 / 3).max(4);
        self.app.leaving.portion =
            if self.pace.is_slow() { least } else { self.app.leaving.portion.saturating_mul(2).clamp(least, AT_MOST) };
        // What is taken off is counted by the size that the terminal has now, not by the one it told of.
        if self.screen.is_folded() {
            self.size = size().unwrap_or(self.size);
            self.screen.resized(self.size.0, self.size.1);
        }
        let frame = self.app.frame(self.size.0, self.size.1);
        let was_whole = !self.behind;
        self.behind = !self.screen.draw_within(frame, self.app.leaving.slow.unwrap_or(usize::MAX))?;
        self.typed = false;
        self.flush();
        self.show_question(now, was_whole && !self.behind);
        self.looks_again = self.errands.ask_status(&self.app);
        Ok(true)
    }

    /// A question is read once all of it is on the screen: over a slow line that takes its time.
    fn show_question(&mut self, now: Instant, whole: bool) {
        // A list that is open is one too, and has no number.
        let question = self.app.desk.front().or_else(|| self.app.picker.is_some().then_some(u64::MAX));
        let same = std::mem::replace(&mut self.question, question) == question;
        if question.is_none() || whole && (same || self.app.leaving.slow.is_none()) {
            return;
        }
        let wait = if self.behind { UNREAD } else { self.pace.arrives(now).saturating_duration_since(now) };
        self.app.unseen(self.app.now_ms + i64::try_from(wait.as_millis()).unwrap_or_default());
    }

    /// Over a slow line what was typed is drawn alone, and at once; the rest follows when there is room for it.
    fn draw_field(&mut self, now: Instant) -> Result<bool, WindowError> {
        if !std::mem::take(&mut self.typed) || self.app.leaving.slow.is_none() || self.screen.is_folded() {
            return Ok(false);
        }
        if self.pace.keys_at(now) > now {
            self.typed = true;
            return Ok(false);
        }
        let Some(frame) = self.app.field_frame(self.size.0, self.size.1) else { return Ok(false) };
        self.screen.draw_within(frame, self.app.leaving.slow.unwrap_or(usize::MAX))?;
        self.flush();
        self.behind = true;
        Ok(true)
    }

    pub(super) fn flush(&mut self) {
        self.flushed = Instant::now();
        let bytes = std::mem::take(self.screen.out());
        if bytes.is_empty() {
            return;
        }
        let length = bytes.len();
        self.pace.sent(length, self.flushed);
        self.asks = self.pace.asks(length, self.flushed).then_some(length);
        self.writer.write(bytes);
    }

    /// Asks the terminal what is to be asked, once what comes before the question is written; listens to the keys when
    /// there is no more of it.
    pub(super) fn ask(&mut self) {
        let now = Instant::now();
        if !self.keys.as_ref().is_some_and(Keys::is_waiting) || !self.writer.is_free() {
            return;
        }
        if let Some(bytes) = self.asks.take() {
            self.pace.asked(bytes, now);
            self.keys = Some(Keys::ask());
        } else if !self.pace.is_open(now) {
            self.keys = Some(Keys::new());
        }
    }

    /// The terminal answered after this time, or did not.
    pub(super) fn answered(&mut self, took: Option<Duration>) {
        let now = Instant::now();
        self.pace.answered(took, now);
        // There is one more question: behind a frame with all that is there.
        if self.pace.is_open(now) {
            self.screen.forget();
        }
    }
}

/// Columns and rows of the terminal that is drawn on.
pub(super) fn size() -> Option<(u16, u16)> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
}
