//! The tree: takes operations, keeps its invariants, says what follows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use jiff::Timestamp;
use neco_proto::event::{AgentMessage, AgentNode, Letter, NodeResult, NodeState, NodeType, SubtreeBudget, Up};
use neco_proto::{Actor, AgentId, AgentParameters, ErrorCode, MessageId, Usage};
use serde_json::Value;

use super::error::TreeError;
use super::op::{Change, NewNode, Op};
use super::promises::{BrokenPromise, check_shape};
use super::spec::{TreeLimits, most_children, spent};

/// The agents of one session. A copy shares what does not change, so that an operation can be tried on one.
#[derive(Clone, Debug)]
pub struct AgentTree {
    pub(super) limits: TreeLimits,
    pub(super) root: AgentId,
    pub(super) nodes: BTreeMap<AgentId, Arc<AgentNode>>,
    /// Those that are gone, and the node that stands for them: what they still use counts there.
    pub(super) gone: Arc<BTreeMap<AgentId, AgentId>>,
    /// Those whose budget is known to be used up.
    pub(super) spent: BTreeSet<AgentId>,
}

impl AgentTree {
    /// A tree with nothing but its root, which runs.
    pub fn new(limits: TreeLimits, root: NewNode, at: Timestamp) -> Self {
        let id = root.id;
        let nodes = BTreeMap::from([(id, Arc::new(root_node(root, at)))]);
        Self { limits, root: id, nodes, gone: Arc::default(), spent: BTreeSet::new() }
    }

    /// The tree that these nodes make: the last of each that was recorded. Limits bind whoever is new: those that
    /// were there when the limits were others stay.
    pub fn restore(
        limits: TreeLimits,
        nodes: impl IntoIterator<Item = AgentNode>,
        gone: BTreeMap<AgentId, AgentId>,
    ) -> Result<Self, BrokenPromise> {
        let nodes: BTreeMap<AgentId, Arc<AgentNode>> =
            nodes.into_iter().map(|node| (node.id, Arc::new(node))).collect();
        let root = nodes.values().find(|node| node.kind == NodeType::Root).map(|node| node.id);
        let root = root.ok_or_else(|| BrokenPromise("there is no root".to_owned()))?;
        let spent = nodes.values().filter(|node| spent(&node.budget, &node.subtree_usage).is_some());
        let spent = spent.map(|node| node.id).collect();
        let tree = Self { limits, root, nodes, gone: Arc::new(gone), spent };
        check_shape(tree.root, &tree.nodes).map(|()| tree)
    }

    /// Does something to the tree, at a time that whoever records it names.
    /// Fails when it is refused; nothing has changed then.
    pub fn apply(&mut self, at: Timestamp, op: Op) -> Result<Vec<Change>, TreeError> {
        match op {
            Op::Spawn { parent, node } => self.spawn(at, parent, node),
            Op::Start(agent) => self.start(at, agent),
            Op::Pause(agent) => self.pause(at, agent),
            Op::PauseAll(agents) => {
                let root = self.root;
                let below_root = agents.into_iter().filter(|agent| *agent != root);
                Ok(below_root.flat_map(|agent| self.pause_all(at, agent)).collect())
            }
            Op::Resume(agent) => self.resume(at, agent),
            Op::Use { agent, usage } => self.use_up(agent, usage),
            Op::Complete { agent, output } => self.complete(at, agent, output),
            Op::Fail { agent, code, message } => self.fail(at, agent, code, message),
            Op::Cancel(agent) => self.cancel(at, agent),
            Op::Retry(agent) => self.retry(at, agent),
            Op::Update { agent, parameters } => self.update(agent, parameters),
            Op::Report { from, progress, message } => self.report(from, progress, message),
            Op::Question { from, text } => {
                Ok(vec![self.to_parent(self.live(from, "asked about")?, Up::Question { text })?])
            }
            Op::Tell { from, to, letter } => {
                self.may_command(&from, to)?;
                Ok(vec![Change::Post(AgentMessage {
                    from,
                    to,
                    letter: Letter::Down(letter),
                    message_id: MessageId::new(),
                })])
            }
            Op::Interrupt => Ok(self.interrupt(at)),
        }
    }

    fn spawn(&mut self, at: Timestamp, parent: AgentId, new: NewNode) -> Result<Vec<Change>, TreeError> {
        let above = self.known(parent)?;
        if self.nodes.contains_key(&new.id) || self.gone.contains_key(&new.id) {
            return Err(TreeError::Taken(new.id));
        }
        if !above.kind.may_create(new.kind) {
            return Err(TreeError::MayNotCreate { parent: above.kind, kind: new.kind });
        }
        if above.state != NodeState::Running {
            return Err(wrong(above, "a parent"));
        }
        self.has_room(above)?;
        self.has_budget(parent)?;
        let id = new.id;
        self.nodes.insert(id, Arc::new(made(new, Some(parent), at)));
        if let Some(above) = self.change(parent) {
            above.children.push(id);
        }
        Ok(vec![Change::Added(id)])
    }

    /// Whether one more child of `above` is within the limits.
    fn has_room(&self, above: &AgentNode) -> Result<(), TreeError> {
        let TreeLimits { depth, live, .. } = self.limits;
        if self.above(above.id).count() > depth {
            return Err(TreeError::TooDeep { most: depth });
        }
        let is_live = |node: &&AgentNode| node.state.is_live();
        if self.iter().filter(is_live).count() > live {
            return Err(TreeError::TooManyLive { most: live });
        }
        let children = above.children.iter().filter_map(|child| self.node(*child)).filter(is_live).count();
        match most_children(above.kind, &self.limits) {
            Some(most) if children >= most => Err(TreeError::TooManyChildren { most }),
            Some(_) | None => Ok(()),
        }
    }

    /// Whether an agent and everybody above it has something left to spend.
    fn has_budget(&self, agent: AgentId) -> Result<(), TreeError> {
        let spent = self.above(agent).find_map(|node| Some((node.id, spent(&node.budget, &node.subtree_usage)?)));
        spent.map_or(Ok(()), |(agent, spent)| Err(TreeError::BudgetUsedUp { agent, spent }))
    }

    /// Below a paused agent nobody runs: what starts there waits with it.
    fn start(&mut self, at: Timestamp, agent: AgentId) -> Result<Vec<Change>, TreeError> {
        let node = self.known(agent)?;
        if node.state != NodeState::Created {
            return Err(wrong(node, "started"));
        }
        self.has_budget(agent)?;
        let waits_for = self.pause_above(node);
        let mut changes: Vec<Change> = self.enter(at, agent, NodeState::Running).into_iter().collect();
        if waits_for.is_some() {
            changes.extend(self.enter(at, agent, NodeState::Paused));
            self.set_paused_by(agent, waits_for);
        }
        Ok(changes)
    }

    fn pause(&mut self, at: Timestamp, agent: AgentId) -> Result<Vec<Change>, TreeError> {
        let node = self.known(agent)?;
        if agent == self.root {
            return Err(TreeError::RootStays("paused"));
        }
        if node.state != NodeState::Running {
            return Err(wrong(node, "paused"));
        }
        Ok(self.pause_all(at, agent))
    }

    fn pause_all(&mut self, at: Timestamp, agent: AgentId) -> Vec<Change> {
        let mut changes = Vec::new();
        for below in self.in_state(agent, NodeState::Running) {
            changes.extend(self.enter(at, below, NodeState::Paused));
            self.set_paused_by(below, Some(agent));
        }
        changes
    }

    fn resume(&mut self, at: Timestamp, agent: AgentId) -> Result<Vec<Change>, TreeError> {
        let node = self.known(agent)?;
        if node.state != NodeState::Paused || node.paused_by != Some(agent) {
            return Err(wrong(node, "resumed; it may wait for one above it"));
        }
        self.has_budget(agent)?;
        let waits_for = self.pause_above(node);
        let mut changes = Vec::new();
        for below in self.in_state(agent, NodeState::Paused) {
            if self.nodes.get(&below).and_then(|node| node.paused_by) != Some(agent) {
                continue;
            }
            self.set_paused_by(below, waits_for);
            match waits_for {
                Some(_) => changes.push(Change::Known(below)),
                None => changes.extend(self.enter(at, below, NodeState::Running)),
            }
        }
        Ok(changes)
    }

    fn use_up(&mut self, agent: AgentId, usage: Usage) -> Result<Vec<Change>, TreeError> {
        let stands_for = self.gone.get(&agent).copied();
        let counted = stands_for.unwrap_or(agent);
        self.known(counted)?;
        let chain: Vec<AgentId> = self.above(counted).map(|node| node.id).collect();
        let mut changes = Vec::new();
        for id in chain {
            let Some(node) = self.nodes.get_mut(&id).map(Arc::make_mut) else { continue };
            if id == counted && stands_for.is_none() {
                node.usage += usage;
            }
            node.subtree_usage += usage;
            changes.push(Change::Known(id));
            if let Some(spent) = spent(&node.budget, &node.subtree_usage).filter(|_| self.spent.insert(id)) {
                changes.push(Change::Spent { agent: id, spent });
            }
        }
        Ok(changes)
    }

    fn complete(&mut self, at: Timestamp, agent: AgentId, output: Value) -> Result<Vec<Change>, TreeError> {
        let node = self.known(agent)?;
        if agent == self.root {
            return Err(TreeError::RootStays("completed"));
        }
        if node.state != NodeState::Running {
            return Err(wrong(node, "completed"));
        }
        let at_work = self.live_children(agent);
        if !at_work.is_empty() {
            return Err(TreeError::ChildrenAtWork(at_work));
        }
        let result = NodeResult::Output { output };
        self.end(at, agent, NodeState::Completed, Some(result.clone()), Up::Ended { result })
    }

    fn fail(
        &mut self,
        at: Timestamp,
        agent: AgentId,
        code: Option<ErrorCode>,
        message: String,
    ) -> Result<Vec<Change>, TreeError> {
        self.live(agent, "failed")?;
        if agent == self.root {
            return Err(TreeError::RootStays("failed"));
        }
        let mut changes = self.cancel_below(at, agent);
        let result = NodeResult::Error { code, message };
        changes.extend(self.end(at, agent, NodeState::Failed, Some(result.clone()), Up::Ended { result })?);
        Ok(changes)
    }

    fn cancel(&mut self, at: Timestamp, agent: AgentId) -> Result<Vec<Change>, TreeError> {
        self.live(agent, "cancelled")?;
        if agent == self.root {
            return Err(TreeError::RootStays("cancelled"));
        }
        let mut changes = self.cancel_below(at, agent);
        let told = Up::Stopped { why: "it was cancelled".to_owned(), quiet: false };
        changes.extend(self.end(at, agent, NodeState::Cancelled, None, told)?);
        Ok(changes)
    }

    /// What it used before is used.
    fn retry(&mut self, at: Timestamp, agent: AgentId) -> Result<Vec<Change>, TreeError> {
        let node = self.known(agent)?;
        if agent == self.root {
            return Err(TreeError::RootStays("started over"));
        }
        let above = node.parent.and_then(|parent| self.node(parent)).ok_or(TreeError::NoParent)?;
        match node.state {
            NodeState::Created | NodeState::Running | NodeState::Paused => {}
            NodeState::Failed | NodeState::Cancelled if above.state.is_live() => self.has_room(above)?,
            NodeState::Failed | NodeState::Cancelled | NodeState::Completed => return Err(wrong(node, "started over")),
        }
        self.has_budget(agent)?;
        let waits_for = self.pause_above(node);
        let mut changes = self.cancel_below(at, agent);
        changes.extend(self.collapse(agent));
        if let Some(node) = self.change(agent) {
            node.state = if waits_for.is_some() { NodeState::Paused } else { NodeState::Running };
            (node.changed, node.paused_by) = (at, waits_for);
            (node.progress, node.last_message, node.result) = (0.0, None, None);
        }
        changes.push(Change::Anew(agent));
        Ok(changes)
    }

    /// From the leaves up, so that nobody outlives whom it reports to.
    fn cancel_below(&mut self, at: Timestamp, agent: AgentId) -> Vec<Change> {
        let below = self.subtree(agent).into_iter().skip(1).filter(|below| self.is_live(*below));
        let leaves_first: Vec<AgentId> = below.collect::<Vec<_>>().into_iter().rev().collect();
        leaves_first.into_iter().filter_map(|below| self.enter(at, below, NodeState::Cancelled)).collect()
    }

    fn end(
        &mut self,
        at: Timestamp,
        agent: AgentId,
        state: NodeState,
        result: Option<NodeResult>,
        told: Up,
    ) -> Result<Vec<Change>, TreeError> {
        let told = self.to_parent(self.known(agent)?, told)?;
        let changes = self.enter(at, agent, state).into_iter().chain([told]);
        let mut changes: Vec<Change> = changes.collect();
        let parent = self.change(agent).and_then(|node| {
            node.result = result;
            if state == NodeState::Completed {
                node.progress = 1.0;
            }
            node.parent
        });
        changes.extend(self.collapse(agent));
        parent.into_iter().for_each(|parent| self.drop_old(parent));
        Ok(changes)
    }

    /// Only what is named changes: a part of a budget that nobody names stays as it is.
    fn update(&mut self, agent: AgentId, parameters: AgentParameters) -> Result<Vec<Change>, TreeError> {
        self.live(agent, "changed")?;
        let Some(node) = self.change(agent) else { return Err(TreeError::Unknown(agent)) };
        if let Some(group) = &parameters.model_group {
            node.model_group.clone_from(group);
        }
        let budget = parameters.budget.map(|new| SubtreeBudget {
            tokens: new.tokens.or(node.budget.tokens),
            cost: new.cost.or(node.budget.cost),
        });
        if let Some(budget) = budget {
            node.budget = budget;
            if spent(&budget, &node.subtree_usage).is_none() {
                self.spent.remove(&agent);
            }
        }
        let parameters = AgentParameters { budget, ..parameters };
        Ok(vec![Change::Known(agent), Change::Parameters { agent, parameters }])
    }

    fn report(&mut self, from: AgentId, progress: f64, message: String) -> Result<Vec<Change>, TreeError> {
        if !(0.0..=1.0).contains(&progress) {
            return Err(TreeError::BadProgress(progress));
        }
        let node = self.live(from, "heard")?;
        let told = self.to_parent(node, Up::Report { progress, message: message.clone() })?;
        if let Some(node) = self.change(from) {
            (node.progress, node.last_message) = (progress, Some(message));
        }
        Ok(vec![Change::Known(from), told])
    }

    fn interrupt(&mut self, at: Timestamp) -> Vec<Change> {
        let mut changes = Vec::new();
        for agent in self.in_state(self.root, NodeState::Running) {
            // Those below it were paused with it.
            if agent != self.root && self.nodes.get(&agent).is_some_and(|node| node.state == NodeState::Running) {
                changes.extend(self.pause_all(at, agent));
                let why = "the process ended while it worked; it is paused with its history: resume or cancel it";
                let node = self.nodes.get(&agent);
                let told =
                    node.and_then(|node| self.to_parent(node, Up::Stopped { why: why.to_owned(), quiet: false }).ok());
                changes.extend(told);
            }
        }
        changes
    }

    fn to_parent(&self, node: &AgentNode, letter: Up) -> Result<Change, TreeError> {
        let to = node.parent.ok_or(TreeError::NoParent)?;
        let from = Actor::Agent { id: node.id };
        Ok(Change::Post(AgentMessage { from, to, letter: Letter::Up(letter), message_id: MessageId::new() }))
    }

    fn enter(&mut self, at: Timestamp, agent: AgentId, to: NodeState) -> Option<Change> {
        let node = self.change(agent)?;
        let from = std::mem::replace(&mut node.state, to);
        node.changed = at;
        node.paused_by = None;
        Some(Change::State { agent, from, to })
    }

    fn set_paused_by(&mut self, agent: AgentId, by: Option<AgentId>) {
        if let Some(node) = self.change(agent) {
            node.paused_by = by;
        }
    }
}

/// The root, as it is when nothing is known of it but that it is there.
pub(super) fn root_node(root: NewNode, at: Timestamp) -> AgentNode {
    AgentNode { kind: NodeType::Root, state: NodeState::Running, ..made(root, None, at) }
}

fn made(new: NewNode, parent: Option<AgentId>, at: Timestamp) -> AgentNode {
    AgentNode {
        id: new.id,
        name: new.name,
        kind: new.kind,
        role: new.role,
        parent,
        children: Vec::new(),
        collapsed: 0,
        task: new.task,
        model_group: new.model_group,
        state: NodeState::Created,
        paused_by: None,
        progress: 0.0,
        last_message: None,
        usage: Usage::default(),
        subtree_usage: Usage::default(),
        budget: new.budget,
        created: at,
        changed: at,
        result: None,
    }
}

pub(super) fn wrong(node: &AgentNode, wanted: &'static str) -> TreeError {
    TreeError::WrongState { agent: node.id, state: node.state, wanted }
}
