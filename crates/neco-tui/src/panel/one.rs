//! The head of an agent that is looked at, and the keys there.

use neco_proto::clean::clean_line;
use neco_proto::event::AgentNode;
use ratatui::text::{Line, Span};

use super::agents::{bold, standing, used};
use crate::app::Agents;
use crate::text::wrap::{Indent, cut, wrap};
use crate::theme::Theme;
use crate::transcript::ledger;

/// Rows of its task.
const TASK: usize = 2;

/// Whose agent it is, how it stands and what it used; below that what it was asked to do.
pub fn head_rows(node: &AgentNode, agents: &Agents, now_ms: i64, width: usize, theme: &Theme) -> Vec<Line<'static>> {
    let parent = node.parent.and_then(|parent| agents.name(parent)).unwrap_or_else(|| "root".to_owned());
    let mut spans = vec![
        Span::styled("── ", theme.line),
        Span::styled(format!("{parent} ▸ "), theme.dim),
        bold(clean_line(&node.name)),
        Span::raw("  "),
    ];
    spans.extend(standing(node, agents, now_ms, theme));
    let about: Vec<String> = std::iter::once(clean_line(&node.model_group)).chain(used(node)).collect();
    spans.push(Span::styled(format!("  {} ", about.join(" · ")), theme.dim));
    let line = Line::from(spans);
    let rest = width.saturating_sub(line.width());
    let mut head = cut(&line, width);
    head.push_span(Span::styled("─".repeat(rest), theme.line));
    let indent = Indent::hanging(Span::styled("   Task   ", theme.dim));
    let task = wrap(&Line::styled(clean_line(&node.task), theme.label), width.saturating_sub(1), &indent);
    std::iter::once(head).chain(task.into_iter().take(TASK)).collect()
}

/// What keys do while an agent is looked at.
pub fn key_row(name: &str, width: usize, theme: &Theme) -> Line<'static> {
    let send = format!("send to {name}");
    let keys = [
        ("Enter", send.as_str()),
        ("Ctrl-X", "pause, redirect, stop"),
        ("PgUp PgDn", "scroll"),
        ("Ctrl-O", "print"),
        ("Ctrl-T", "back to root"),
        ("Esc", "all agents"),
    ];
    // The last ones say how to leave: they stay.
    let fits = |skipped: usize| {
        let shown: Vec<(&str, &str)> = keys.iter().skip(skipped).copied().collect();
        let row = Line::from_iter(std::iter::once(Span::raw("   ")).chain(ledger::keys(&shown, theme)));
        (row.width() < width).then_some(row)
    };
    (0..keys.len()).find_map(fits).unwrap_or_default()
}
