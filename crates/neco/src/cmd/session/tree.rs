//! `neco session tree`: the agents of a session.

use neco_proto::AgentId;
use neco_proto::event::{AgentNode, NodeState};
use serde_json::json;

use super::desk::Desk;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::clean_line;
use crate::print::paint::Paint;
use crate::print::wrap::fitting;
use crate::print::{figures, told};
use crate::say;
use crate::terminal::Terminal;

/// Shows the agents of a session; of the last one of this folder when none is named.
///
/// # Errors
/// When there is no such session or the store can't be read.
pub(super) async fn run(id: Option<&str>, json: bool, desk: &Desk<'_>) -> Result<Exit, Failure> {
    let record = match id {
        Some(id) => desk.hub.find(id).await?,
        None => desk.hub.latest(&crate::folder(desk.everywhere)?).await?.record,
    };
    let nodes = desk.hub.agents_of(record.id).await?;
    let text = match json {
        true => format!("{:#}\n", json!({ "session_id": record.id, "nodes": nodes })),
        false => lines(&nodes, desk.width(), Terminal::look_at(desk.env).stdout_paint()),
    };
    say::out(&text)?;
    Ok(Exit::Done)
}

/// The tree, an agent a line.
fn lines(nodes: &[AgentNode], width: usize, paint: Paint) -> String {
    let Some(root) = nodes.first() else { return String::new() };
    let mut text = String::new();
    branch(root, nodes, &Edge::default(), width, paint, &mut text);
    text
}

/// Where a node hangs.
#[derive(Default)]
struct Edge {
    /// What stands before its own line.
    before: String,
    /// What stands before the lines of those below it.
    below: String,
}

fn branch(node: &AgentNode, nodes: &[AgentNode], edge: &Edge, width: usize, paint: Paint, text: &mut String) {
    let room = width.saturating_sub(edge.before.chars().count()).max(20);
    text.push_str(&format!("{}{}\n", paint.dim(&edge.before), painted(node, &fitting(&line(node), room), paint)));
    let of = |id: &AgentId| nodes.iter().find(|other| other.id == *id);
    let children: Vec<&AgentNode> = node.children.iter().filter_map(of).collect();
    for (index, child) in children.iter().enumerate() {
        let last = index + 1 == children.len();
        let (own, deeper) = if last { ("└─ ", "   ") } else { ("├─ ", "│  ") };
        let edge = Edge { before: format!("{}{own}", edge.below), below: format!("{}{deeper}", edge.below) };
        branch(child, nodes, &edge, width, paint, text);
    }
}

fn line(node: &AgentNode) -> String {
    let mut parts = vec![clean_line(&node.name)];
    if node.parent.is_some() {
        parts.push(node.state.to_string());
    }
    if node.state.is_live() && node.progress > 0.0 {
        parts.push(format!("{:.0} %", node.progress * 100.0));
    }
    parts.extend(figures::usage(&node.usage));
    if !node.children.is_empty() {
        parts.extend(figures::usage(&node.subtree_usage).map(|usage| format!("all {usage}")));
    }
    let said = node.result.as_ref().map(told::result).or_else(|| node.last_message.clone());
    let said = said.unwrap_or_else(|| node.task.clone());
    let first = clean_line(said.trim().lines().next().unwrap_or_default());
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
