//! The agents at work: a row each, indented by who made whom.

use neco_proto::clean::clean_line;
use neco_proto::event::{AgentNode, NodeState};
use ratatui::text::{Line, Span};

use crate::app::Agents;
use crate::text::figures;
use crate::text::wrap::cut;
use crate::theme::Theme;

/// Rows of those that are live; at most `most`, and how many others there are.
pub fn agent_rows(agents: &Agents, width: usize, most: usize, frame: usize, theme: &Theme) -> Vec<Line<'static>> {
    let live: Vec<(usize, &AgentNode)> =
        agents.outline().into_iter().filter(|(_, node)| node.state.is_live()).collect();
    let mut rows: Vec<Line<'static>> =
        live.iter().take(most).map(|(depth, node)| cut(&row(*depth, node, agents, frame, theme), width)).collect();
    if live.len() > most {
        rows.push(Line::styled(format!("  … {} more at work", live.len() - most), theme.dim));
    }
    rows
}

fn row(depth: usize, node: &AgentNode, agents: &Agents, frame: usize, theme: &Theme) -> Line<'static> {
    let (mark, style) = match node.state {
        NodeState::Running => (figures::turning(frame), theme.accent),
        NodeState::Created | NodeState::Paused | NodeState::Completed | NodeState::Failed | NodeState::Cancelled => {
            (mark(node.state), theme.dim)
        }
    };
    Line::from(vec![
        Span::raw("  ".repeat(depth + 1)),
        Span::styled(format!("{mark} "), style),
        Span::raw(clean_line(&node.name)),
        Span::styled(format!(": {}", clean_line(&node.task)), theme.said),
        Span::styled(about(node, agents), theme.dim),
    ])
}

/// An agent as an entry of a list: what it is, and how it stands.
pub fn agent_words(depth: usize, node: &AgentNode, agents: &Agents) -> (String, String) {
    let text =
        format!("{}{} {}: {}", "  ".repeat(depth), mark(node.state), clean_line(&node.name), clean_line(&node.task));
    let about = format!("{}{}", node.state, about(node, agents));
    (text, about)
}

/// How far it is, what it used and what it does.
fn about(node: &AgentNode, agents: &Agents) -> String {
    let mut parts = Vec::new();
    if node.progress > 0.0 {
        parts.push(format!("{:.0} %", node.progress * 100.0));
    }
    let used = node.subtree_usage.input + node.subtree_usage.output;
    if used > 0 {
        parts.push(format!("{} tokens", figures::tokens(used)));
    }
    parts.extend(node.subtree_usage.cost.filter(|cost| *cost > 0.0).map(figures::cost));
    let doing = agents.doing(node);
    if !doing.is_empty() {
        parts.push(doing);
    }
    parts.iter().map(|part| format!(" · {part}")).collect()
}

fn mark(state: NodeState) -> &'static str {
    match state {
        NodeState::Created => "○",
        NodeState::Running => "◐",
        NodeState::Paused => "‖",
        NodeState::Completed => "✓",
        NodeState::Failed => "✗",
        NodeState::Cancelled => "■",
    }
}
