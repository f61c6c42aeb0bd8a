//! Tables of markdown.

use pulldown_cmark::Alignment;
use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};

use super::wrap::{Indent, wrap};
use crate::theme::Theme;

/// A table as it was read; the first row is its heading.
#[derive(Default)]
pub(super) struct Table {
    /// Where each column's cells stand.
    pub(super) alignments: Vec<Alignment>,
    /// The cells, row by row.
    pub(super) cells: Vec<Vec<Line<'static>>>,
}

impl Table {
    /// Columns as wide as they need, or fairly narrowed where the terminal is too narrow. No lines stand between them.
    pub(super) fn rows(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let columns = self.cells.iter().map(Vec::len).max().unwrap_or_default();
        if columns == 0 {
            return Vec::new();
        }
        let wanted =
            |column: usize| self.cells.iter().filter_map(|row| row.get(column)).map(Line::width).max().unwrap_or(0);
        let widths = fair((0..columns).map(wanted).collect(), width.saturating_sub(2 * (columns - 1)));
        let mut drawn = Vec::new();
        for (index, row) in self.cells.iter().enumerate() {
            let cells: Vec<Vec<Line<'static>>> = widths
                .iter()
                .enumerate()
                .map(|(column, width)| {
                    row.get(column).map_or_else(Vec::new, |cell| wrap(cell, *width, &Indent::default()))
                })
                .collect();
            let height = cells.iter().map(Vec::len).max().unwrap_or(1);
            for line in 0..height {
                drawn.push(row_of(&cells, &widths, line, &self.alignments, index == 0));
            }
            if index == 0 {
                let all = widths.iter().sum::<usize>() + 2 * (columns - 1);
                drawn.push(Line::styled("─".repeat(all), theme.line));
            }
        }
        drawn
    }
}

fn row_of(
    cells: &[Vec<Line<'static>>],
    widths: &[usize],
    line: usize,
    alignments: &[Alignment],
    heading: bool,
) -> Line<'static> {
    let mut spans = Vec::new();
    for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
        if column > 0 {
            spans.push(Span::raw("  "));
        }
        let content = cell.get(line).cloned().unwrap_or_default();
        let missing = width.saturating_sub(content.width());
        let before = match alignments.get(column) {
            Some(Alignment::Right) => missing,
            Some(Alignment::Center) => missing / 2,
            Some(Alignment::Left | Alignment::None) | None => 0,
        };
        spans.push(Span::raw(" ".repeat(before)));
        let bold = |span: Span<'static>| span.style(Style::new().add_modifier(Modifier::BOLD));
        spans.extend(content.spans.into_iter().map(|span| if heading { bold(span) } else { span }));
        if column + 1 < widths.len() {
            spans.push(Span::raw(" ".repeat(missing - before)));
        }
    }
    Line::from(spans)
}

/// Takes from the widest until all fit.
fn fair(mut widths: Vec<usize>, room: usize) -> Vec<usize> {
    while widths.iter().sum::<usize>() > room {
        let Some(widest) = widths.iter_mut().max().filter(|width| **width > 3) else { break };
        *widest -= 1;
    }
    widths
}
