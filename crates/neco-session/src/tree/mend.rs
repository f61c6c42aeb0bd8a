//! The tree that a log tells of, made whole. What a crash cut off in the middle of something is brought to its
//! end: nobody is lost because somebody else was being stopped.

use std::collections::BTreeMap;

use jiff::Timestamp;
use neco_proto::event::{AgentNode, AgentUpdate, NodeState, SubtreeBudget};
use neco_proto::{AgentId, EventBody, WorkflowId};

use super::agents::{AgentTree, root_node};
use super::carry;
use super::history::TreeHistory;
use super::op::{Change, NewNode, Op};
use super::spec::TreeLimits;

impl TreeHistory {
    /// The tree that a log tells of, and what is to be recorded of nodes that stand otherwise than the log says.
    pub fn tree(
        &self,
        limits: TreeLimits,
        root: AgentId,
        model: &str,
        budget: SubtreeBudget,
    ) -> (AgentTree, Vec<AgentUpdate>) {
        let mut nodes = self.present();
        if nodes.is_empty() {
            nodes.push(root_node(NewNode::root(root, model, budget), Timestamp::now()));
        }
        for node in nodes.iter_mut().filter(|node| node.id == root) {
            node.budget = budget;
            model.clone_into(&mut node.model_group);
        }
        let mended = Mended::of(nodes, self.gone().clone());
        let parents: Vec<AgentId> = mended.nodes.keys().copied().collect();
        match AgentTree::restore(limits, mended.nodes.into_values(), mended.gone) {
            Ok(mut tree) => {
                parents.into_iter().for_each(|parent| tree.drop_old(parent));
                (tree, mended.updates)
            }
            Err(broken) => {
                tracing::warn!(%broken, "the agents of the session can't be told from its log");
                (AgentTree::new(limits, NewNode::root(root, model, budget), Timestamp::now()), Vec::new())
            }
        }
    }

    /// What is recorded when a workflow that nothing runs of is stopped for good: all its agents end.
    pub fn without_workflow(&self, root: AgentId, workflow: WorkflowId) -> Vec<(AgentId, EventBody)> {
        let (mut tree, mended) = self.tree(TreeLimits::default(), root, "", SubtreeBudget::default());
        let mended = mended.into_iter().map(|update| (update.node.id, EventBody::AgentUpdate(update)));
        let mut events: Vec<(AgentId, EventBody)> = mended.collect();
        let id = serde_json::to_value(workflow).unwrap_or_default();
        let is_its = |node: &&AgentNode| self.setup(node.id).is_some_and(|setup| setup.get("workflow") == Some(&id));
        let its: Vec<AgentId> = tree.iter().filter(is_its).map(|node| node.id).collect();
        for agent in its {
            let (before, at) = (tree.clone(), Timestamp::now());
            // One that has ended needs no ending.
            let Ok(mut changes) = tree.apply(at, Op::Cancel(agent)) else { continue };
            changes.retain(|change| !matches!(change, Change::Post(_)));
            events.extend(carry::events(&before, &tree, &changes, &BTreeMap::new(), at));
        }
        events
    }
}

/// A tree that holds together.
#[derive(Default)]
struct Mended {
    nodes: BTreeMap<AgentId, AgentNode>,
    gone: BTreeMap<AgentId, AgentId>,
    updates: Vec<AgentUpdate>,
    /// Who goes with whom.
    swept: BTreeMap<AgentId, Vec<AgentId>>,
}

impl Mended {
    /// `nodes` has parents before their children.
    fn of(nodes: Vec<AgentNode>, gone: BTreeMap<AgentId, AgentId>) -> Self {
        let mut mended = Self { gone, ..Self::default() };
        for mut node in nodes {
            node.children.clear();
            match node.parent {
                None => drop(mended.nodes.insert(node.id, node)),
                Some(parent) => mended.put(parent, node),
            }
        }
        for (stands, below) in std::mem::take(&mut mended.swept) {
            mended.sweep(stands, below);
        }
        mended
    }

    fn put(&mut self, parent: AgentId, node: AgentNode) {
        // Below somebody who has gone, whoever stands for that one.
        let stands = self.gone.get(&parent).copied().unwrap_or(parent);
        let Some(above) = self.nodes.get(&stands) else { return };
        if stands != parent || !above.state.is_live() || !above.kind.may_create(node.kind) {
            return self.leave(stands, node);
        }
        let stood = (node.state, node.paused_by);
        let node = standing_below(above, node);
        if (node.state, node.paused_by) != stood {
            self.updates.push(AgentUpdate { node: node.clone(), gone: Vec::new(), setup: None, by: None, anew: false });
        }
        if let Some(above) = self.nodes.get_mut(&stands) {
            above.children.push(node.id);
        }
        self.nodes.insert(node.id, node);
    }

    /// It ends with whom it worked for.
    fn leave(&mut self, stands: AgentId, node: AgentNode) {
        self.gone.insert(node.id, stands);
        self.swept.entry(stands).or_default().push(node.id);
        if node.state.is_live() {
            let node = AgentNode { state: NodeState::Cancelled, paused_by: None, ..node };
            self.updates.push(AgentUpdate { node, gone: Vec::new(), setup: None, by: None, anew: false });
        }
    }

    fn sweep(&mut self, stands: AgentId, below: Vec<AgentId>) {
        let Some(node) = self.nodes.get_mut(&stands) else { return };
        node.collapsed += below.len();
        self.updates.push(AgentUpdate { node: node.clone(), gone: below, setup: None, by: None, anew: false });
    }
}

/// How a node stands below one that is live: nobody runs below a paused one, and a pause is somebody's.
fn standing_below(above: &AgentNode, node: AgentNode) -> AgentNode {
    let waits_for = above.paused_by.filter(|_| above.state == NodeState::Paused);
    let own = Some(node.id);
    let (state, paused_by) = match (node.state, waits_for) {
        (NodeState::Running, Some(_)) => (NodeState::Paused, waits_for),
        (NodeState::Paused, Some(_)) if node.paused_by != own => (NodeState::Paused, waits_for),
        (NodeState::Paused, _) => (NodeState::Paused, own),
        (state, _) => (state, None),
    };
    AgentNode { state, paused_by, ..node }
}
