//! The agents of a session as a person reads them: all as a tree, or one with everything that is known of it.

use std::fmt::Write;

use neco_proto::AgentId;
use neco_proto::event::{AgentNode, AgentState, NodeState};

use crate::figures;
use crate::paint::colour::Paint;
use crate::paint::wrap::fitting;
use crate::wording::agents::{kind, model_or_group};
use crate::wording::notices;
use neco_proto::clean::{clean, clean_line};

/// Columns of what an agent said that its line has, however wide the place is: a file has no edge.
const SAID: usize = 100;

/// The tree, an agent a line.
pub fn tree(nodes: &[AgentNode], width: usize, paint: Paint) -> String {
    let Some(root) = nodes.first() else { return String::new() };
    let mut text = String::new();
    branch(root, &line(root, None), nodes, &Edge::default(), width, paint, &mut text);
    text
}

/// The tree of a session that is open, whose root does this.
pub fn open_tree(nodes: &[AgentNode], does: AgentState, width: usize, paint: Paint) -> String {
    let Some(root) = nodes.first() else { return String::new() };
    let state = if does.is_at_work() { "at work" } else { "at rest" };
    let mut text = String::new();
    branch(root, &line(root, Some(state.to_owned())), nodes, &Edge::default(), width, paint, &mut text);
    text
}

/// Everything that is known of an agent.
pub fn one(node: &AgentNode, nodes: &[AgentNode]) -> String {
    let name = |id: AgentId| nodes.iter().find(|other| other.id == id).map(|other| clean_line(&other.name));
    let mut text = format!("{} · {}\n", clean_line(&node.name), node.state);
    let mut line = |what: &str, value: Option<String>| {
        if let Some(value) = value.filter(|value| !value.trim().is_empty()) {
            let _ = writeln!(text, "{what:<10} {}", value.trim_end());
        }
    };
    line("id", Some(node.id.to_string()));
    line("role", Some(clean_line(&node.role)));
    line("type", Some(kind(node.kind)));
    line("parent", node.parent.and_then(name));
    let below: Vec<String> = node.children.iter().filter_map(|child| name(*child)).collect();
    line("children", Some(below.join(", ")));
    line("model", Some(model_or_group(&clean_line(&node.model_group))));
    line("progress", (node.progress > 0.0).then(|| format!("{:.0} %", node.progress * 100.0)));
    line("used", figures::usage(&node.usage));
    line("with all", figures::usage(&node.subtree_usage).filter(|_| !node.children.is_empty() || node.collapsed > 0));
    line("budget", budget(node));
    line("paused by", node.paused_by.filter(|by| *by != node.id).and_then(name));
    line("task", Some(clean(&node.task_for_people())));
    line("last words", node.last_message.as_deref().map(clean).filter(|_| node.result.is_none()));
    line("result", node.result.as_ref().map(|result| clean(&notices::result(result))));
    text
}

fn budget(node: &AgentNode) -> Option<String> {
    let tokens = node.budget.tokens.map(|tokens| format!("{} tokens", figures::tokens(tokens)));
    let cost = node.budget.cost.map(figures::dollars);
    let parts: Vec<String> = tokens.into_iter().chain(cost).collect();
    (!parts.is_empty()).then(|| parts.join(", "))
}

/// Where a node hangs.
#[derive(Default)]
struct Edge {
    /// What stands before its own line.
    before: String,
    /// What stands before the lines of those below it.
    below: String,
}

fn branch(
    node: &AgentNode,
    words: &str,
    nodes: &[AgentNode],
    edge: &Edge,
    width: usize,
    paint: Paint,
    text: &mut String,
) {
    let room = width.saturating_sub(edge.before.chars().count()).max(20);
    text.push_str(&format!("{}{}\n", paint.dim(&edge.before), painted(node, &fitting(words, room), paint)));
    let of = |id: &AgentId| nodes.iter().find(|other| other.id == *id);
    let children: Vec<&AgentNode> = node.children.iter().filter_map(of).collect();
    for (index, child) in children.iter().enumerate() {
        let last = index + 1 == children.len();
        let (own, deeper) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let edge = Edge { before: format!("{}{own}", edge.below), below: format!("{}{deeper}", edge.below) };
        let words = line(child, child.parent.map(|_| child.state.to_string()));
        branch(child, &words, nodes, &edge, width, paint, text);
    }
}

fn line(node: &AgentNode, state: Option<String>) -> String {
    let mut parts = vec![clean_line(&node.name)];
    parts.extend(state);
    if node.state.is_live() && node.progress > 0.0 {
        parts.push(format!("{:.0} %", node.progress * 100.0));
    }
    parts.extend(figures::usage(&node.usage));
    if !node.children.is_empty() {
        parts.extend(figures::usage(&node.subtree_usage).map(|usage| format!("all {usage}")));
    }
    let said = node.result.as_ref().map(notices::result).or_else(|| node.last_message.clone());
    let said = said.unwrap_or_else(|| node.task_for_people().into_owned());
    let first = fitting(&clean_line(said.trim().lines().next().unwrap_or_default()), SAID);
    parts.extend((!first.is_empty()).then_some(first));
    parts.join(" · ")
}

fn painted(node: &AgentNode, line: &str, paint: Paint) -> String {
    match node.state {
        _ if node.parent.is_none() => paint.bold(line),
        NodeState::Created | NodeState::Running => paint.cyan(line),
        NodeState::Paused => paint.yellow(line),
        NodeState::Completed => paint.green(line),
        NodeState::Failed => paint.red(line),
        NodeState::Cancelled => paint.dim(line),
    }
}
