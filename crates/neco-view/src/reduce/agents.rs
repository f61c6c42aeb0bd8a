//! The agents below the root: who they are, how deep they stand, what they do.

use neco_proto::event::{AgentMessage, AgentNode, AgentUpdate, Letter, NodeState, Up};
use neco_proto::{AgentId, EventBody, Role};
use serde::Serialize;

use super::block::{AgentLetter, AgentMove, AgentStep};

/// What an agent is called that is a single call of a workflow.
const CALL: &str = "task";

/// The agents below the root, in the order in which they came.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Agents {
    known: Vec<Agent>,
    /// Whether a workflow runs, which tells itself of the calls that its tasks are.
    #[serde(skip)]
    pub(super) in_workflow: bool,
}

/// An agent below the root.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agent {
    /// How many agents stand between it and the root.
    pub depth: usize,
    /// What it does or said last.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub doing: String,
    /// How it is.
    pub node: AgentNode,
}

impl Agents {
    /// All of them.
    pub fn all(&self) -> &[Agent] {
        &self.known
    }

    /// Those who work.
    pub fn working(&self) -> impl Iterator<Item = &Agent> {
        self.known.iter().filter(|agent| matches!(agent.node.state, NodeState::Created | NodeState::Running))
    }

    /// Takes note of what an agent below the root does.
    pub(super) fn note(&mut self, agent: AgentId, body: &EventBody) {
        let Some(known) = self.known.iter_mut().find(|known| known.node.id == agent) else { return };
        match body {
            EventBody::ToolCallUpdate(update) => known.doing.clone_from(&update.summary),
            EventBody::Message(message) if message.role == Role::Assistant && !message.text().trim().is_empty() => {
                known.doing = message.text();
            }
            // The rest is its own.
            _ => {}
        }
    }

    /// Whether something newer is known of an agent.
    pub(super) fn is_newer(&self, node: &AgentNode) -> bool {
        self.find(node.id).is_some_and(|known| known.node.changed > node.changed)
    }

    /// An agent stands so; gives how deep.
    pub(super) fn stands(&mut self, node: &AgentNode) -> usize {
        let parent = node.parent.and_then(|parent| self.find(parent));
        let depth = parent.map_or(0, |parent| parent.depth + 1);
        match self.known.iter_mut().find(|agent| agent.node.id == node.id) {
            Some(agent) => (agent.depth, agent.node) = (depth, node.clone()),
            None => self.known.push(Agent { depth, doing: String::new(), node: node.clone() }),
        }
        depth
    }

    /// An agent is new or has changed: what is to be seen of that.
    pub(super) fn update(&mut self, AgentUpdate { node, gone, setup, .. }: &AgentUpdate) -> Option<AgentStep> {
        let before = self.find(node.id).map(|agent| agent.node.state);
        let depth = self.stands(node);
        self.known.retain(|agent| !gone.contains(&agent.node.id));
        if self.in_workflow && node.role == CALL {
            return None;
        }
        let new = setup.is_some() || before.is_none();
        let did = match node.state {
            NodeState::Created | NodeState::Running if new => AgentMove::Began,
            NodeState::Running if before == Some(NodeState::Paused) => AgentMove::WentOn,
            NodeState::Created | NodeState::Running => return None,
            NodeState::Paused if before == Some(NodeState::Paused) => return None,
            NodeState::Paused => AgentMove::Paused,
            NodeState::Completed | NodeState::Failed | NodeState::Cancelled => AgentMove::Ended,
        };
        let was_live = before.is_some_and(NodeState::is_live);
        Some(AgentStep { did, depth, node: node.clone(), was_live })
    }

    /// What is to be seen of a letter. Ends are told by the agent itself.
    pub(super) fn letter(&self, AgentMessage { from, to, letter, .. }: &AgentMessage) -> Option<AgentLetter> {
        let from = from.agent().and_then(|id| self.find(id));
        let about = match letter {
            Letter::Up(Up::Report { .. } | Up::Question { .. }) => from?,
            Letter::Up(Up::Stopped { .. }) => from.filter(|agent| agent.node.state == NodeState::Running)?,
            Letter::Up(Up::Ended { .. }) => return None,
            Letter::Down(_) => self.find(*to)?,
        };
        let (agent_id, name) = (about.node.id, about.node.name.clone());
        Some(AgentLetter { agent_id, name, depth: about.depth, letter: letter.clone() })
    }

    fn find(&self, id: AgentId) -> Option<&Agent> {
        self.known.iter().find(|agent| agent.node.id == id)
    }
}
