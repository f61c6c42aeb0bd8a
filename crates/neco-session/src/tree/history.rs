//! The tree that a log tells of: who there was, what they used, and what was said and not heard.

use std::collections::{BTreeMap, HashMap};

use neco_proto::event::{AgentMessage, AgentNode, AgentUpdate, CallStatus, Down, Letter, SubtreeBudget, Up};
use neco_proto::{AgentId, Event, EventBody, Usage};
use serde_json::Value;

use super::agents::root_node;
use super::op::NewNode;

/// The tool by which a child asks its parent.
const ASKS: &str = "report";

/// The tree that a log tells of.
#[derive(Clone, Debug, Default)]
pub struct TreeHistory {
    root: Option<AgentNode>,
    /// All that there ever were, as they were last, but for what they used.
    nodes: BTreeMap<AgentId, AgentNode>,
    /// Those that are gone, and the ones that stand for them.
    gone: BTreeMap<AgentId, AgentId>,
    setups: HashMap<AgentId, Value>,
    usage: HashMap<AgentId, Usage>,
    /// What was said to each and did not enter its conversation, oldest first; of those that are live.
    unheard: HashMap<AgentId, Vec<AgentMessage>>,
}

impl TreeHistory {
    /// Takes in the next event.
    pub fn apply(&mut self, event: &Event) {
        match &event.body {
            EventBody::SessionStart(start) => {
                let root = self.root.get_or_insert_with(|| {
                    root_node(NewNode::root(event.agent_id, "", SubtreeBudget::default()), event.ts)
                });
                root.model_group.clone_from(&start.model);
            }
            EventBody::AgentUpdate(update) => self.update(update),
            EventBody::AgentMessage(message) => self.said(message),
            EventBody::Message(message) => {
                self.heard(event.agent_id, |letter| letter.message_id == message.id);
            }
            // The answer to a question is what the call gives that asked it.
            EventBody::ToolCallEnd(end) if end.tool == ASKS && end.status == CallStatus::Success => {
                self.heard(event.agent_id, |letter| matches!(letter.letter, Letter::Down(Down::Answer { .. })));
            }
            EventBody::Usage(used) => *self.usage.entry(event.agent_id).or_default() += used.usage,
            // Everything else is about one agent alone.
            _ => {}
        }
    }

    /// All that there ever were, the root first and parents before their children.
    pub fn all(&self) -> Vec<AgentNode> {
        let children = self.children(|_| true);
        self.in_order(&children).into_iter().map(|node| self.complete(node, &children)).collect()
    }

    /// Those that are still in the tree.
    pub fn present(&self) -> Vec<AgentNode> {
        let every = self.children(|_| true);
        let present = self.children(|agent| !self.gone.contains_key(&agent));
        let complete = |node: AgentNode| {
            let children = present.get(&node.id).cloned().unwrap_or_default();
            let collapsed = self.gone.values().filter(|stands| **stands == node.id).count();
            AgentNode { children, collapsed, ..self.complete(node, &every) }
        };
        self.in_order(&present).into_iter().map(complete).collect()
    }

    /// Those that are gone, and the ones that stand for them.
    pub fn gone(&self) -> &BTreeMap<AgentId, AgentId> {
        &self.gone
    }

    /// How an agent was set up.
    pub fn setup(&self, agent: AgentId) -> Option<&Value> {
        self.setups.get(&agent)
    }

    /// What was said to agents and did not enter their conversation, for each the oldest first; old reports are
    /// old news.
    pub fn unheard(&self) -> impl Iterator<Item = &AgentMessage> {
        self.unheard.values().flatten()
    }

    fn said(&mut self, message: &AgentMessage) {
        let has_ended = self.nodes.get(&message.to).is_some_and(|node| !node.state.is_live());
        if !has_ended && !matches!(message.letter, Letter::Up(Up::Report { .. })) {
            self.unheard.entry(message.to).or_default().push(message.clone());
        }
    }

    fn heard(&mut self, agent: AgentId, is_heard: impl Fn(&AgentMessage) -> bool) {
        if let Some(letters) = self.unheard.get_mut(&agent) {
            letters.retain(|letter| !is_heard(letter));
        }
    }

    fn update(&mut self, AgentUpdate { node, gone, setup, anew, .. }: &AgentUpdate) {
        if let Some(setup) = setup {
            self.setups.insert(node.id, setup.clone());
        }
        if !gone.is_empty() {
            let inherited = self.gone.values_mut().filter(|stands| gone.contains(stands));
            inherited.for_each(|stands| *stands = node.id);
        }
        for below in gone {
            self.gone.insert(*below, node.id);
            self.unheard.remove(below);
        }
        if *anew || !node.state.is_live() {
            self.unheard.remove(&node.id);
        }
        self.nodes.insert(node.id, node.clone());
    }

    fn children(&self, counts: impl Fn(AgentId) -> bool) -> BTreeMap<AgentId, Vec<AgentId>> {
        let mut children: BTreeMap<AgentId, Vec<AgentId>> = BTreeMap::new();
        for node in self.nodes.values().filter(|node| counts(node.id)) {
            if let Some(parent) = node.parent {
                children.entry(parent).or_default().push(node.id);
            }
        }
        children
    }

    /// The root, then each with its children after it.
    fn in_order(&self, children: &BTreeMap<AgentId, Vec<AgentId>>) -> Vec<AgentNode> {
        let Some(root) = &self.root else { return Vec::new() };
        let (mut found, mut next) = (Vec::new(), vec![root.id]);
        while let Some(agent) = next.pop() {
            let node = if agent == root.id { Some(root) } else { self.nodes.get(&agent) };
            found.extend(node.cloned());
            next.extend(children.get(&agent).into_iter().flatten().rev());
            if found.len() > self.nodes.len() + 1 {
                break;
            }
        }
        found
    }

    fn complete(&self, node: AgentNode, children: &BTreeMap<AgentId, Vec<AgentId>>) -> AgentNode {
        let own = |agent: AgentId| self.usage.get(&agent).copied().unwrap_or_default();
        let (mut subtree, mut next, mut seen) = (Usage::default(), vec![node.id], 0);
        while let Some(agent) = next.pop() {
            subtree += own(agent);
            next.extend(children.get(&agent).into_iter().flatten());
            seen += 1;
            if seen > self.nodes.len() + 1 {
                break;
            }
        }
        let below = children.get(&node.id).cloned().unwrap_or_default();
        AgentNode { usage: own(node.id), subtree_usage: subtree, children: below, ..node }
    }
}
