//! Who leaves the tree: whoever is below a finished agent, and those of many finished ones that ended long ago.

use std::sync::Arc;

use neco_proto::AgentId;
use neco_proto::event::AgentNode;

use super::agents::AgentTree;
use super::change::Change;

/// Finished children of a live agent that stay with their results, at most; then the older half goes. Their ends
/// were told, and the log has them.
const MOST_FINISHED: usize = 128;

impl AgentTree {
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
        if let Some(node) = self.nodes.get_mut(&stands).map(Arc::<AgentNode>::make_mut) {
            node.children.retain(|child| !away.contains(child));
            node.collapsed += away.len() + inherited;
        }
    }
}
