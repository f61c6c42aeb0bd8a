//! The head of an agent that is looked at, and the keys there.

use neco_proto::clean::clean_line;
use neco_proto::event::{AgentNode, NodeState};
use ratatui::text::{Line, Span};

use super::agents::{bold, standing, used_money, used_tokens};
use crate::text::figures;
use crate::text::wrap::cut;
use crate::theme::Theme;
use crate::transcript::ledger;
use neco_view::reduce::Agents;
use neco_view::reduce::block::Context;

/// Whose agent it is, how it stands, how full its `context` is and what it used.
pub fn head_row(
    node: &AgentNode,
    agents: &Agents,
    context: Option<Context>,
    now_ms: i64,
    width: usize,
    theme: &Theme,
) -> Line<'static> {
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
    let full =
        context.map(|Context { tokens, window }| format!("{} of {}", figures::tokens(tokens), figures::tokens(window)));
    let tokens = full.or_else(|| used_tokens(node));
    let about: Vec<String> = std::iter::once(model).chain(tokens).chain(used_money(node)).collect();
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

/// What keys do while an agent that stands so is looked at. Where there is no room they say it in fewer words, then those
/// that matter least go first.
pub fn key_row(name: &str, state: Option<NodeState>, width: usize, theme: &Theme) -> Line<'static> {
    let send = format!("send to {name}");
    // One that has ended reads no messages; one that did not succeed can begin anew.
    let orders = match state {
        Some(NodeState::Completed) => Vec::new(),
        Some(NodeState::Failed | NodeState::Cancelled) => vec![(4, "Ctrl-X", ["start over"; 2])],
        Some(NodeState::Paused) => {
            vec![(3, "Enter", [send.as_str(), "send"]), (4, "Ctrl-X", ["resume, redirect, stop", "resume, stop"])]
        }
        Some(NodeState::Created | NodeState::Running) | None => {
            vec![(3, "Enter", [send.as_str(), "send"]), (4, "Ctrl-X", ["pause, redirect, stop", "pause, stop"])]
        }
    };
    let others = [
        (2, "PgUp PgDn", ["scroll"; 2]),
        (1, "Ctrl-O", ["print"; 2]),
        (5, "Ctrl-T", ["all agents", "agents"]),
        (6, "Esc", ["back to root", "root"]),
    ];
    let keys: Vec<(usize, &str, [&str; 2])> = orders.into_iter().chain(others).collect();
    let row = |(least, in_short): (usize, bool)| {
        let shown = keys.iter().filter(|(matters, ..)| *matters >= least);
        let shown: Vec<(&str, &str)> =
            shown.map(|(_, key, [long, short])| (*key, if in_short { *short } else { *long })).collect();
        Line::from_iter(std::iter::once(Span::raw("   ")).chain(ledger::keys(&shown, theme)))
    };
    let long = (1..=3).map(|least| (least, false));
    let short = (3..=6).map(|least| (least, true));
    long.chain(short).map(row).find(|row| row.width() < width).unwrap_or_default()
}
