//! Frames: finished lines scroll away for good, live rows are drawn over the last ones.

use std::io::{self, Write};

use ratatui::text::Line;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::alternate::Live;
use super::ansi::Depth;
use super::pen::Pen;

const BEGIN: &str = "\x1b[?2026h\x1b[?25l";
const END: &str = "\x1b[?2026l";
const SHOW: &str = "\x1b[?25h";
const HIDE: &str = "\x1b[?25l";

/// So many bytes in the row of the cursor need no marks around them: a key, a word.
const QUIET: usize = 48;

/// Erases from the beginning of this row on; the cursor stays there. Not in one go: what is erased from the first cell
/// of the screen on, tmux takes for a wish to scroll all of it into the scrollback.
const ERASE: &str = "\r\x1b7\x1b[K\x1b[1B\x1b[J\x1b8";

/// So many rows are remembered that were lost; no terminal brings more of them back at once.
const MOST_LOST: usize = 300;

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
    /// Columns and rows of the terminal that it is for; where they are not known everything is written.
    pub size: (usize, usize),
    /// Whether it is for the alternate screen of the terminal: what is on the usual one is there again afterwards.
    /// Nothing is finished with it.
    pub alternate: bool,
}

/// The bottom of a terminal.
#[derive(Debug)]
pub struct Screen<W> {
    pub(super) out: W,
    depth: Depth,
    reflows: bool,
    pub(super) shows_cursor: bool,
    /// The size that the terminal was given since the last frame, should it have another one.
    pub(super) folded: Option<(usize, usize)>,
    /// What was drawn on the screen that is shown.
    pub(super) shown: Live,
    /// What was drawn on the usual screen while the alternate one is shown.
    pub(super) below: Option<Live>,
    has_alternate: bool,
}

impl<W: Write> Screen<W> {
    /// A screen that begins where the cursor is, at the beginning of a line.
    pub fn new(out: W, depth: Depth) -> Self {
        Self {
            out,
            depth,
            reflows: true,
            shows_cursor: true,
            folded: None,
            shown: Live::default(),
            below: None,
            has_alternate: true,
        }
    }

    /// On a terminal that does not fold its rows anew when it gets narrower.
    #[must_use]
    pub fn without_reflow(self) -> Self {
        Self { reflows: false, ..self }
    }

    /// On a terminal that has one screen only.
    #[must_use]
    pub fn without_alternate(self) -> Self {
        Self { has_alternate: false, ..self }
    }

    /// Whether the terminal has an alternate screen.
    pub fn has_alternate(&self) -> bool {
        self.has_alternate
    }

    /// Draws a frame. What is the same as before is not written again.
    pub fn draw(&mut self, frame: Frame) -> io::Result<()> {
        self.draw_within(frame, usize::MAX).map(drop)
    }

    /// Draws what of a frame fits into about so many bytes: the row of the cursor before the others, and nothing is
    /// left out of a frame with other rows than before. Whether it is all there.
    pub fn draw_within(&mut self, frame: Frame, most: usize) -> io::Result<bool> {
        if frame.alternate && self.has_alternate {
            self.enter_alternate()?;
        } else {
            self.leave_alternate()?;
            if self.folded.is_some() {
                self.clear()?;
            }
        }
        let Frame { finished, folds, live, cursor, size, .. } = frame;
        let done = finished.len();
        self.shown.size = size;
        if done > 0 {
            // What is finished stands between them and the live rows now.
            self.shown.lost.clear();
        }
        let nothing_lives = live.is_empty();
        let owned = match (std::mem::take(&mut self.shown.fills), self.shown.blank) {
            (true, _) => size.1,
            (false, 0) if !self.shown.ends_last => 0,
            (false, _) => self.shown.rows.len(),
        };
        self.shown.blank = if nothing_lives { 0 } else { owned.saturating_sub(done + live.len()) };
        let blank = self.shown.blank;
        self.shown.finished = self.shown.finished.saturating_add(done);
        // Wherever the first of them began, so many rows reach the last one.
        let reaches = size.1 > 0 && self.shown.finished.saturating_add(blank + live.len()) >= size.1;
        self.shown.ends_last |= reaches && !self.is_alternate();
        let cursor = cursor.map(|cursor| Cursor { row: blank + cursor.row.min(last(&live)), ..cursor });
        let mut wanted = finished;
        wanted.extend(std::iter::repeat_n(Line::default(), blank));
        wanted.extend(live);
        if nothing_lives {
            // Whoever writes next begins below what is finished.
            wanted.push(Line::default());
        }
        let mut pen = Pen {
            bytes: String::new(),
            row: self.shown.at.row,
            column: Some(self.shown.at.column),
            size,
            depth: self.depth,
            keeps: false,
            scrolls: false,
        };
        let below = |rows: usize, at: usize| rows.saturating_sub(at);
        let bottom = cursor.map_or(0, |at| below(wanted.len(), done + at.row));
        let bottom = if bottom == below(self.shown.rows.len(), self.shown.at.row) { bottom } else { 0 };
        let parts = Parts::of(&self.shown.rows, &wanted, size.1, bottom).filter(|_| !folds);
        let whole = match parts {
            Some(parts) if parts.is_in_place() => {
                self.mend(&mut pen, &mut wanted, (done, cursor.map(|at| done + at.row)), most)
            }
            Some(parts) => {
                self.shift(&mut pen, &wanted, parts);
                true
            }
            None => {
                self.redraw(&mut pen, &wanted, folds);
                true
            }
        };
        self.shown.rows = if nothing_lives { Vec::new() } else { wanted.split_off(done) };
        // Where the cursor goes, counted as the pen counts.
        let to = cursor.unwrap_or(Cursor { row: last(&self.shown.rows), column: 0 });
        // In the row where it stands a change is seen as it is written.
        let beside =
            parts.is_some_and(|parts| parts.is_in_place()) && pen.row == self.shown.at.row && pen.row == done + to.row;
        let quiet = beside && pen.bytes.len() <= QUIET && self.shows_cursor && cursor.is_some();
        let changed = !pen.bytes.is_empty();
        pen.go(done + to.row, to.column);
        self.shown.at = to;
        if pen.bytes.is_empty() && cursor.is_some() == self.shows_cursor {
            return Ok(whole);
        }
        let mut bytes = String::new();
        bytes.push_str(if changed && !quiet { BEGIN } else { "" });
        bytes.push_str(&pen.bytes);
        if changed && !quiet {
            bytes.push_str(if cursor.is_some() { SHOW } else { "" });
            bytes.push_str(END);
        } else if cursor.is_some() != self.shows_cursor {
            bytes.push_str(if cursor.is_some() { SHOW } else { HIDE });
        }
        self.shows_cursor = cursor.is_some();
        self.out.write_all(bytes.as_bytes())?;
        self.out.flush()?;
        Ok(whole)
    }

    /// The terminal has another size: its rows were folded anew. The next frame takes the live ones off and draws all.
    /// Only what was written last and the newest size count, however many sizes there were between.
    pub fn resized(&mut self, width: u16, height: u16) {
        self.folded = Some((usize::from(width), usize::from(height)));
    }

    /// Whether the terminal was given another size since the last frame.
    pub fn is_folded(&self) -> bool {
        self.folded.is_some()
    }

    /// Takes the live rows off; the cursor is where they began.
    pub fn clear(&mut self) -> io::Result<()> {
        self.leave_alternate()?;
        let up = match self.folded.take() {
            Some((width, height)) => self.folded_up(width.max(1), height),
            None => self.shown.at.row,
        };
        self.take_off(up)
    }

    /// How far up the first row is that is to be taken off, on a terminal that has this size now: the first live one, or
    /// one that was lost and is there again. The way up ends at the first row of a terminal that brings none back: after
    /// a loss the live rows begin there.
    fn folded_up(&mut self, width: usize, height: usize) -> usize {
        let above = self.folded_rows(width);
        let up = above.min(height.saturating_sub(1));
        let lost = (above + 1 + self.kept_below(width, height)).saturating_sub(height).min(above);
        if lost > 0 {
            self.lose(lost, width);
            self.shown.fills = true;
            return up;
        }
        let mut back = 0;
        let more = height.saturating_sub(self.shown.size.1);
        while let Some(row) = self.shown.lost.pop() {
            let rows = if self.reflows { rows_of(&row, width) } else { 1 };
            if self.shown.size.1 == 0 || back + rows > more {
                self.shown.lost.push(row);
                break;
            }
            back += rows;
        }
        up + back
    }

    /// How many rows there are below the cursor on a terminal that has this size now: where it gets lower, those go first.
    fn kept_below(&self, width: usize, height: usize) -> usize {
        let below = self.shown.rows.get(self.shown.at.row + 1..).unwrap_or_default();
        let kept = below.len().saturating_sub(self.shown.size.1.saturating_sub(height));
        below.iter().take(kept).map(|row| if self.reflows { rows_of(row, width) } else { 1 }).sum()
    }

    /// So many rows, as a terminal of this width folds them, go into the scrollback.
    fn lose(&mut self, mut rows: usize, width: usize) {
        for line in &self.shown.rows {
            if rows == 0 {
                break;
            }
            let folded = if self.reflows { rows_of(line, width) } else { 1 };
            self.shown.lost.push(if folded > rows { beginning(line, width, rows) } else { line.clone() });
            rows = rows.saturating_sub(folded);
        }
        let beyond = self.shown.lost.len().saturating_sub(MOST_LOST);
        self.shown.lost.drain(..beyond);
    }

    /// Takes everything off the screen: what is finished goes into the scrollback, whoever wrote between it.
    pub fn wipe(&mut self, height: u16) -> io::Result<()> {
        if self.is_alternate() {
            return self.empty_alternate();
        }
        self.clear()?;
        self.shown.lost.clear();
        self.shown.fills = false;
        let rows = usize::from(height).max(1);
        let bytes = format!("\x1b[{rows}B{}\x1b[H", "\n".repeat(rows));
        self.out.write_all(bytes.as_bytes())?;
        self.out.flush()
    }

    /// How many rows the cursor is below the first live one, now that a terminal of this width folds them; not all of
    /// them need be on the screen.
    fn folded_rows(&self, width: usize) -> usize {
        let folded = |row: &Line<'static>| if self.reflows { rows_of(row, width) } else { 1 };
        let above: usize = self.shown.rows.iter().take(self.shown.at.row).map(folded).sum();
        let within = if self.reflows { self.shown.at.column / width } else { 0 };
        above + within
    }

    /// The next frame writes every row, the same or not.
    pub fn forget(&mut self) {
        // No row is ever this.
        self.shown.rows.fill(Line::raw("\u{1}"));
    }

    /// Somebody else wrote to the terminal: what is there stays, and the next frame begins below it.
    pub fn abandon(&mut self) {
        (self.folded, self.below) = (None, None);
        self.shown = Live { size: self.shown.size, ..Live::default() };
        self.shows_cursor = true;
    }

    /// What frames are written to.
    pub fn out(&mut self) -> &mut W {
        &mut self.out
    }

    fn take_off(&mut self, up: usize) -> io::Result<()> {
        let mut bytes = if up > 0 { format!("\x1b[{up}A") } else { String::new() };
        bytes.push_str("\x1b[m");
        bytes.push_str(ERASE);
        bytes.push_str("\x1b[?25h");
        self.shown.rows.clear();
        (self.shown.blank, self.shown.finished, self.shown.ends_last) = (0, 0, false);
        self.shown.at = Cursor::default();
        self.shows_cursor = true;
        self.out.write_all(bytes.as_bytes())?;
        self.out.flush()
    }

    /// Only what is different, in as many rows as before; live ones that there is no room for stay as they were. Those
    /// that are done are drawn in any case: they are never drawn again.
    fn mend(
        &self,
        pen: &mut Pen,
        wanted: &mut [Line<'static>],
        (done, first): (usize, Option<usize>),
        most: usize,
    ) -> bool {
        let mut whole = true;
        let others = (0..wanted.len()).filter(|index| Some(*index) != first);
        for index in first.into_iter().chain(others).collect::<Vec<_>>() {
            let (Some(new), Some(old)) = (wanted.get_mut(index), self.shown.rows.get(index)) else { continue };
            if new == old {
                continue;
            }
            if pen.bytes.len() >= most && index >= done {
                new.clone_from(old);
                whole = false;
                continue;
            }
            pen.patch(index, old, new, Some(index) == first);
        }
        pen.folds_again();
        whole
    }

    /// More rows or fewer than before: those below them are moved, not written again.
    ///
    /// The terminal may have been made narrower and have folded its rows when this comes to it. The cursor is then as
    /// far below the first live row as [`Screen::folded_rows`] counts nevertheless: a new row folds itself, and nothing
    /// stops the cursor on its way down.
    fn shift(&self, pen: &mut Pen, wanted: &[Line<'static>], parts: Parts) {
        let Parts { before, taken, put, after } = parts;
        let common = taken.min(put);
        let in_place = (before..before + common).map(|index| (index, index));
        let moved = (0..after).map(|row| (before + taken + row, before + put + row));
        for (index, wanted_at) in in_place.chain(moved) {
            if let (Some(old), Some(new)) = (self.shown.rows.get(index), wanted.get(wanted_at))
                && old != new
            {
                pen.patch(index, old, new, false);
            }
        }
        pen.folds_again();
        let at = before + common;
        if taken > put {
            pen.go(at, 0);
            pen.code(taken - put, 'M');
            return;
        }
        let more = put - common;
        pen.go_to_row(last(&self.shown.rows));
        pen.bytes.push_str(&"\n".repeat(more));
        pen.row += more;
        if after > 0 {
            pen.go(at, 0);
            pen.code(more, 'L');
        }
        pen.scrolls = true;
        for (index, row) in wanted.iter().enumerate().skip(at).take(more) {
            pen.go(index, 0);
            if after > 0 { pen.fresh(row) } else { pen.whole(row) }
        }
    }

    /// Everything from the first row on that is different; finished lines push the live ones down.
    fn redraw(&self, pen: &mut Pen, wanted: &[Line<'static>], folds: bool) {
        let same = wanted.iter().zip(&self.shown.rows).take_while(|(new, old)| new == old).count();
        // One that is there is always written: the others follow it.
        let from = if folds { 0 } else { same.min(last(wanted)).min(last(&self.shown.rows)) };
        // Whoever wrote before may have left the cursor anywhere in its row.
        pen.column = None;
        pen.go(from, 0);
        // What would be left of a taller frame, or beside the end of a line that the terminal folds.
        if folds || self.shown.rows.len() > wanted.len() {
            pen.bytes.push_str(ERASE);
        }
        for (index, row) in wanted.iter().enumerate().skip(from) {
            if index > from {
                pen.bytes.push_str("\r\n");
                (pen.row, pen.column) = (pen.row + 1, Some(0));
            }
            pen.whole(row);
        }
    }
}

/// What becomes of the rows of the frame before.
#[derive(Clone, Copy, Debug)]
struct Parts {
    /// So many at the beginning are the same.
    before: usize,
    /// So many behind them go.
    taken: usize,
    /// So many come instead.
    put: usize,
    /// And so many at the end stay: the same again, or what stands from the cursor on.
    after: usize,
}

impl Parts {
    /// None where everything is to be written: nothing is there yet, or more would move than a terminal has rows.
    fn of(old: &[Line<'static>], new: &[Line<'static>], height: usize, bottom: usize) -> Option<Self> {
        let before = old.iter().zip(new).take_while(|(old, new)| old == new).count();
        let (old_rest, new_rest) = (old.get(before..)?, new.get(before..)?);
        let from_below = old_rest.iter().rev().zip(new_rest.iter().rev()).enumerate();
        let after = from_below.take_while(|(index, (old, new))| *index < bottom || old == new).count();
        let parts = Self { before, taken: old_rest.len() - after, put: new_rest.len() - after, after };
        let more = parts.put.saturating_sub(parts.taken);
        (!old.is_empty() && more + after < height).then_some(parts)
    }

    fn is_in_place(&self) -> bool {
        self.taken == self.put
    }
}

/// The rows of a line on a terminal that folds it: no character is cut in two.
fn rows_of(line: &Line<'_>, width: usize) -> usize {
    let (mut rows, mut column) = (1, 0);
    for grapheme in line.spans.iter().flat_map(|span| span.content.graphemes(true)) {
        let columns = grapheme.width();
        if column + columns > width {
            (rows, column) = (rows + 1, 0);
        }
        column += columns;
    }
    rows
}

/// What stands in the first `rows` rows of a line that a terminal of this width folds.
fn beginning(line: &Line<'static>, width: usize, rows: usize) -> Line<'static> {
    let mut text = String::new();
    for grapheme in line.spans.iter().flat_map(|span| span.content.graphemes(true)) {
        text.push_str(grapheme);
        if rows_of(&Line::raw(text.as_str()), width) > rows {
            text.truncate(text.len() - grapheme.len());
            break;
        }
    }
    Line::raw(text)
}

fn last(rows: &[Line<'static>]) -> usize {
    rows.len().saturating_sub(1)
}
