//! What is recorded of an operation: all of it belongs together, and a crash leaves all or nothing.

use std::collections::BTreeMap;

use jiff::Timestamp;
use neco_proto::event::{AgentNode, AgentUpdate, NodeState};
use neco_proto::{AgentId, EventBody};
use serde_json::Value;

use super::agents::AgentTree;
use super::op::Change;

/// The events of an operation that made `after` of `before`. Letters come first: whoever sees that somebody has
/// ended can know that its parent was told. `setups` are those that are no longer what the log says.
pub(super) fn events(
    before: &AgentTree,
    after: &AgentTree,
    changes: &[Change],
    setups: &BTreeMap<AgentId, Value>,
    at: Timestamp,
) -> Vec<(AgentId, EventBody)> {
    let letters = changes.iter().filter_map(|change| match change {
        Change::Post(letter) => Some((letter.to, EventBody::AgentMessage(letter.clone()))),
        _ => None,
    });
    let mut events: Vec<(AgentId, EventBody)> = letters.collect();
    let mut told: Vec<AgentId> = Vec::new();
    for agent in changes.iter().filter_map(whose).chain(setups.keys().copied()) {
        if agent == after.root() || told.contains(&agent) {
            continue;
        }
        told.push(agent);
        // One that went with whom it worked for is told of as it was, and that it ended.
        let went = || before.node(agent).map(|node| cancelled(node, at));
        let Some(node) = after.node(agent).cloned().or_else(went) else { continue };
        let update =
            AgentUpdate { node, gone: gone_with(agent, changes), setup: setups.get(&agent).cloned(), by: None };
        events.push((agent, EventBody::AgentUpdate(update)));
    }
    events
}

/// What is recorded of what an agent used: only itself is told of, what those above it used adds up from that.
pub(super) fn used(after: &AgentTree, changes: &[Change]) -> Vec<(AgentId, EventBody)> {
    let Some(Change::Known(agent)) = changes.first() else { return Vec::new() };
    let node = after.node(*agent).filter(|node| node.id != after.root() && node.state.is_live());
    let update = node.map(|node| AgentUpdate { node: node.clone(), gone: Vec::new(), setup: None, by: None });
    update.map(|update| (*agent, EventBody::AgentUpdate(update))).into_iter().collect()
}

fn whose(change: &Change) -> Option<AgentId> {
    match change {
        Change::State { agent, .. } | Change::Known(agent) | Change::Added(agent) => Some(*agent),
        Change::Parameters { .. } | Change::Post(_) | Change::Spent { .. } | Change::Collapsed { .. } => None,
    }
}

fn gone_with(agent: AgentId, changes: &[Change]) -> Vec<AgentId> {
    let gone = changes.iter().find_map(|change| match change {
        Change::Collapsed { agent: stays, gone } if *stays == agent => Some(gone.clone()),
        _ => None,
    });
    gone.unwrap_or_default()
}

/// A node as it is when it was stopped.
pub(super) fn cancelled(node: &AgentNode, at: Timestamp) -> AgentNode {
    AgentNode { state: NodeState::Cancelled, paused_by: None, changed: at, ..node.clone() }
}
