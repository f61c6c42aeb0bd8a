//! The screen below while the alternate one is shown: what was drawn on it is known, and stands there again afterwards.

use std::io::{self, Write};

use ratatui::text::Line;

use super::screen::{Cursor, Screen};

/// To the alternate screen of the terminal, which is empty then, and back; keys come there as they come here.
const ENTER_ALTERNATE: &str = "\x1b[?1049h\x1b[>1u\x1b[m\x1b[H";
pub(super) const LEAVE_ALTERNATE: &str = "\x1b[<1u\x1b[?1049l";

/// Erases all of the alternate screen, which has no scrollback.
const EMPTY: &str = "\x1b[m\x1b[H\x1b[2J";

/// What was drawn on one of the two screens, and what is known of it.
#[derive(Clone, Debug, Default)]
pub(super) struct Live {
    pub(super) rows: Vec<Line<'static>>,
    pub(super) at: Cursor,
    /// The size that the terminal had when the last frame was drawn, where that is known.
    pub(super) size: (usize, usize),
    /// Live rows that went into the scrollback when the terminal was made smaller, right above the live ones: many
    /// terminals bring them back when they are made bigger.
    pub(super) lost: Vec<Line<'static>>,
    /// Whether the next frame begins in the first row of the terminal, and is to end in its last one.
    pub(super) fills: bool,
    /// Blank rows above the live ones for that; what is finished next takes their place.
    pub(super) blank: usize,
    /// Rows that were finished above the live ones, as far as that is known.
    pub(super) finished: usize,
    /// Whether the live rows end in the last row of the terminal: fewer of them end there, too, so that the field stays
    /// where it is.
    pub(super) ends_last: bool,
}

impl<W: Write> Screen<W> {
    /// Whether the alternate screen is shown.
    pub fn is_alternate(&self) -> bool {
        self.below.is_some()
    }

    /// Shows the alternate screen. Nothing is folded there when it gets another size, and everything is drawn anew.
    pub(super) fn enter_alternate(&mut self) -> io::Result<()> {
        let is_folded = self.folded.take().is_some();
        if self.is_alternate() {
            return if is_folded { self.empty_alternate() } else { Ok(()) };
        }
        self.below = Some(std::mem::take(&mut self.shown));
        self.out.write_all(ENTER_ALTERNATE.as_bytes())
    }

    /// Shows the usual screen again, as it was. Has the terminal another size than then, it folds its rows now.
    pub(super) fn leave_alternate(&mut self) -> io::Result<()> {
        let Some(below) = self.below.take() else { return Ok(()) };
        let alternate = std::mem::replace(&mut self.shown, below);
        let size = self.folded.take().unwrap_or(alternate.size);
        self.folded = (size != self.shown.size).then_some(size);
        self.out.write_all(LEAVE_ALTERNATE.as_bytes())
    }

    /// Takes everything off the alternate screen.
    pub(super) fn empty_alternate(&mut self) -> io::Result<()> {
        self.shown.rows.clear();
        self.shown.at = Cursor::default();
        self.out.write_all(EMPTY.as_bytes())
    }
}
