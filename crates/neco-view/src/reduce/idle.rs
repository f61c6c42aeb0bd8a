//! Whether a session has come to rest: its root is done, nobody below it works, and nothing is on its way that
//! would let the root go on. It follows from the events alone, so every window comes to the same.

use std::collections::{BTreeMap, HashSet};

use neco_proto::event::{Admission, AgentMessage, AgentNode, AgentUpdate, CompleteReason, NodeState};
use neco_proto::{AgentId, Event, EventBody, MessageId, Role};

/// Whether a session has come to rest.
#[derive(Clone, Debug, Default)]
pub struct IdleTracker {
    root: Option<AgentId>,
    /// Whether the root is done, and may be woken.
    done: Option<bool>,
    /// Those below it that work, and those that are paused, by name.
    working: BTreeMap<AgentId, String>,
    paused: BTreeMap<AgentId, String>,
    /// Whether the person stopped everybody, and has said nothing since: no letter is a reason to begin.
    stopped: bool,
    /// What was said to the root and is not heard yet.
    letters: HashSet<MessageId>,
}

impl IdleTracker {
    /// Of a session whose root is known.
    pub fn of(root: AgentId) -> Self {
        Self { root: Some(root), ..Self::default() }
    }

    /// These agents were there before the first event that is taken in.
    pub fn found(&mut self, nodes: &[AgentNode]) {
        nodes.iter().filter(|node| node.parent.is_some()).for_each(|node| self.stands(node));
    }

    /// The root, once it is known.
    pub fn root(&self) -> Option<AgentId> {
        self.root
    }

    /// Takes in the next event.
    pub fn apply(&mut self, event: &Event) {
        match &event.body {
            EventBody::SessionStart(_) => self.root = Some(event.agent_id),
            EventBody::AgentUpdate(update) => self.update(update),
            EventBody::AgentMessage(message) => self.letter(message),
            EventBody::StateChange(change) if self.is_root(event) && change.to.is_at_work() => self.done = None,
            EventBody::AgentComplete(complete) if self.is_root(event) => {
                let wakeable = matches!(complete.reason, CompleteReason::Natural | CompleteReason::IterationLimit);
                self.done = Some(wakeable);
            }
            EventBody::Message(message) if message.role == Role::User && self.is_root(event) => {
                let heard = self.letters.remove(&message.id);
                if heard || !message.is_neco() {
                    self.done = None;
                }
                self.stopped &= message.is_neco();
            }
            EventBody::Stop(_) => self.stopped = true,
            EventBody::MessageQueued(queued) if self.is_root(event) && queued.when != Admission::Withdrawn => {
                self.done = None;
            }
            // Nothing else begins or ends anything.
            _ => {}
        }
    }

    /// Something was asked of the root that its events do not tell of yet.
    pub fn goes_on(&mut self) {
        self.done = None;
    }

    /// Whether an event is the root's own.
    pub fn is_root(&self, event: &Event) -> bool {
        self.root.is_none_or(|root| root == event.agent_id)
    }

    /// Whether it has come to rest.
    pub fn is_over(&self) -> bool {
        match self.done {
            None => false,
            Some(_) if self.stopped => true,
            Some(false) => true,
            Some(true) => self.working.is_empty() && self.letters.is_empty(),
        }
    }

    /// Whether the root is done, whoever else works.
    pub fn root_is_done(&self) -> bool {
        self.done.is_some()
    }

    /// Those below the root that work, by name.
    pub fn working(&self) -> impl Iterator<Item = &str> {
        self.working.values().map(String::as_str)
    }

    /// Those below the root that work or are paused, by name, oldest first.
    pub fn live(&self) -> Vec<&str> {
        let live: BTreeMap<&AgentId, &String> = self.working.iter().chain(&self.paused).collect();
        live.into_values().map(String::as_str).collect()
    }

    fn update(&mut self, AgentUpdate { node, gone, .. }: &AgentUpdate) {
        for agent in gone.iter().chain([&node.id]) {
            self.working.remove(agent);
            self.paused.remove(agent);
        }
        self.stands(node);
    }

    fn stands(&mut self, node: &AgentNode) {
        match node.state {
            NodeState::Created | NodeState::Running => drop(self.working.insert(node.id, node.name.clone())),
            NodeState::Paused => drop(self.paused.insert(node.id, node.name.clone())),
            NodeState::Completed | NodeState::Failed | NodeState::Cancelled => {}
        }
    }

    fn letter(&mut self, message: &AgentMessage) {
        if Some(message.to) == self.root && message.wakes() {
            self.letters.insert(message.message_id);
        }
    }
}
