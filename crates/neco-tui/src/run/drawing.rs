//! When a frame is drawn, and how much of what is finished leaves with it.

use std::time::Duration;

use tokio::time::Instant;

use super::window::{Window, WindowError};

/// How often marks turn while something runs.
pub(super) const TICK: Duration = Duration::from_millis(120);

/// Long enough to be as good as not at all.
const NEVER: Duration = Duration::from_secs(3600);

/// Rows that leave with one frame, unless the line is slow.
const AT_MOST: usize = 400;

impl Window {
    /// When a frame can be drawn next. Nothing is due while the terminal is somebody else's.
    pub(super) fn wakes(&self, due: Instant) -> Instant {
        match (self.keys.is_some(), self.writer.is_free()) {
            (true, true) => due.max(self.pace.next(Instant::now())),
            (true, false) => due.max(Instant::now() + TICK),
            (false, _) => Instant::now() + NEVER,
        }
    }

    /// How long the next frame can wait when nothing happens.
    pub(super) fn rest(&self) -> Duration {
        // What is finished leaves as fast as the terminal takes it.
        if !self.app.leaving.is_empty() && !self.pace.is_slow() {
            return Duration::ZERO;
        }
        if self.app.moves() || self.looks_again { TICK } else { NEVER }
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
        if self.pace.next(now) > now {
            return Ok(false);
        }
        // Over a slow line what is finished leaves in portions, so that keys and answers to them are not behind all of it.
        let least = usize::from(self.size.1 / 3).max(4);
        self.app.portion =
            if self.pace.is_slow() { least } else { self.app.portion.saturating_mul(2).clamp(least, AT_MOST) };
        // What is taken off is counted by the size that the terminal has now, not by the one it told of.
        if self.screen.is_folded() {
            self.size = crossterm::terminal::size().unwrap_or(self.size);
            self.screen.resized(self.size.0, self.size.1);
        }
        let frame = self.app.frame(self.size.0, self.size.1);
        self.screen.draw(frame)?;
        self.flush();
        self.looks_again = self.errands.ask_status(&self.app);
        Ok(true)
    }

    pub(super) fn flush(&mut self) {
        self.flushed = Instant::now();
        self.writer.write(std::mem::take(self.screen.out()));
    }
}
