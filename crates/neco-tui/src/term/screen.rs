//! Frames: finished lines scroll away for good, live rows are drawn over the last ones.

use std::fmt::Write as _;
use std::io::{self, Write};

use ratatui::text::Line;

use super::ansi::{Depth, write_line};

const BEGIN: &str = "\x1b[?2026h\x1b[?25l";
const END: &str = "\x1b[?2026l";

/// Around a live row that the terminal may take for wider than it was counted: it is cut at the margin then, and every
/// further count holds. Not around every row: one that was drawn for a wider terminal is to be folded, not cut.
const KEEP_ROW: &str = "\x1b[?7l";
const FOLD_ROWS: &str = "\x1b[?7h";

/// Erases from the beginning of this row on; the cursor stays there. Not in one go: what is erased from the first cell
/// of the screen on, tmux takes for a wish to scroll all of it into the scrollback.
const ERASE: &str = "\r\x1b7\x1b[K\x1b[1B\x1b[J\x1b8";

/// Where the terminal's cursor is to be, counted in live rows and columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cursor {
    /// From the first live row.
    pub row: usize,
    /// From the left.
    pub column: usize,
}

/// One frame.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Lines that are done: they go into the terminal's scrollback and are never touched again.
    pub finished: Vec<Line<'static>>,
    /// Whether some of them are wider than the terminal, which folds them then.
    pub folds: bool,
    /// The live rows; at most as many as the terminal has.
    pub live: Vec<Line<'static>>,
    /// Where the person types; hidden when nobody does.
    pub cursor: Option<Cursor>,
}

/// The bottom of a terminal.
#[derive(Debug)]
pub struct Screen<W> {
    out: W,
    depth: Depth,
    reflows: bool,
    rows: Vec<Line<'static>>,
    at: Cursor,
    shows_cursor: bool,
    /// The size that the terminal was given since the last frame, should it have another one.
    folded: Option<(u16, u16)>,
}

impl<W: Write> Screen<W> {
    /// A screen that begins where the cursor is, at the beginning of a line.
    pub fn new(out: W, depth: Depth) -> Self {
        Self { out, depth, reflows: true, rows: Vec::new(), at: Cursor::default(), shows_cursor: true, folded: None }
    }

    /// On a terminal that does not fold its rows anew when it gets narrower.
    #[must_use]
    pub fn without_reflow(self) -> Self {
        Self { reflows: false, ..self }
    }

    /// Draws a frame. Rows that are the same as before are not written again.
    ///
    /// # Errors
    /// When the terminal can't be written to.
    pub fn draw(&mut self, frame: Frame) -> io::Result<()> {
        if self.folded.is_some() {
            self.clear()?;
        }
        let same_height = frame.finished.is_empty() && frame.live.len() == self.rows.len();
        let cursor = frame.cursor.map(|cursor| Cursor { row: cursor.row.min(last(&frame.live)), ..cursor });
        if same_height && frame.live == self.rows && cursor == self.shows_cursor.then_some(self.at) {
            return Ok(());
        }
        let mut bytes = String::from(BEGIN);
        let at = if same_height { self.mend(&mut bytes, &frame.live) } else { self.redraw(&mut bytes, &frame) };
        self.rows = frame.live;
        self.at = at;
        self.place(&mut bytes, cursor);
        bytes.push_str(END);
        self.out.write_all(bytes.as_bytes())?;
        self.out.flush()
    }

    /// The terminal has another size: its rows were folded anew. The next frame takes the live ones off and draws all.
    /// Only what was written last and the newest size count, however many sizes there were between.
    pub fn resized(&mut self, width: u16, height: u16) {
        self.folded = Some((width, height));
    }

    /// Whether the terminal was given another size since the last frame.
    #[must_use]
    pub fn is_folded(&self) -> bool {
        self.folded.is_some()
    }

    /// Takes the live rows off; the cursor is where they began.
    ///
    /// # Errors
    /// When the terminal can't be written to.
    pub fn clear(&mut self) -> io::Result<()> {
        let up = match self.folded.take() {
            Some((width, height)) => self.folded_rows(usize::from(width).max(1), usize::from(height)),
            None => self.at.row,
        };
        self.take_off(up)
    }

    /// Takes everything off the screen: what is finished goes into the scrollback, whoever wrote between it.
    ///
    /// # Errors
    /// When the terminal can't be written to.
    pub fn wipe(&mut self, height: u16) -> io::Result<()> {
        self.clear()?;
        let rows = usize::from(height).max(1);
        let bytes = format!("\x1b[{rows}B{}\x1b[H", "\n".repeat(rows));
        self.out.write_all(bytes.as_bytes())?;
        self.out.flush()
    }

    /// How many rows the cursor is below the first live one, now that a terminal of this size shows them.
    fn folded_rows(&self, width: usize, height: usize) -> usize {
        let folded = |row: &Line<'static>| if self.reflows { row.width().max(1).div_ceil(width) } else { 1 };
        let above: usize = self.rows.iter().take(self.at.row).map(folded).sum();
        let within = if self.reflows { self.at.column / width } else { 0 };
        (above + within).min(height.saturating_sub(1))
    }

    /// Somebody else wrote to the terminal: what is there stays, and the next frame begins below it.
    pub fn abandon(&mut self) {
        self.folded = None;
        self.rows.clear();
        self.at = Cursor::default();
        self.shows_cursor = true;
    }

    /// What frames are written to.
    pub fn out(&mut self) -> &mut W {
        &mut self.out
    }

    fn take_off(&mut self, up: usize) -> io::Result<()> {
        let mut bytes = String::new();
        move_rows(&mut bytes, up, 0);
        bytes.push_str("\x1b[0m");
        bytes.push_str(ERASE);
        bytes.push_str("\x1b[?25h");
        self.rows.clear();
        self.at = Cursor::default();
        self.shows_cursor = true;
        self.out.write_all(bytes.as_bytes())?;
        self.out.flush()
    }

    /// Only the rows that are different.
    fn mend(&self, bytes: &mut String, live: &[Line<'static>]) -> Cursor {
        let mut row = self.at.row;
        for (index, (new, old)) in live.iter().zip(&self.rows).enumerate() {
            if new != old {
                move_rows(bytes, row, index);
                self.live_row(bytes, new);
                row = index;
            }
        }
        Cursor { row, column: 0 }
    }

    /// Finished lines first, which push the live ones down; without any the rows that are the same at the top stay.
    fn redraw(&self, bytes: &mut String, frame: &Frame) -> Cursor {
        let same = frame.live.iter().zip(&self.rows).take_while(|(new, old)| new == old).count();
        let same = if frame.finished.is_empty() { same } else { 0 };
        // One that is there is always written: the others follow it.
        let from = same.min(last(&frame.live)).min(last(&self.rows));
        move_rows(bytes, self.at.row, from);
        // What would be left of a taller frame, or beside the end of a line that the terminal folds.
        if frame.folds || self.rows.len() > frame.live.len() + frame.finished.len() {
            bytes.push_str(ERASE);
        }
        for line in &frame.finished {
            self.row(bytes, line);
            bytes.push_str("\r\n");
        }
        for (index, row) in frame.live.iter().enumerate().skip(from) {
            if index > from {
                bytes.push_str("\r\n");
            }
            self.live_row(bytes, row);
        }
        if frame.live.is_empty() {
            bytes.push('\r');
        }
        Cursor { row: last(&frame.live), column: 0 }
    }

    fn row(&self, bytes: &mut String, row: &Line<'static>) {
        // Erased first: at the end of a full row some terminals would erase its last character.
        bytes.push_str("\r\x1b[K");
        write_line(bytes, row, self.depth);
    }

    fn live_row(&self, bytes: &mut String, row: &Line<'static>) {
        let doubtful = row.spans.iter().any(|span| span.content.contains(is_doubtful));
        bytes.push_str(if doubtful { KEEP_ROW } else { "" });
        self.row(bytes, row);
        bytes.push_str(if doubtful { FOLD_ROWS } else { "" });
    }

    fn place(&mut self, bytes: &mut String, cursor: Option<Cursor>) {
        self.shows_cursor = cursor.is_some();
        let Some(cursor) = cursor else { return };
        move_rows(bytes, self.at.row, cursor.row);
        // Writing to a string can't fail.
        let _ = write!(bytes, "\x1b[{}G\x1b[?25h", cursor.column + 1);
        self.at = cursor;
    }
}

/// Whether terminals differ in how wide they make what it is part of: joined emoji, flags, signs that may be emoji.
fn is_doubtful(char: char) -> bool {
    matches!(char, '\u{200d}' | '\u{fe0f}' | '\u{1f1e6}'..='\u{1f1ff}' | '\u{1f3fb}'..='\u{1f3ff}')
}

fn last(rows: &[Line<'static>]) -> usize {
    rows.len().saturating_sub(1)
}

fn move_rows(bytes: &mut String, from: usize, to: usize) {
    // Writing to a string can't fail.
    let _ = match to.cmp(&from) {
        std::cmp::Ordering::Less => write!(bytes, "\x1b[{}A", from - to),
        std::cmp::Ordering::Greater => write!(bytes, "\x1b[{}B", to - from),
        std::cmp::Ordering::Equal => Ok(()),
    };
}
