//! Frames over a line so slow that every row of one is seen to come: what the person types before all else, what is
//! finished in small portions, and nothing that only turns.

use ratatui::text::{Line, Span};

use crate::app::WindowState;
use crate::term::screen::{Cursor, Frame};
use crate::text::figures;
use crate::text::wrap::cut;

/// How often a time that goes on is told anew, in milliseconds.
const ANEW_MS: i64 = 5000;

/// Bytes that a row takes besides its own.
const AROUND: usize = 12;

/// Frames that a terminal is given to at the end.
const AT_LAST: usize = 4;

/// The live rows of the last frame.
#[derive(Clone, Debug)]
pub struct Shown {
    size: (u16, u16),
    live: Vec<Line<'static>>,
    /// Where the field begins, and how many rows it has.
    field: (usize, usize),
    cursor: Option<Cursor>,
}

impl WindowState {
    /// Keeps what a frame shows, for the next one in which nothing but the field is different.
    pub(super) fn keep_shown(&mut self, frame: &Frame, field: (usize, usize)) {
        let size = |length: usize| u16::try_from(length).unwrap_or(u16::MAX);
        self.shown = self.slow.map(|_| Shown {
            size: (size(frame.size.0), size(frame.size.1)),
            live: frame.live.clone(),
            field,
            cursor: frame.cursor,
        });
    }

    /// The last frame with what stands in the field now; none where more than that is different, or nothing is.
    pub fn field_frame(&mut self, width: u16, height: u16) -> Option<Frame> {
        let mut shown = self.shown.clone().filter(|shown| shown.size == (width, height) && shown.cursor.is_some())?;
        let (columns, rows) = (usize::from(width).max(1), usize::from(height).max(1));
        let (field, cursor) = self.prompt.rows(columns, (rows / 3).max(1), &self.hint(), &self.theme);
        let (at, count) = shown.field;
        let place = shown.live.get_mut(at..at + count).filter(|place| place.len() == field.len())?;
        let cursor = Some(Cursor { row: at + cursor.row, column: cursor.column.min(columns - 1) });
        if *place == field[..] && cursor == shown.cursor {
            return None;
        }
        place.clone_from_slice(&field);
        shown.cursor = cursor;
        let frame = Frame { live: shown.live.clone(), cursor, size: (columns, rows), ..Frame::default() };
        self.shown = Some(shown);
        Some(frame)
    }

    /// How many of the rows that are finished leave with this frame.
    pub(super) fn leaving_now(&self) -> usize {
        let Some(room) = self.slow.filter(|_| self.portion < usize::MAX) else {
            return self.portion.min(self.leaving.len());
        };
        let mut bytes = 0;
        let fitting = self.leaving.iter().take_while(|row| {
            bytes += weight(row);
            bytes <= room
        });
        // One that is too long for it leaves all the same.
        fitting.count().max(1).min(self.leaving.len())
    }

    /// The time that is shown as now.
    pub(super) fn shown_ms(&self) -> i64 {
        self.now_ms - if self.slow.is_some() { self.now_ms.rem_euclid(ANEW_MS) } else { 0 }
    }

    /// In place of what is alive while rows before it are still to come: it would be written over and over. What came
    /// last is seen nevertheless once nobody works.
    pub(super) fn on_their_way(&self, width: usize) -> Option<Vec<Line<'static>>> {
        self.slow?;
        let last = self.leaving.back()?;
        let count = figures::count(self.leaving.len(), "more row is", "more rows are");
        let told = Line::styled(format!("  ⋯ {count} on the way"), self.theme.dim);
        let last = (!self.standing.works()).then(|| {
            let mut row = last.clone();
            row.spans.insert(0, Span::styled("  ⋯ the last: ", self.theme.dim));
            cut(&row, width)
        });
        Some([cut(&told, width)].into_iter().chain(last).collect())
    }

    /// The last of what is finished, as much as the line takes in a moment; the log has the rest.
    pub(super) fn last_of(&self, mut finished: Vec<Line<'static>>) -> Vec<Line<'static>> {
        let Some(room) = self.slow else { return finished };
        let mut bytes = 0;
        let fitting = finished.iter().rev().take_while(|row| {
            bytes += weight(row);
            bytes <= AT_LAST * room
        });
        let hidden = finished.len() - fitting.count();
        if hidden == 0 {
            return finished;
        }
        let count = figures::count(hidden, "row before it is", "rows before it are");
        let told = Line::styled(format!("… {count} in the log: `neco session show`"), self.theme.dim);
        [told].into_iter().chain(finished.split_off(hidden)).collect()
    }
}

fn weight(row: &Line<'_>) -> usize {
    row.spans.iter().map(|span| span.content.len()).sum::<usize>() + AROUND
}
