//! The columns of what happened: a glyph, a verb, what it is done to, and behind that what came of it. What hangs below
//! such a row hangs on an edge in the glyph's column.

use ratatui::style::{Color, Style};
use ratatui::text::{Line, Span};
use unicode_width::UnicodeWidthStr;

use crate::text::figures::padded;
use crate::text::wrap::{Indent, cut};
use crate::theme::Theme;

/// The column in which words and verbs begin.
pub(crate) const WORDS: usize = 3;

/// Columns of a verb.
const VERB: usize = 7;

/// The least that is seen of what something is done to, before what came of it is cut.
const LEAST: usize = 16;

/// The beginning of a row: its glyph and its verb.
pub(crate) fn head(glyph: Span<'static>, verb: &str, style: Style) -> Vec<Span<'static>> {
    let verb = if verb.width() < VERB { padded(verb, VERB) } else { format!("{verb} ") };
    vec![Span::raw(" "), glyph, Span::raw(" "), Span::styled(verb, style)]
}

/// A row: of what something is done to as much as leaves room for what came of it.
pub(crate) fn row(
    head: Vec<Span<'static>>,
    object: Vec<Span<'static>>,
    outcome: Vec<Span<'static>>,
    width: usize,
) -> Line<'static> {
    let measured = |spans: &[Span<'static>]| spans.iter().map(Span::width).sum::<usize>();
    let room = width.saturating_sub(measured(&head) + measured(&outcome)).max(LEAST);
    let object = cut(&Line::from(object), room).spans;
    cut(&Line::from_iter(head.into_iter().chain(object).chain(outcome)), width)
}

/// A row whose end stands at the right edge, where there is room for both.
pub(crate) fn sprung(left: Vec<Span<'static>>, right: Vec<Span<'static>>, width: usize) -> Line<'static> {
    let measured = |spans: &[Span<'static>]| spans.iter().map(Span::width).sum::<usize>();
    let room = width.saturating_sub(measured(&left) + measured(&right) + 1);
    if right.is_empty() || room < 2 {
        return cut(&Line::from(left), width);
    }
    Line::from_iter(left.into_iter().chain([Span::raw(" ".repeat(room))]).chain(right))
}

/// Keys and what they do: `Esc stop   Tab after the work`.
pub(crate) fn keys(keys: &[(&str, &str)], theme: &Theme) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    for (index, (key, does)) in keys.iter().enumerate() {
        let before = if index > 0 { "   " } else { "" };
        spans.push(Span::styled(format!("{before}{key}"), theme.label));
        spans.push(Span::styled(format!(" {does}"), theme.dim));
    }
    spans
}

/// The edge that the body of a call hangs on.
pub(crate) fn edge(theme: &Theme) -> Span<'static> {
    Span::styled(" │ ", theme.line)
}

/// What stands before the rows of a body: the edge, and blanks up to the column of what was done.
pub(crate) fn hanging(theme: &Theme) -> Indent {
    let spans = vec![edge(theme), Span::raw(" ".repeat(VERB))];
    Indent { first: spans.clone(), rest: spans }
}

/// Rows of words in their column.
pub(crate) fn prose(rows: Vec<Line<'static>>) -> Vec<Line<'static>> {
    let before = || Span::styled(" ".repeat(WORDS), Style::new().bg(Color::Reset));
    let shifted = |mut row: Line<'static>| {
        if row.width() > 0 || row.style.bg.is_some() {
            row.spans.insert(0, if row.style.bg.is_some() { before() } else { Span::raw(" ".repeat(WORDS)) });
        }
        row
    };
    rows.into_iter().map(shifted).collect()
}

/// The columns that words have in a window of so many.
pub(crate) fn prose_width(width: usize) -> usize {
    width.saturating_sub(WORDS + 1).max(8)
}
