//! Writing a frame: where the cursor is, and what brings it to where something is different.

use std::fmt::Write as _;

use ratatui::text::Line;

use super::ansi::{Depth, write_fill, write_line};
use super::change::{change, is_doubtful};

/// Around a live row that the terminal may take for wider than it was counted: it is cut at the margin then, and every
/// further count holds. Not around every row: one that was drawn for a wider terminal is to be folded, not cut.
const KEEP_ROW: &str = "\x1b[?7l";
const FOLD_ROWS: &str = "\x1b[?7h";

/// Where the cursor is while a frame is written, counted from the first row of the frame before.
pub(super) struct Pen {
    pub(super) bytes: String,
    pub(super) row: usize,
    /// Not known behind a character that terminals do not agree on, and at the margin.
    pub(super) column: Option<usize>,
    pub(super) size: (usize, usize),
    pub(super) depth: Depth,
    /// Whether rows are cut at the margin now.
    pub(super) keeps: bool,
    /// Whether the way down goes on at the last row of the terminal.
    pub(super) scrolls: bool,
}

impl Pen {
    pub(super) fn go_to_row(&mut self, row: usize) {
        match row.cmp(&self.row) {
            std::cmp::Ordering::Less => self.code(self.row - row, 'A'),
            std::cmp::Ordering::Greater if self.scrolls => self.bytes.push_str(&"\n".repeat(row - self.row)),
            std::cmp::Ordering::Greater => self.code(row - self.row, 'B'),
            std::cmp::Ordering::Equal => {}
        }
        self.row = row;
    }

    pub(super) fn go(&mut self, row: usize, column: usize) {
        self.go_to_row(row);
        if self.column == Some(column) {
            return;
        }
        match column {
            0 => self.bytes.push('\r'),
            _ if self.column == Some(column + 1) => self.code(1, 'D'),
            _ => self.code(column + 1, 'G'),
        }
        self.column = Some(column);
    }

    pub(super) fn code(&mut self, number: usize, letter: char) {
        // Writing to a string can't fail.
        let _ = match number {
            1 => write!(self.bytes, "\x1b[{letter}"),
            _ => write!(self.bytes, "\x1b[{number}{letter}"),
        };
    }

    /// Makes a row that is there into another one. One that gets shorter is erased from its beginning: what is erased
    /// further right tmux still counts as written, and folds it when it gets narrower. Not where the person is `typing`:
    /// nothing stands below that row but what is drawn anew then.
    pub(super) fn patch(&mut self, row: usize, old: &Line<'static>, new: &Line<'static>, typing: bool) {
        let same_ground = old.style.bg == new.style.bg;
        match change(old, new).filter(|_| self.size.0 > 0 && same_ground) {
            Some(change) if change.erases && !typing => {
                self.go(row, 0);
                self.keep(new.width());
                self.whole(new);
            }
            Some(change) => {
                self.go(row, change.column);
                self.keep(change.column + change.text.width());
                self.text(&change.text);
                if change.erases {
                    write_fill(&mut self.bytes, new.style, self.depth);
                }
            }
            None => {
                self.go(row, 0);
                self.whole(new);
            }
        }
    }

    /// What is written up to this column into a row that is there must not run over into the next one, should the
    /// terminal have been made narrower: not that much narrower that it matters further left.
    fn keep(&mut self, column: usize) {
        if !self.keeps && column > self.size.0 / 3 {
            self.bytes.push_str(KEEP_ROW);
            self.keeps = true;
        }
    }

    pub(super) fn folds_again(&mut self) {
        self.bytes.push_str(if std::mem::take(&mut self.keeps) { FOLD_ROWS } else { "" });
    }

    /// A row from its first column on, whatever stood there.
    pub(super) fn whole(&mut self, row: &Line<'static>) {
        // Erased first: at the end of a full row some terminals would erase its last character.
        self.go(self.row, 0);
        write_fill(&mut self.bytes, row.style, self.depth);
        self.written(row);
    }

    /// A row from its first column on, where nothing stands. The ground of a row goes to the edge of the window.
    pub(super) fn fresh(&mut self, row: &Line<'static>) {
        if row.style.bg.is_some() {
            write_fill(&mut self.bytes, row.style, self.depth);
        }
        self.written(row);
    }

    fn written(&mut self, row: &Line<'static>) {
        let doubtful = !self.keeps && row.spans.iter().any(|span| span.content.contains(is_doubtful));
        self.bytes.push_str(if doubtful { KEEP_ROW } else { "" });
        self.text(row);
        self.bytes.push_str(if doubtful { FOLD_ROWS } else { "" });
    }

    fn text(&mut self, text: &Line<'static>) {
        write_line(&mut self.bytes, text, self.depth);
        let sure = change(&Line::default(), text).is_some();
        self.column = self.column.filter(|_| sure).map(|column| column + text.width());
        // At the margin some terminals are in the next row already, and others are not.
        self.column = self.column.filter(|column| *column < self.size.0);
    }
}
