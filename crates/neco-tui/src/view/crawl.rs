//! Frames over a line so slow that every row of one is seen to come: what the person types before all else, what is
//! finished in small portions, and nothing that only turns.

use std::collections::VecDeque;

use ratatui::text::{Line, Span};

use crate::term::screen::{Cursor, Frame};
use crate::text::figures;
use crate::text::wrap::cut;
use crate::theme::Theme;

/// How often a time that goes on is told anew, in milliseconds.
const ANEW_MS: i64 = 5000;

/// Bytes that a row takes besides its own.
const AROUND: usize = 12;

/// Frames that a terminal is given to at the end.
const AT_LAST: usize = 4;

/// The live rows of the last frame.
#[derive(Clone, Debug)]
struct Shown {
    size: (usize, usize),
    live: Vec<Line<'static>>,
    /// Where the field begins, and how many rows it has.
    field: (usize, usize),
    cursor: Option<Cursor>,
    alternate: bool,
}

/// What is finished and on its way to the terminal, and how much of it the line takes.
#[derive(Debug)]
pub struct Leaving {
    /// Finished rows that leave with one frame at most.
    pub portion: usize,
    /// The bytes of a frame, where the line is so slow that they are counted.
    pub slow: Option<usize>,
    /// Whether the terminal has one screen only: whatever is drawn pushes what is finished off it.
    pub one_screen: bool,
    rows: VecDeque<Line<'static>>,
    /// What the last frame showed, over a slow line.
    shown: Option<Shown>,
}

impl Default for Leaving {
    fn default() -> Self {
        Self { portion: usize::MAX, slow: None, one_screen: false, rows: VecDeque::new(), shown: None }
    }
}

impl Leaving {
    /// Whether everything that is finished has left.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// More is finished; gives what leaves with this frame.
    pub(super) fn pass(&mut self, finished: impl Iterator<Item = Line<'static>>) -> Vec<Line<'static>> {
        self.rows.extend(finished);
        self.rows.drain(..self.leaving_now()).collect()
    }

    /// Keeps what a frame shows, for the next one in which nothing but the field is different.
    pub(super) fn keep_shown(&mut self, frame: &Frame, field: (usize, usize)) {
        let Frame { size, cursor, alternate, .. } = *frame;
        self.shown = self.slow.map(|_| Shown { size, live: frame.live.clone(), field, cursor, alternate });
    }

    /// The last frame with what stands in the field now; none where more than that is different, or nothing is.
    pub(super) fn field_frame(
        &mut self,
        (columns, rows): (usize, usize),
        (field, cursor): (Vec<Line<'static>>, Cursor),
    ) -> Option<Frame> {
        let mut shown = self.shown.clone().filter(|shown| shown.size == (columns, rows) && shown.cursor.is_some())?;
        let (at, count) = shown.field;
        let place = shown.live.get_mut(at..at + count).filter(|place| place.len() == field.len())?;
        let cursor = Some(Cursor { row: at + cursor.row, column: cursor.column.min(columns - 1) });
        if *place == field[..] && cursor == shown.cursor {
            return None;
        }
        place.clone_from_slice(&field);
        shown.cursor = cursor;
        let (live, size, alternate) = (shown.live.clone(), (columns, rows), shown.alternate);
        let frame = Frame { live, cursor, size, alternate, ..Frame::default() };
        self.shown = Some(shown);
        Some(frame)
    }

    /// How many of the rows that are finished leave with this frame.
    fn leaving_now(&self) -> usize {
        let Some(room) = self.slow.filter(|_| self.portion < usize::MAX) else {
            return self.portion.min(self.rows.len());
        };
        let mut bytes = 0;
        let fitting = self.rows.iter().take_while(|row| {
            bytes += weight(row);
            bytes <= room
        });
        // One that is too long for it leaves all the same.
        fitting.count().max(1).min(self.rows.len())
    }

    /// The time that is shown as now.
    pub(super) fn shown_ms(&self, now_ms: i64) -> i64 {
        now_ms - if self.slow.is_some() { now_ms.rem_euclid(ANEW_MS) } else { 0 }
    }

    /// In place of what is alive while rows before it are still to come: it would be written over and over. What came
    /// last is seen nevertheless once nobody works.
    pub(super) fn on_their_way(&self, works: bool, width: usize, theme: &Theme) -> Option<Vec<Line<'static>>> {
        self.slow?;
        let last = self.rows.back()?;
        let count = figures::count(self.rows.len(), "more row is", "more rows are");
        let told = Line::styled(format!("  ⋯ {count} on the way"), theme.dim);
        let last = (!works).then(|| {
            let mut row = last.clone();
            row.spans.insert(0, Span::styled("  ⋯ the last: ", theme.dim));
            cut(&row, width)
        });
        Some([cut(&told, width)].into_iter().chain(last).collect())
    }

    /// The last of what is finished, as much as the line takes in a moment; the log has the rest.
    pub(super) fn last_of(&self, mut finished: Vec<Line<'static>>, theme: &Theme) -> Vec<Line<'static>> {
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
        let told = Line::styled(format!("… {count} in the log: `neco session show`"), theme.dim);
        [told].into_iter().chain(finished.split_off(hidden)).collect()
    }
}

fn weight(row: &Line<'_>) -> usize {
    row.spans.iter().map(|span| span.content.len()).sum::<usize>() + AROUND
}
