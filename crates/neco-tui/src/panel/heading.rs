//! Rules that carry a title: what follows it, and how far that is.

use ratatui::style::Modifier;
use ratatui::text::{Line, Span};

use crate::text::wrap::cut;
use crate::theme::Theme;

/// `── Todo  3 of 7 ━━━━────`: a rule to the edge with a title; behind a count it is its meter.
pub fn heading(
    title: &str,
    about: Vec<Span<'static>>,
    done: Option<(usize, usize)>,
    width: usize,
    theme: &Theme,
) -> Line<'static> {
    let mut spans = vec![
        Span::styled("── ", theme.line),
        Span::styled(title.to_owned(), Modifier::BOLD),
        Span::raw(if about.is_empty() { "" } else { "  " }),
    ];
    spans.extend(about);
    spans.push(Span::raw(" "));
    let line = cut(&Line::from(spans), width.saturating_sub(1));
    let rest = width.saturating_sub(line.width());
    let full = done.filter(|(_, all)| *all > 0).map_or(0, |(done, all)| (rest * done).div_ceil(all).min(rest));
    let mut spans = line.spans;
    spans.push(Span::styled("━".repeat(full), theme.accent));
    spans.push(Span::styled("─".repeat(rest - full), theme.line));
    Line::from(spans)
}
