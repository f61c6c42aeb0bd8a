//! The company: the agents of a session as they run. Whatever is done to one of them goes through here, one
//! thing after the other; what an agent does by itself is noticed and taken in the same way.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Weak};
use std::time::Duration;

use futures::future::BoxFuture;
use jiff::Timestamp;
use neco_agent::{Agent, AgentHandle, AgentInput};
use neco_model::Provider;
use neco_proto::event::{AgentNode, AgentUpdate, NodeResult, NodeState, SubtreeBudget};
use neco_proto::{AgentId, CallId, EventBody, Message, Mode, QuestionId, SessionId};
use neco_safety::Policy;
use neco_store::EventLog;
use neco_toolkit::Spill;
use tokio::sync::{Mutex, MutexGuard};
use tokio::task::JoinHandle;

use super::agents::AgentTree;
use super::error::TreeError;
use super::history::{TreeHistory, root_node};
use super::limits::TreeLimits;
use super::notes::{Gone, Notes};
use super::op::{NewNode, Op};
use super::seat::{Line, Seat};
use super::spawner::{SpawnRequest, Spawner};
use super::spec::{ChildSpec, TreeSettings};
use crate::fold::Fold;
use crate::journal::Journal;
use crate::roles::Definitions;

/// How long an agent that is stopped may take to stop what it runs.
const LEAVING: Duration = Duration::from_secs(5);

/// Makes the agents below the root.
pub trait MakeChild: Send + Sync {
    /// An agent that has not begun. The error is in words for a model.
    ///
    /// # Errors
    /// When its model or its folder can't be used.
    fn make(&self, company: &Weak<Company>, birth: Birth<'_>) -> Result<Newborn, String>;

    /// Who there can be.
    fn definitions(&self) -> Arc<Definitions>;

    /// Where a result goes that is too long for a conversation, and how many bytes of it enter one; nothing
    /// before there is a root.
    fn room(&self) -> Option<(Arc<dyn Spill>, usize)>;

    /// The model or group of a name.
    ///
    /// # Errors
    /// Why there is none, in words.
    fn model(&self, name: &str) -> Result<Arc<dyn Provider>, String>;
}

/// What a child is made of besides what all agents of the session are made of.
pub struct Birth<'a> {
    /// How it stands in the tree.
    pub node: &'a AgentNode,
    /// What it is made from.
    pub spec: &'a ChildSpec,
    /// Its parent's rules.
    pub policy: &'a Policy,
    /// Its parent's tools.
    pub tools: &'a HashSet<String>,
    /// Its parent's mode.
    pub mode: Mode,
    /// Most turns when its definition does not say.
    pub max_turns: u32,
    /// What it said and was told before.
    pub fold: Fold,
}

/// A child that has not begun.
pub struct Newborn {
    /// The agent.
    pub agent: Agent,
    /// The way to it.
    pub handle: AgentHandle,
    /// The rules that it is judged by.
    pub policy: Policy,
    /// The tools that exist for it.
    pub tools: HashSet<String>,
}

/// What a company is made of.
pub struct CompanySetup {
    /// The session.
    pub session: SessionId,
    /// Its root.
    pub root: AgentId,
    /// The model that the root asks.
    pub model: String,
    /// What the session may use in all.
    pub budget: SubtreeBudget,
    /// Where events go.
    pub journal: Arc<Journal>,
    /// Where they are.
    pub log: Arc<dyn EventLog>,
    /// How big it may grow.
    pub settings: TreeSettings,
    /// Makes the agents below the root.
    pub make: Arc<dyn MakeChild>,
    /// The tree as the log has it.
    pub history: TreeHistory,
}

/// The agents of a session as they run.
pub struct Company {
    pub(super) session: SessionId,
    pub(super) root: AgentId,
    pub(super) journal: Arc<Journal>,
    pub(super) log: Arc<dyn EventLog>,
    pub(super) settings: TreeSettings,
    pub(super) make: Arc<dyn MakeChild>,
    pub(super) notes: Arc<Notes>,
    pub(super) me: Weak<Company>,
    pub(super) state: Mutex<State>,
}

pub(super) struct State {
    pub tree: AgentTree,
    pub seats: HashMap<AgentId, Seat>,
    /// How many of each role there ever were.
    pub counts: HashMap<String, u32>,
    /// Whether somebody looks for silence.
    pub watching: bool,
    /// Agents that were stopped and may still be at it.
    pub leaving: Vec<JoinHandle<()>>,
    pub closed: bool,
}

impl Company {
    /// The company of a session, as its log left it. Whoever ran then is paused; [`Company::open`] says so.
    #[must_use]
    pub fn new(setup: CompanySetup) -> Arc<Self> {
        let CompanySetup { session, root, model, budget, journal, log, settings, make, history } = setup;
        let notes = Arc::new(Notes::default());
        let watching = Arc::clone(&notes);
        journal.observe(Arc::new(move |event| watching.take_note(event)));
        let mut counts = HashMap::new();
        for node in history.all().iter().filter(|node| node.id != root) {
            *counts.entry(node.role.clone()).or_default() += 1;
        }
        let tree = restored(&history, settings.limits, root, &model, budget);
        let mut seats = super::revive::seats(&tree, &history, settings.max_letters);
        seats.insert(root, Seat::new(None, Policy::default(), HashSet::new(), settings.max_letters));
        super::revive::repost(&mut seats, &history);
        let state = State { tree, seats, counts, watching: false, leaving: Vec::new(), closed: false };
        let company = Arc::new_cyclic(|me| Self {
            session,
            root,
            journal,
            log,
            settings,
            make,
            notes,
            me: me.clone(),
            state: Mutex::new(state),
        });
        tokio::spawn(super::watch::watch(Weak::clone(&company.me), Arc::clone(&company.notes)));
        company
    }

    /// The root.
    #[must_use]
    pub fn root(&self) -> AgentId {
        self.root
    }

    /// Who there can be.
    #[must_use]
    pub fn definitions(&self) -> Arc<Definitions> {
        self.make.definitions()
    }

    /// The root agent runs, or another one in its place.
    pub async fn seat_root(&self, handle: AgentHandle, policy: Policy, tools: HashSet<String>) {
        let mut state = self.state.lock().await;
        if let Some(seat) = state.seats.get_mut(&self.root) {
            (seat.policy, seat.tools) = (policy, tools);
            seat.line = Some(Line::new(handle, tokio::spawn(async {})));
            seat.quiet = true;
        }
        self.deliver(&mut state, self.root).await;
    }

    /// The root agent is about to be replaced or to end: nobody here keeps it.
    pub async fn unseat_root(&self) {
        if let Some(seat) = self.state.lock().await.seats.get_mut(&self.root) {
            seat.line = None;
        }
    }

    /// All agents, the root first and parents before their children.
    pub async fn nodes(&self) -> Vec<AgentNode> {
        let state = self.state.lock().await;
        state.tree.subtree(self.root).into_iter().filter_map(|agent| state.tree.node(agent).cloned()).collect()
    }

    /// How many are live besides the root.
    pub async fn live_count(&self) -> usize {
        self.state.lock().await.tree.live_count()
    }

    /// The children of an agent, oldest first.
    pub async fn children_of(&self, parent: AgentId) -> Vec<AgentNode> {
        let state = self.state.lock().await;
        let children = state.tree.node(parent).map(|node| node.children.clone()).unwrap_or_default();
        children.into_iter().filter_map(|child| state.tree.node(child).cloned()).collect()
    }

    /// The child that its parent means: by name, or by id.
    ///
    /// # Errors
    /// When it has none of that name.
    pub async fn child_named(&self, parent: AgentId, name: &str) -> Result<AgentId, TreeError> {
        let wanted = name.trim();
        let children = self.children_of(parent).await;
        let is = |node: &&AgentNode| node.name.eq_ignore_ascii_case(wanted) || node.id.to_string() == wanted;
        children.iter().find(is).map(|node| node.id).ok_or_else(|| TreeError::UnknownName(wanted.to_owned()))
    }

    /// The way to whoever waits for a decision on a call, if that is no root.
    pub async fn asks_about(&self, call: &CallId) -> Option<AgentHandle> {
        let agent = self.notes.asks_about(call).filter(|agent| *agent != self.root)?;
        self.handle_of(agent).await
    }

    /// The way to whoever waits for the answer to a question, if that is no root.
    pub async fn asked(&self, question: QuestionId) -> Option<AgentHandle> {
        let agent = self.notes.asked(question).filter(|agent| *agent != self.root)?;
        self.handle_of(agent).await
    }

    pub(super) async fn handle_of(&self, agent: AgentId) -> Option<AgentHandle> {
        let state = self.state.lock().await;
        state.seats.get(&agent)?.line.as_ref().map(|line| line.handle.clone())
    }

    /// Words of a refusal, with names for ids.
    pub async fn words(&self, error: &TreeError) -> String {
        let state = self.state.lock().await;
        let mut words = error.to_string();
        for node in state.tree.iter() {
            words = words.replace(&node.id.to_string(), &node.name);
        }
        words
    }

    /// Ends everybody below the root, and keeps the root no longer; ready when nothing of them runs.
    pub async fn close(&self) {
        let leaving = {
            let mut state = self.state.lock().await;
            // Whoever works is paused: its history is kept, and its parent told when the session is opened again.
            if !state.closed && state.tree.live_count() > 0 {
                let _ = self.apply(&mut state, Op::Interrupt, true).await;
            }
            state.closed = true;
            self.notes.close();
            let seats: Vec<Seat> = state.seats.drain().map(|(_, seat)| seat).collect();
            let lines = seats.into_iter().filter_map(|seat| seat.line);
            let mut leaving = std::mem::take(&mut state.leaving);
            leaving.extend(lines.map(|line| line.task));
            leaving
        };
        join(leaving).await;
    }

    async fn spawn_child(&self, parent: AgentId, request: SpawnRequest) -> Result<AgentId, TreeError> {
        let mut state = self.state.lock().await;
        if state.closed {
            return Err(TreeError::Refused("the session ends; no agent is started any more".to_owned()));
        }
        let SpawnRequest { definition, task, model_group, budget, call, told } = request;
        let above = state.tree.node(parent).ok_or(TreeError::Unknown(parent))?;
        let role = definition.name.clone();
        let number = state.counts.get(&role).copied().unwrap_or_default() + 1;
        let id = AgentId::new();
        let node = NewNode {
            id,
            name: format!("{role}-{number}"),
            kind: definition.node_type,
            role: role.clone(),
            task,
            model_group: model_group.unwrap_or_else(|| definition.model_name(&above.model_group).to_owned()),
            budget: narrower(definition.budget, budget),
        };
        // On a copy: what can't be made is not in the tree.
        let (mut tree, at) = (state.tree.clone(), Timestamp::now());
        tree.apply(at, Op::Spawn { parent, node })?;
        tree.apply(at, Op::Start(id))?;
        let node = tree.node(id).cloned().ok_or(TreeError::Unknown(id))?;
        let timeout = definition.timeout;
        let spec = ChildSpec { definition, call, told };
        let newborn = self.newborn(&state, &node, &spec, Fold::default())?;
        let setup = serde_json::to_value(&spec).ok();
        let update = EventBody::AgentUpdate(AgentUpdate { node: node.clone(), gone: Vec::new(), setup });
        self.journal.commit(id, None, update).await.map_err(|error| TreeError::Refused(error.to_string()))?;
        state.tree = tree;
        state.counts.insert(role, number);
        let mut seat = Seat::new(Some(spec), newborn.policy.clone(), newborn.tools.clone(), self.settings.max_letters);
        let line = self.begin(id, newborn.agent, newborn.handle);
        if node.state == NodeState::Paused {
            line.send(AgentInput::Hold);
        }
        let message = Message::user(node.task.clone());
        seat.in_flight.insert(message.id);
        line.send(AgentInput::Letter { message, wakes: true, replaces: None });
        seat.line = Some(line);
        seat.at_work = true;
        state.seats.insert(id, seat);
        self.watch_time(id, timeout);
        self.watch_silence(&mut state);
        Ok(id)
    }

    pub(super) fn newborn(
        &self,
        state: &State,
        node: &AgentNode,
        spec: &ChildSpec,
        fold: Fold,
    ) -> Result<Newborn, TreeError> {
        let above = node.parent.and_then(|parent| state.seats.get(&parent));
        let above = above.ok_or_else(|| TreeError::Refused("its parent does not run".to_owned()))?;
        let (policy, tools, max_turns) = (&above.policy, &above.tools, self.settings.max_turns);
        let mode = node.parent.map_or_else(Mode::default, |parent| self.mode_of(state, parent));
        let birth = Birth { node, spec, policy, tools, mode, max_turns, fold };
        self.make.make(&self.me, birth).map_err(TreeError::Refused)
    }

    /// Lets an agent run; its end, whatever it is, is noticed.
    pub(super) fn begin(&self, id: AgentId, agent: Agent, handle: AgentHandle) -> Line {
        self.notes.listen_to(id);
        let notes = Arc::clone(&self.notes);
        let running = tokio::spawn(agent.run());
        let task = tokio::spawn(async move {
            let how = match running.await {
                Ok(Ok(())) => Gone::Ended,
                Ok(Err(_)) => Gone::Lost,
                Err(_) => Gone::Crashed,
            };
            notes.gone(id, how);
        });
        Line::new(handle, task)
    }

    async fn ended_with(&self, agent: AgentId) -> NodeResult {
        let stopped = || NodeResult::Error { code: None, message: "it was stopped".to_owned() };
        let mut ended = {
            let state = self.state.lock().await;
            match state.tree.node(agent) {
                Some(node) if !node.state.is_live() => return node.result.clone().unwrap_or_else(stopped),
                Some(_) | None => match state.seats.get(&agent) {
                    Some(seat) => seat.ended.subscribe(),
                    None => return stopped(),
                },
            }
        };
        match ended.wait_for(Option::is_some).await {
            Ok(result) => result.clone().unwrap_or_else(stopped),
            Err(_) => stopped(),
        }
    }

    /// Ends an agent and everybody below it, on whoever's behalf; ready when nothing of them runs any more.
    ///
    /// # Errors
    /// When it has ended already.
    pub(super) async fn stop(&self, agent: AgentId, told: bool) -> Result<(), TreeError> {
        let leaving = {
            let mut state = self.state.lock().await;
            self.apply(&mut state, Op::Cancel(agent), told).await?;
            std::mem::take(&mut state.leaving)
        };
        join(leaving).await;
        Ok(())
    }

    pub(super) async fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().await
    }
}

impl Spawner for Company {
    fn spawn(&self, parent: AgentId, request: SpawnRequest) -> BoxFuture<'_, Result<AgentId, TreeError>> {
        Box::pin(self.spawn_child(parent, request))
    }

    fn ended(&self, agent: AgentId) -> BoxFuture<'_, NodeResult> {
        Box::pin(self.ended_with(agent))
    }

    fn cancel(&self, agent: AgentId) -> BoxFuture<'_, ()> {
        // One that has ended has nothing to cancel.
        Box::pin(async move { drop(self.stop(agent, false).await) })
    }
}

/// Waits until agents that were stopped have stopped what they ran.
async fn join(leaving: Vec<JoinHandle<()>>) {
    let all = futures::future::join_all(leaving);
    if tokio::time::timeout(LEAVING, all).await.is_err() {
        tracing::warn!("an agent takes long to stop");
    }
}

/// The tree as the log has it; one of the root alone when that does not hold together.
fn restored(history: &TreeHistory, limits: TreeLimits, root: AgentId, model: &str, budget: SubtreeBudget) -> AgentTree {
    let now = Timestamp::now();
    let mut nodes = history.present();
    if nodes.is_empty() {
        nodes.push(root_node(root, now));
    }
    for node in nodes.iter_mut().filter(|node| node.id == root) {
        node.budget = budget;
        model.clone_into(&mut node.model_group);
    }
    // Those that ran when the limits were others stay.
    let live = nodes.iter().filter(|node| node.state.is_live()).count().saturating_sub(1);
    let wide = TreeLimits { live: limits.live.max(live), ..limits };
    AgentTree::restore(wide, nodes, history.gone().clone()).unwrap_or_else(|broken| {
        tracing::warn!(broken, "the agents of the session can't be told from its log");
        let new = NewNode {
            id: root,
            name: "root".to_owned(),
            kind: neco_proto::event::NodeType::Root,
            role: "root".to_owned(),
            task: String::new(),
            model_group: model.to_owned(),
            budget,
        };
        AgentTree::new(limits, new, now)
    })
}

/// The smaller of two budgets, part by part.
fn narrower(one: SubtreeBudget, other: Option<SubtreeBudget>) -> SubtreeBudget {
    let Some(other) = other else { return one };
    let tokens = [one.tokens, other.tokens].into_iter().flatten().min();
    let cost = [one.cost, other.cost].into_iter().flatten().reduce(f64::min);
    SubtreeBudget { tokens, cost }
}
