//! What holds for every tree after every operation.

use std::collections::BTreeMap;
use std::sync::Arc;

use neco_proto::AgentId;
use neco_proto::event::{AgentNode, NodeState, NodeType};

/// What does not hold of a tree that should, for whoever looks for the reason: nothing is decided by it.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BrokenPromise(pub(super) String);

/// The first promise that is broken of those that hold whatever the limits are.
pub(super) fn check_shape(root: AgentId, nodes: &BTreeMap<AgentId, Arc<AgentNode>>) -> Result<(), BrokenPromise> {
    let roots = nodes.values().filter(|node| node.kind == NodeType::Root).count();
    ensure(roots == 1, || format!("there are {roots} roots"))?;
    let is_root = |node: &Arc<AgentNode>| node.parent.is_none() && node.state == NodeState::Running;
    ensure(nodes.get(&root).is_some_and(is_root), || "the root does not run at the top".to_owned())?;
    nodes.values().try_for_each(|node| check_node(nodes, node))?;
    let reached = reach(root, nodes);
    ensure(reached == nodes.len(), || format!("{reached} of {} nodes are reached from the root", nodes.len()))
}

fn check_node(nodes: &BTreeMap<AgentId, Arc<AgentNode>>, node: &AgentNode) -> Result<(), BrokenPromise> {
    let id = node.id;
    if let Some(parent) = node.parent {
        let Some(parent) = nodes.get(&parent) else { return Err(BrokenPromise(format!("{id} is an orphan"))) };
        ensure(parent.children.iter().filter(|child| **child == id).count() == 1, || {
            format!("{id} and its parent do not agree")
        })?;
        ensure(parent.kind.may_create(node.kind), || format!("{id} is of a type its parent may not create"))?;
        ensure(parent.state.is_live() || !node.state.is_live(), || format!("{id} outlives its parent"))?;
        let runs_alone = node.state == NodeState::Running && parent.state != NodeState::Running;
        ensure(!runs_alone, || format!("{id} runs below an agent that does not"))?;
    }
    ensure(node.children.iter().all(|child| nodes.get(child).is_some_and(|child| child.parent == Some(id))), || {
        format!("{id} lists a child that is not its own")
    })?;
    ensure((node.state == NodeState::Paused) == node.paused_by.is_some(), || format!("{id} is paused by nobody"))?;
    ensure(node.state.is_live() || node.children.is_empty(), || format!("{id} is finished and not collapsed"))?;
    check_usage(node, nodes)
}

fn check_usage(node: &AgentNode, nodes: &BTreeMap<AgentId, Arc<AgentNode>>) -> Result<(), BrokenPromise> {
    let below = node.children.iter().filter_map(|child| nodes.get(child)).map(|child| child.subtree_usage.input);
    let known = node.usage.input.saturating_add(below.fold(0, u64::saturating_add));
    let all = node.subtree_usage.input;
    let holds = if node.collapsed == 0 { all == known } else { all >= known };
    ensure(holds, || format!("{} used {all}, and it and its children {known}", node.id))
}

fn reach(root: AgentId, nodes: &BTreeMap<AgentId, Arc<AgentNode>>) -> usize {
    let mut next = vec![root];
    let mut reached = 0;
    while let Some(node) = next.pop().and_then(|id| nodes.get(&id)) {
        reached += 1;
        next.extend(&node.children);
        if reached > nodes.len() {
            break;
        }
    }
    reached
}

pub(super) fn ensure(holds: bool, words: impl FnOnce() -> String) -> Result<(), BrokenPromise> {
    if holds { Ok(()) } else { Err(BrokenPromise(words())) }
}
