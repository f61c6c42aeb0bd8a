//! The head of an agent that is looked at, and the keys there.

use neco_proto::clean::clean_line;
use neco_proto::event::{AgentNode, NodeState};
use ratatui::text::{Line, Span};

use super::agents::{bold, standing, used};
use crate::text::wrap::cut;
use crate::theme::Theme;
use crate::transcript::ledger;
use neco_view::reduce::Agents;

/// Whose agent it is, how it stands and what it used.
pub fn head_row(node: &AgentNode, agents: &Agents, now_ms: i64, width: usize, theme: &Theme) -> Line<'static> {
    let parent = node.parent.and_then(|parent| agents.name(parent)).unwrap_or_else(|| "root".to_owned());
    let mut spans = vec![
        Span::styled("── ", theme.line),
        Span::styled(format!("{parent} ▸ "), theme.dim),
        bold(clean_line(&node.name)),
        Span::raw("  "),
    ];
    spans.extend(standing(node, agents, now_ms, theme));
    let (group, model) = (clean_line(&node.model_group), agents.model(node));
    // A group names itself before the model that answers for it.
    let model = match model == node.model_group {
        true => group,
        false => format!("{group} {}", clean_line(model.rsplit('/').next().unwrap_or(model))),
    };
    let about: Vec<String> = std::iter::once(model).chain(used(node)).collect();
    spans.push(Span::styled(format!("  {} ", about.join(" · ")), theme.dim));
    let line = Line::from(spans);
    let rest = width.saturating_sub(line.width());
    let mut head = cut(&line, width);
    head.push_span(Span::styled("─".repeat(rest), theme.line));
    head
}

/// What it was asked to do.
pub fn task_row(node: &AgentNode, width: usize, theme: &Theme) -> Line<'static> {
    let spans = vec![Span::styled("   Task   ", theme.dim), Span::styled(clean_line(&node.task), theme.label)];
    cut(&Line::from(spans), width)
}

/// What keys do while an agent that stands so is looked at; those that matter least go first when there is no room.
pub fn key_row(name: &str, state: Option<NodeState>, width: usize, theme: &Theme) -> Line<'static> {
    let send = format!("send to {name}");
    // One that has ended reads no messages; one that did not succeed can begin anew.
    let orders = match state {
        Some(NodeState::Completed) => Vec::new(),
        Some(NodeState::Failed | NodeState::Cancelled) => vec![(4, "Ctrl-X", "start over")],
        Some(NodeState::Created | NodeState::Running | NodeState::Paused) | None => {
            vec![(3, "Enter", send.as_str()), (4, "Ctrl-X", "pause, message, stop")]
        }
    };
    let others =
        [(2, "PgUp PgDn", "scroll"), (1, "Ctrl-O", "print"), (5, "Ctrl-T", "back to root"), (6, "Esc", "all agents")];
    let keys: Vec<(usize, &str, &str)> = orders.into_iter().chain(others).collect();
    let row = |least: usize| {
        let shown = keys.iter().filter(|(matters, ..)| *matters >= least).map(|(_, key, does)| (*key, *does));
        let shown: Vec<(&str, &str)> = shown.collect();
        Line::from_iter(std::iter::once(Span::raw("   ")).chain(ledger::keys(&shown, theme)))
    };
    (1..=6).map(row).find(|row| row.width() < width).unwrap_or_default()
}
