//! The terminal that the window has: when a frame is drawn on it, how much of what is finished leaves with it, and when
//! it is another program's.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use ratatui::text::Line;
use rustix::termios::tcgetwinsize;
use tokio::time::Instant;

use super::pace::Pace;
use crate::app::WindowState;
use crate::looks::Looks;
use crate::term::ground::{self, Alternate};
use crate::term::keys::Came;
use crate::term::screen::Frame;
use crate::term::{Keys, Screen, Writer, give_back, retake, set_alternate};

/// How often marks turn while something runs.
pub(super) const TICK: Duration = Duration::from_millis(120);

/// How often a time that goes on is told anew over a slow line.
const SLOW_TICK: Duration = Duration::from_secs(5);

/// A terminal has kept its size for so long before a frame is drawn for it. tmux folds its rows at once but tells of a
/// second size only 250 ms after the first: until then nobody knows where the live rows begin, and what is finished
/// would be erased with them.
const STILL: Duration = Duration::from_millis(350);

/// How long a question counts as not read of which something is still to be drawn.
const UNREAD: Duration = Duration::from_secs(10);

/// Long enough to be as good as not at all.
const NEVER: Duration = Duration::from_secs(3600);

/// Rows that leave with one frame, unless the line is slow.
const AT_MOST: usize = 400;

/// A frame that takes longer to be written is not on the screen.
const SLOW: Duration = Duration::from_millis(100);

/// How long a terminal may take for what is to be written before somebody else has it.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long the first answers are waited for.
const FIRST: Duration = Duration::from_millis(100);

/// The terminal, as long as a window has it.
pub(super) struct Terminal {
    pub(super) screen: Screen<Vec<u8>>,
    pub(super) writer: Writer,
    /// What comes from it; none while it is another program's.
    pub(super) keys: Option<Keys>,
    pub(super) size: (u16, u16),
    pace: Pace,
    /// Whether keys came since the last frame.
    pub(super) typed: bool,
    /// The bytes of the last frame, if the terminal is to be asked behind it.
    asks: Option<usize>,
    /// Whether the last frame is not all there is to draw.
    behind: bool,
    /// The question of the last frame.
    question: Option<u64>,
    /// Until when nothing is drawn, because an edge is being dragged.
    pub(super) still: Instant,
    /// When the last frame was handed to the writer.
    flushed: Instant,
    /// What is finished of a frame that was not written; it leaves with the next one.
    held: Vec<Line<'static>>,
}

impl Terminal {
    /// The terminal of this process, which is asked at once how far away it is.
    pub(super) fn new(looks: &Looks) -> io::Result<Self> {
        let screen = Screen::new(Vec::new(), looks.depth);
        let screen = if looks.reflows { screen } else { screen.without_reflow() };
        Ok(Self {
            screen: if has_alternate(ground::alternate(), looks) { screen } else { screen.without_alternate() },
            writer: Writer::new(File::from(io::stdout().as_fd().try_clone_to_owned()?))?,
            keys: Some(Keys::ask()),
            size: size().or_else(|| crossterm::terminal::size().ok()).unwrap_or((80, 24)),
            pace: Pace::default(),
            typed: false,
            asks: None,
            behind: false,
            question: None,
            still: Instant::now(),
            flushed: Instant::now(),
            held: Vec::new(),
        })
    }

    /// Whether the last frame takes so long that it is not on the screen.
    pub(super) fn is_stuck(&self) -> bool {
        !self.writer.is_free() && self.flushed.elapsed() > SLOW
    }

    /// When a frame can be drawn next. Nothing is due while the terminal is somebody else's.
    pub(super) fn wakes(&self, due: Instant, app: &WindowState) -> Instant {
        let now = Instant::now();
        match (&self.keys, self.writer.is_free()) {
            (None, _) => now + NEVER,
            (Some(_), false) => due.max(now + TICK),
            // Nobody hears the keys until it is looked again.
            (Some(Keys::Waiting), true) => now + TICK,
            (Some(_), true) if self.typed && app.leaving.slow.is_some() => due.max(self.pace.keys_at(now)),
            (Some(_), true) => due.max(self.free_at(now)),
        }
    }

    /// When the line takes the next frame. A quick one is not left alone for a while when the terminal has folded what is
    /// on it: getting another size is what held it up.
    fn free_at(&self, now: Instant) -> Instant {
        if self.screen.is_folded() && self.pace.is_known_quick() { now } else { self.pace.next(now) }
    }

    /// How long the next frame can wait when nothing happens.
    pub(super) fn rest(&self, app: &WindowState, looks_again: bool) -> Duration {
        // What is finished leaves as fast as the terminal takes it.
        let leaves = !app.leaving.is_empty() && !app.is_alternate();
        if self.behind || leaves && (!self.pace.is_slow() || app.leaving.slow.is_some()) {
            return Duration::ZERO;
        }
        let tick = if app.leaving.slow.is_some() { SLOW_TICK } else { TICK };
        if app.moves() || looks_again { tick } else { NEVER }
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
    pub(super) fn draw(&mut self, app: &mut WindowState) -> io::Result<bool> {
        if self.keys.is_none() || !self.writer.is_free() {
            return Ok(false);
        }
        self.note_screen();
        app.leaving.one_screen = !self.screen.has_alternate();
        let now = Instant::now();
        if let Some((bytes, took)) = self.writer.take_last() {
            self.pace.took(bytes, took, now);
        }
        // The signal that tells of it may come later.
        self.look();
        if self.still > now {
            return Ok(false);
        }
        if self.draw_field(now, app)? {
            return Ok(true);
        }
        if self.still > now || self.free_at(now) > now {
            return Ok(false);
        }
        // Over a slow line what is finished leaves in portions, so that keys and answers to them are not behind all of it.
        app.leaving.slow = self.pace.room();
        let least = usize::from(self.size.1 / 3).max(4);
        app.leaving.portion =
            if self.pace.is_slow() { least } else { app.leaving.portion.saturating_mul(2).clamp(least, AT_MOST) };
        // What is taken off is counted by the size that the terminal has now, not by the one it told of.
        if self.screen.is_folded() {
            self.size = size().unwrap_or(self.size);
            self.screen.resized(self.size.0, self.size.1);
        }
        let frame = app.frame(self.size.0, self.size.1);
        let Some(is_whole) = self.put(frame, app)? else { return Ok(false) };
        let was_whole = !std::mem::replace(&mut self.behind, !is_whole);
        self.typed = false;
        self.show_question(now, was_whole && is_whole, app);
        Ok(true)
    }

    /// Writes a frame, and tells whether it is all there. None where the terminal got another size while the frame was
    /// made: it counts its rows as they were folded before, would leave some of them or erase what is finished, and is
    /// not written.
    fn put(&mut self, frame: Frame, app: &WindowState) -> io::Result<Option<bool>> {
        let frame = self.with_held(frame);
        let (known, finished) = (self.screen.known(), frame.finished.clone());
        let is_whole = self.screen.draw_within(frame, app.leaving.slow.unwrap_or(usize::MAX))?;
        if let Some(size) = size().filter(|size| *size != self.size) {
            self.screen.take_back(known);
            self.held.extend(finished);
            self.resized(size);
            return Ok(None);
        }
        self.flush();
        Ok(Some(is_whole))
    }

    /// The frame with what is finished and was held back before; nothing is finished on the alternate screen.
    fn with_held(&mut self, mut frame: Frame) -> Frame {
        if !frame.alternate && !self.held.is_empty() {
            frame.finished.splice(..0, self.held.drain(..));
            // It may have been drawn for a wider terminal.
            frame.folds |= frame.finished.iter().any(|row| row.width() > frame.size.0);
        }
        frame
    }

    /// A question is read once all of it is on the screen: over a slow line that takes its time.
    fn show_question(&mut self, now: Instant, whole: bool, app: &mut WindowState) {
        // A list that is open is one too, covers the others, and has no number.
        let question = if app.picker.is_some() { Some(u64::MAX) } else { app.asking() };
        let same = std::mem::replace(&mut self.question, question) == question;
        if question.is_none() || whole && (same || app.leaving.slow.is_none()) {
            return;
        }
        let wait = if self.behind { UNREAD } else { self.pace.arrives(now).saturating_duration_since(now) };
        app.unseen(app.now_ms + i64::try_from(wait.as_millis()).unwrap_or_default());
    }

    /// Over a slow line what was typed is drawn alone, and at once; the rest follows when there is room for it.
    fn draw_field(&mut self, now: Instant, app: &mut WindowState) -> io::Result<bool> {
        if !std::mem::take(&mut self.typed) || app.leaving.slow.is_none() || self.screen.is_folded() {
            return Ok(false);
        }
        if self.pace.keys_at(now) > now {
            self.typed = true;
            return Ok(false);
        }
        let Some(frame) = app.field_frame(self.size.0, self.size.1) else { return Ok(false) };
        let is_written = self.put(frame, app)?.is_some();
        (self.behind, self.typed) = (self.behind || is_written, !is_written);
        Ok(is_written)
    }

    fn flush(&mut self) {
        self.flushed = Instant::now();
        let bytes = self.take_bytes();
        if bytes.is_empty() {
            return;
        }
        let length = bytes.len();
        self.pace.sent(length, self.flushed);
        self.asks = self.pace.asks(length, self.flushed).then_some(length);
        self.writer.write(bytes);
    }

    /// Takes what is to be written. That it shows the alternate screen is noted before it is written; that it leaves it
    /// only afterwards, as a terminal that takes nothing is still there.
    fn take_bytes(&mut self) -> Vec<u8> {
        if self.screen.is_alternate() {
            set_alternate(true);
        }
        std::mem::take(self.screen.out())
    }

    /// Notes which screen is shown, once everything is written.
    fn note_screen(&self) {
        if self.writer.is_free() {
            set_alternate(self.screen.is_alternate());
        }
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

    /// The terminal is asked before anything else is done, and behind the first frame. The answers of one beside us are
    /// there at once; nobody waits long for any other.
    pub(super) async fn first_answers(&mut self, app: &mut WindowState) -> io::Result<()> {
        let by = Instant::now() + FIRST;
        self.pace.asked(0, Instant::now());
        self.hear(by).await;
        while self.keys.as_ref().is_some_and(Keys::is_waiting)
            && self.pace.is_open(Instant::now())
            && Instant::now() < by
        {
            self.draw(app)?;
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
    pub(super) async fn step_aside(&mut self) -> io::Result<()> {
        self.hear_out().await;
        self.screen.clear()?;
        let bytes = self.take_bytes();
        self.writer.write(bytes);
        // Dropping them stops the thread that reads them.
        self.keys = None;
        let written = async {
            while !self.writer.is_free() {
                self.writer.freed().await;
            }
        };
        // A terminal that takes nothing can't be had for an editor either; the person sees why.
        let _ = tokio::time::timeout(PATIENCE, written).await;
        self.note_screen();
        give_back();
        Ok(())
    }

    /// The terminal is ours again; what is on it stays, and the next frame begins below.
    pub(super) fn step_in(&mut self) -> io::Result<()> {
        retake()?;
        self.keys = Some(Keys::new());
        self.size = size().unwrap_or(self.size);
        self.screen.abandon();
        Ok(())
    }

    /// The terminal was another's without a word, and is taken again as it is.
    pub(super) fn take_again(&mut self) -> io::Result<()> {
        self.note_screen();
        give_back();
        retake()?;
        self.size = size().unwrap_or(self.size);
        self.screen.abandon();
        Ok(())
    }

    /// Takes the live rows off with the last frame, and writes no more. What an editor has on the screen is not drawn
    /// over.
    pub(super) fn close(&mut self, app: &mut WindowState) {
        if self.keys.is_some() {
            let frame = app.last_frame(self.size.0, self.size.1);
            let frame = self.with_held(frame);
            // There is no better place to complain of a terminal than the terminal.
            let _ = self.screen.draw(frame);
            let _ = self.screen.clear();
            let bytes = self.take_bytes();
            self.writer.write(bytes);
        }
        if self.writer.close() {
            set_alternate(self.screen.is_alternate());
        }
    }
}

/// Whether an alternate screen is used of which this is known. Without one everything is drawn on the usual screen: that is
/// better than to count on rows that do not come back.
fn has_alternate(told: Alternate, looks: &Looks) -> bool {
    match told {
        Alternate::Told(has) => has,
        Alternate::Untold => looks.tmux,
        // A terminal that does not even say what was pasted has one screen, as far as anybody knows.
        Alternate::NotAsked => looks.marks_pastes,
    }
}

/// Columns and rows of the terminal that is drawn on.
fn size() -> Option<(u16, u16)> {
    let size = tcgetwinsize(io::stdout()).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then_some((size.ws_col, size.ws_row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_has_an_alternate_screen_where_it_says_so_and_in_tmux() {
        let (plain, tmux) = (Looks::default(), Looks { tmux: true, ..Looks::default() });
        assert!(has_alternate(Alternate::Told(true), &plain) && !has_alternate(Alternate::Told(false), &tmux));
        assert!(!has_alternate(Alternate::Untold, &plain), "mosh marks pastes and has one screen");
        assert!(has_alternate(Alternate::Untold, &tmux));
        let few = Looks { marks_pastes: false, ..Looks::default() };
        assert!(has_alternate(Alternate::NotAsked, &plain) && !has_alternate(Alternate::NotAsked, &few));
    }
}
