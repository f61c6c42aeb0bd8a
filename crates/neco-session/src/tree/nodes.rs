//! Who is in the tree, who is above and below whom, and who goes: what is looked up, and what keeps it small.

use std::collections::BTreeMap;
use std::sync::Arc;

use neco_proto::event::{AgentNode, NodeState};
use neco_proto::{Actor, AgentId};

use super::agents::{AgentTree, wrong};
use super::error::TreeError;
use super::op::Change;

/// Finished children of a live agent that stay with their results, at most; then the older half goes. Their ends
/// were told, and the log has them.
const MOST_FINISHED: usize = 128;

impl AgentTree {
    pub fn root(&self) -> AgentId {
        self.root
    }

    pub fn node(&self, agent: AgentId) -> Option<&AgentNode> {
        self.nodes.get(&agent).map(Arc::as_ref)
    }

    /// All nodes, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &AgentNode> {
        self.nodes.values().map(Arc::as_ref)
    }

    /// The nodes that are gone and the ones that stand for them.
    pub fn gone(&self) -> &BTreeMap<AgentId, AgentId> {
        &self.gone
    }

    /// What an agent said last, which is no operation: nobody is told.
    pub fn said(&mut self, agent: AgentId, text: String) {
        if let Some(node) = self.change(agent) {
            node.last_message = Some(text);
        }
    }

    /// How many are live besides the root.
    pub fn live_count(&self) -> usize {
        self.nodes.values().filter(|node| node.id != self.root && node.state.is_live()).count()
    }

    /// The children of a node, oldest first.
    pub fn children(&self, agent: AgentId) -> Vec<AgentId> {
        self.node(agent).map(|node| node.children.clone()).unwrap_or_default()
    }

    /// Those of them that have not ended.
    pub fn live_children(&self, agent: AgentId) -> Vec<AgentId> {
        self.children(agent).into_iter().filter(|child| self.is_live(*child)).collect()
    }

    /// A node and everybody below it, each before its children.
    pub fn subtree(&self, agent: AgentId) -> Vec<AgentId> {
        let mut found = Vec::new();
        let mut next = vec![agent];
        while let Some(node) = next.pop().and_then(|id| self.node(id)) {
            found.push(node.id);
            next.extend(node.children.iter().rev());
        }
        found
    }

    /// Whether `from` may tell `to` what to do: a parent its own child, the person anybody.
    pub fn may_command(&self, from: &Actor, to: AgentId) -> Result<(), TreeError> {
        let node = self.live(to, "told anything")?;
        match from.agent() {
            Some(id) if node.parent != Some(id) => Err(TreeError::NotYourChild { to }),
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn known(&self, agent: AgentId) -> Result<&AgentNode, TreeError> {
        self.node(agent).ok_or(TreeError::Unknown(agent))
    }

    /// A node that is about to change.
    pub(super) fn change(&mut self, agent: AgentId) -> Option<&mut AgentNode> {
        self.nodes.get_mut(&agent).map(Arc::make_mut)
    }

    pub(super) fn live(&self, agent: AgentId, wanted: &'static str) -> Result<&AgentNode, TreeError> {
        let node = self.known(agent)?;
        if node.state.is_live() { Ok(node) } else { Err(wrong(node, wanted)) }
    }

    pub(super) fn is_live(&self, agent: AgentId) -> bool {
        self.nodes.get(&agent).is_some_and(|node| node.state.is_live())
    }

    /// An agent, its parent, and so on up to the root.
    pub(super) fn above(&self, agent: AgentId) -> impl Iterator<Item = &AgentNode> {
        let parent = |node: &&AgentNode| node.parent.and_then(|parent| self.node(parent));
        std::iter::successors(self.node(agent), parent)
    }

    /// Whose pause holds for whatever is below this node's parent.
    pub(super) fn pause_above(&self, node: &AgentNode) -> Option<AgentId> {
        let parent = node.parent.and_then(|parent| self.nodes.get(&parent))?;
        parent.paused_by.filter(|_| parent.state == NodeState::Paused)
    }

    pub(super) fn in_state(&self, agent: AgentId, state: NodeState) -> Vec<AgentId> {
        let is = |id: &AgentId| self.nodes.get(id).is_some_and(|node| node.state == state);
        self.subtree(agent).into_iter().filter(is).collect()
    }

    /// Everybody below a finished agent is finished too, and goes.
    pub(super) fn collapse(&mut self, agent: AgentId) -> Option<Change> {
        let below: Vec<AgentId> = self.subtree(agent).into_iter().skip(1).collect();
        if below.is_empty() {
            return None;
        }
        self.take_away(agent, &below);
        Some(Change::Collapsed { agent, gone: below })
    }

    /// Of the finished children of an agent only the newest stay: a session of ten thousand tasks keeps no ten
    /// thousand results in memory.
    pub(super) fn drop_old(&mut self, parent: AgentId) {
        let Some(node) = self.node(parent) else { return };
        let is_finished = |child: &&AgentId| self.node(**child).is_some_and(|child| !child.state.is_live());
        let finished: Vec<AgentId> = node.children.iter().filter(is_finished).copied().collect();
        if finished.len() > MOST_FINISHED {
            let old = finished.len() - MOST_FINISHED / 2;
            self.take_away(parent, finished.get(..old).unwrap_or_default());
        }
    }

    /// Takes nodes out, for which `stands` stands from now on.
    fn take_away(&mut self, stands: AgentId, away: &[AgentId]) {
        let gone = Arc::make_mut(&mut self.gone);
        // Those that went before stood for others themselves.
        let inherited = gone.values_mut().filter(|other| away.contains(other));
        let inherited = inherited.map(|other| *other = stands).count();
        for id in away {
            self.nodes.remove(id);
            self.spent.remove(id);
            gone.insert(*id, stands);
        }
        if let Some(node) = self.nodes.get_mut(&stands).map(Arc::make_mut) {
            node.children.retain(|child| !away.contains(child));
            node.collapsed += away.len() + inherited;
        }
    }
}
