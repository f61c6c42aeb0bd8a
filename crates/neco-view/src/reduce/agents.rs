//! The agents below the root: who they are, how deep they stand, what they do.

use std::collections::HashSet;

use neco_proto::clean::clean_line;
use neco_proto::event::{AgentMessage, AgentNode, AgentUpdate, Letter, NodeState, NodeType, Up};
use neco_proto::{AgentId, Event};
use serde::Serialize;
use serde_json::Value;

use super::activity::{Activities, Doing, Lane};
use super::block::{AgentLetter, AgentMove, AgentStep};

/// What an agent is called that is a single call of a workflow.
const CALL: &str = "task";

/// How deep agents are shown to nest.
const DEEPEST: usize = 8;

/// The agents below the root, in the order in which they came, and what everybody does.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Agents {
    #[serde(rename = "agents")]
    known: Vec<Agent>,
    activity: Activities,
    /// The root, which is told of only when somebody asks.
    #[serde(skip)]
    root: Option<AgentNode>,
    /// Those that a call waits for.
    #[serde(skip)]
    in_calls: HashSet<AgentId>,
    /// When the person last said something to the root, in milliseconds since 1970.
    #[serde(skip)]
    asked_ms: i64,
    /// Whether a workflow runs, which tells itself of the calls that its tasks are.
    #[serde(skip)]
    pub(super) in_workflow: bool,
}

/// An agent below the root.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agent {
    /// How many agents stand between it and the root.
    pub depth: usize,
    /// How it is.
    pub node: AgentNode,
}

impl Agents {
    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = &AgentNode> {
        self.known.iter().map(|agent| &agent.node)
    }

    /// Those that work now, or wait for somebody.
    pub fn working(&self) -> impl Iterator<Item = &AgentNode> {
        self.all().filter(|node| matches!(node.state, NodeState::Created | NodeState::Running))
    }

    /// How many may still do something.
    pub fn live(&self) -> usize {
        self.all().filter(|node| node.state.is_live()).count()
    }

    /// Whether an agent belongs to what the person asked for last: it may still do something, or has ended since.
    pub fn is_of_now(&self, node: &AgentNode) -> bool {
        node.state.is_live() || node.changed.as_millisecond() >= self.asked_ms
    }

    /// The person said something to the root at this time.
    pub(super) fn person_asked(&mut self, at_ms: i64) {
        self.asked_ms = at_ms;
    }

    /// Whether an agent may still do something.
    pub fn is_live(&self, agent: AgentId) -> bool {
        self.node(agent).is_some_and(|node| node.state.is_live())
    }

    /// The root, once somebody has asked for it.
    pub fn root(&self) -> Option<&AgentNode> {
        self.root.as_ref()
    }

    /// How an agent is, be it the root.
    pub fn node(&self, agent: AgentId) -> Option<&AgentNode> {
        self.root.iter().chain(self.all()).find(|node| node.id == agent)
    }

    /// What an agent is called, be it the root.
    pub fn name(&self, agent: AgentId) -> Option<String> {
        self.node(agent).map(|node| clean_line(&node.name))
    }

    /// What an agent does now, be it the root, as far as that was told.
    pub fn does(&self, agent: AgentId) -> Option<&Doing> {
        self.activity.of(agent)?.does.as_ref()
    }

    /// The model that answered an agent last; its group before one has.
    pub fn model<'a>(&'a self, node: &'a AgentNode) -> &'a str {
        let answered = self.activity.of(node.id).and_then(|activity| activity.model.as_deref());
        answered.unwrap_or(&node.model_group)
    }

    /// How an agent spent its time: since when, in milliseconds since 1970, how.
    pub fn lanes(&self, node: &AgentNode) -> Vec<(i64, Lane)> {
        self.activity.lanes(node)
    }

    /// Since when an agent waits for the person.
    pub fn asks_since(&self, node: &AgentNode) -> Option<i64> {
        self.activity.of(node.id).filter(|_| node.state == NodeState::Running)?.asks_since()
    }

    /// Whether an agent waits for the person.
    pub fn asks(&self, node: &AgentNode) -> bool {
        self.asks_since(node).is_some()
    }

    /// How many wait for the person, of those that work.
    pub fn asking(&self) -> usize {
        self.working().filter(|node| self.asks(node)).count()
    }

    /// Who waits for the person with a call or a question, by its id.
    pub fn asker(&self, id: &str) -> Option<AgentId> {
        self.activity.asker(id)
    }

    /// What all of them cost, as far as that is known.
    pub fn cost(&self) -> f64 {
        self.all().filter_map(|node| node.usage.cost).sum()
    }

    /// All of them, parents before their children, with how deep each one is.
    pub fn outline(&self) -> Vec<(usize, &AgentNode)> {
        let mut lines = Vec::new();
        for node in self.all() {
            if node.parent.is_none_or(|parent| self.find(parent).is_none()) {
                self.below(node, 0, &mut lines);
            }
        }
        lines
    }

    fn below<'a>(&'a self, node: &'a AgentNode, depth: usize, lines: &mut Vec<(usize, &'a AgentNode)>) {
        lines.push((depth, node));
        if depth == DEEPEST {
            return;
        }
        for child in self.all().filter(|child| child.parent == Some(node.id)) {
            self.below(child, depth + 1, lines);
        }
    }

    /// Takes note of what an agent does, whoever it is.
    pub(super) fn note(&mut self, event: &Event) {
        self.activity.apply(event);
    }

    /// Only what `waits` is still asked, of calls and questions by their ids.
    pub(super) fn only_asks(&mut self, waits: &[String]) {
        self.activity.only_asks(waits);
    }

    /// Takes in agents as they were asked for, the root perhaps among them; gives those that no event has overtaken.
    pub(super) fn found(&mut self, mut nodes: Vec<AgentNode>) -> Vec<AgentNode> {
        self.root = nodes.extract_if(.., |node| node.kind == NodeType::Root).last().or(self.root.take());
        nodes.retain(|node| self.find(node.id).is_none_or(|known| known.node.changed <= node.changed));
        for node in &nodes {
            self.stands(node);
            self.activity.found(node);
        }
        // Those that began before the first event that was taken in stand before the others.
        self.known.sort_by_key(|agent| agent.node.created);
        nodes
    }

    /// An agent stands so; gives how deep.
    fn stands(&mut self, node: &AgentNode) -> usize {
        let parent = node.parent.and_then(|parent| self.find(parent));
        let depth = parent.map_or(0, |parent| parent.depth + 1);
        match self.known.iter_mut().find(|agent| agent.node.id == node.id) {
            Some(agent) => (agent.depth, agent.node) = (depth, for_people(node)),
            None => self.known.push(Agent { depth, node: for_people(node) }),
        }
        depth
    }

    /// An agent is new or has changed: what is to be seen of that.
    pub(super) fn update(&mut self, AgentUpdate { node, gone, setup, .. }: &AgentUpdate) -> Option<AgentStep> {
        if node.kind == NodeType::Root {
            self.known.retain(|agent| !gone.contains(&agent.node.id));
            return None;
        }
        let before = self.find(node.id).map(|agent| agent.node.state);
        if setup.as_ref().is_some_and(is_in_call) {
            self.in_calls.insert(node.id);
        }
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
        Some(AgentStep { did, depth, node: for_people(node), was_live, in_call: self.in_calls.contains(&node.id) })
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

/// An agent as windows show it: its task has no marks that are there for the model alone.
fn for_people(node: &AgentNode) -> AgentNode {
    AgentNode { task: node.task_for_people().into_owned(), ..node.clone() }
}

/// Whether an agent that is set up so works for a call that waits for it, and for no workflow.
fn is_in_call(setup: &Value) -> bool {
    setup.get("told").and_then(Value::as_bool) == Some(false) && setup.get("workflow").is_none_or(Value::is_null)
}
