//! The supervisor: the agents of a session as they run. Whatever is done to one of them goes through here, one
//! thing after the other; what an agent does by itself is noticed and taken in the same way.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, Weak};
use std::time::{Duration, Instant};

use neco_agent::skills::InUse;
use neco_agent::{Agent, AgentHandle, AgentInput};
use neco_model::{GROUPS, Provider, SetupError};
use neco_proto::event::{AgentNode, AgentUpdate, NodeResult, NodeState, SubtreeBudget};
use neco_proto::{Actor, AgentId, CallId, Mode, QuestionId, SessionId, WorkflowId};
use neco_safety::Policy;
use neco_safety::policy::Rule;
use neco_store::EventLog;
use neco_toolkit::{InBackground, Registry, Spill};
use tokio::sync::{Mutex, MutexGuard};
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use super::agents::AgentTree;
use super::carry::Told;
use super::error::TreeError;
use super::history::TreeHistory;
use super::notes::Notes;
use super::op::Op;
use super::slot::{AgentSlot, Line, stopped};
use super::spec::{ChildSpec, TreeSettings};
use super::stop::Stops;
use crate::fold::Fold;
use crate::journal::Journal;
use crate::roles::{Definitions, Narrowing};

/// How long an agent that is stopped may take to stop what it runs.
pub(super) const LEAVING: Duration = Duration::from_secs(5);

/// Makes the agents below the root.
pub trait MakeChild: Send + Sync {
    /// An agent that has not begun.
    /// Fails when its model can't be used.
    fn make(&self, supervisor: &Weak<AgentSupervisor>, child_setup: ChildSetup<'_>) -> Result<BuiltAgent, TreeError>;

    fn definitions(&self) -> Arc<Definitions>;

    /// Where a result goes that is too long for a conversation, and how many bytes of it enter one; nothing
    /// before there is a root.
    fn room(&self) -> Option<(Arc<dyn Spill>, usize)>;

    /// The model or group of a name.
    fn model(&self, name: &str) -> Result<Arc<dyn Provider>, SetupError>;
}

/// What a child is made of besides what all agents of the session are made of.
pub struct ChildSetup<'a> {
    /// How it stands in the tree.
    pub node: &'a AgentNode,
    /// What it is made from.
    pub spec: &'a ChildSpec,
    /// Its parent's rules.
    pub policy: &'a Policy,
    /// How those above it are narrowed, the one below the root first.
    pub above: Vec<Narrowing>,
    /// Its parent's tools.
    pub tools: &'a Registry,
    /// Its parent's mode.
    pub mode: Mode,
    /// Most turns when its definition does not say.
    pub max_turns: u32,
    /// What it said and was told before.
    pub fold: Fold,
}

/// A child that has not begun.
pub struct BuiltAgent {
    pub agent: Agent,
    pub handle: AgentHandle,
    /// The rules that it is judged by.
    pub policy: Policy,
    /// The tools that exist for it.
    pub tools: Registry,
}

/// What a supervisor is made of.
pub struct SupervisorSetup {
    pub session: SessionId,
    pub root: AgentId,
    /// The model that the root asks.
    pub model: String,
    /// The model that the person chose for the session, if they did.
    pub chosen: Option<String>,
    /// What the session may use in all.
    pub budget: SubtreeBudget,
    pub journal: Arc<Journal>,
    pub log: Arc<dyn EventLog>,
    /// How big it may grow.
    pub settings: TreeSettings,
    /// Makes the agents below the root.
    pub make: Arc<dyn MakeChild>,
    /// The tree as the log has it.
    pub history: TreeHistory,
}

/// The agents of a session as they run.
pub struct AgentSupervisor {
    pub(super) session: SessionId,
    pub(super) root: AgentId,
    pub(super) journal: Arc<Journal>,
    pub(super) log: Arc<dyn EventLog>,
    pub(super) settings: TreeSettings,
    pub(super) make: Arc<dyn MakeChild>,
    pub(super) notes: Arc<Notes>,
    pub(super) me: Weak<AgentSupervisor>,
    pub(super) state: Mutex<State>,
    /// What is being brought to its end.
    pub(super) at_it: TaskTracker,
    /// Whoever changes what all share.
    pub(super) sharing: Mutex<()>,
    chosen: std::sync::Mutex<Option<String>>,
}

pub(super) struct State {
    pub tree: AgentTree,
    /// What the log does not say yet of nodes that a crash left in the middle of something.
    pub mended: Vec<AgentUpdate>,
    pub slots: HashMap<AgentId, AgentSlot>,
    /// How many of each role there ever were.
    pub counts: HashMap<String, u32>,
    /// Whether somebody looks for silence.
    pub watching: bool,
    /// Who stops everything just now: nobody is started meanwhile.
    pub stopping: Stops,
    /// Agents that were stopped and may still be at it.
    pub leaving: Vec<JoinHandle<()>>,
    /// Who ended with a call of the root that waited for them, by name, and when.
    pub ended_with_calls: Vec<(Instant, String)>,
    pub closed: bool,
    /// The number of what this root took up last.
    pub renewed: u64,
}

impl AgentSupervisor {
    /// The supervisor of a session, as its log left it. Whoever ran then is paused; [`AgentSupervisor::open`] says so.
    pub fn new(setup: SupervisorSetup) -> Arc<Self> {
        let SupervisorSetup { session, root, model, chosen, budget, journal, log, settings, make, history } = setup;
        let notes = Arc::new(Notes::default());
        let watching = Arc::clone(&notes);
        journal.observe(Arc::new(move |event| watching.take_note(event)));
        let mut counts = HashMap::new();
        for node in history.all().iter().filter(|node| node.id != root) {
            *counts.entry(node.role.clone()).or_default() += 1;
        }
        let (tree, mended) = history.tree(settings.limits, root, &model, budget);
        let mut slots = super::revive::slots(&tree, &history, settings.max_letters);
        slots.insert(root, AgentSlot::new(None, Policy::default(), Registry::default(), settings.max_letters));
        super::revive::repost(&mut slots, &history);
        let state = State {
            tree,
            mended,
            slots,
            counts,
            watching: false,
            stopping: Stops::default(),
            leaving: Vec::new(),
            ended_with_calls: Vec::new(),
            closed: false,
            renewed: 0,
        };
        let supervisor = Arc::new_cyclic(|me| Self {
            session,
            root,
            journal,
            log,
            settings,
            make,
            notes,
            me: me.clone(),
            state: Mutex::new(state),
            at_it: TaskTracker::new(),
            sharing: Mutex::default(),
            chosen: std::sync::Mutex::new(binding(chosen)),
        });
        tokio::spawn(super::watch::watch(Weak::clone(&supervisor.me), Arc::clone(&supervisor.notes)));
        supervisor
    }

    /// The person chose a model for the session: those that are started from now on ask it too.
    pub fn choose(&self, model: &str) {
        *self.chosen.lock().unwrap_or_else(PoisonError::into_inner) = binding(Some(model.to_owned()));
    }

    pub(super) fn chosen(&self) -> Option<String> {
        self.chosen.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The root agent runs, or another one in its place.
    pub async fn fill_root(&self, handle: AgentHandle, policy: Policy, tools: Registry) {
        let mut state = self.state.lock().await;
        state.renewed = 0;
        if let Some(slot) = state.slots.get_mut(&self.root) {
            (slot.policy, slot.tools) = (policy, tools);
            slot.line = Some(Line::new(handle, tokio::spawn(async {})));
            slot.quiet = true;
            // What the one before it had not heard is for this one.
            for letter in slot.in_flight.take_letters() {
                slot.mailbox.put(letter);
            }
        }
        self.deliver(&mut state, self.root).await;
    }

    /// The root is judged by these rules and has these tools from now on, and so has whoever it starts; those below it
    /// are judged by the same rules, narrowed by who they are. What has a lower number than what it has is older.
    pub async fn renew_root(&self, number: u64, policy: Policy, tools: Registry) {
        let mut state = self.state.lock().await;
        let State { tree, slots, renewed, .. } = &mut *state;
        if number <= std::mem::replace(renewed, number.max(*renewed)) {
            return;
        }
        if let Some(slot) = slots.get_mut(&self.root) {
            (slot.policy, slot.tools) = (policy, tools);
        }
        // Parents come before their children.
        for agent in tree.subtree(self.root) {
            let above = tree.node(agent).and_then(|node| slots.get(&node.parent?));
            let Some(above) = above.map(|above| above.policy.clone()) else { continue };
            if let Some(slot) = slots.get_mut(&agent)
                && let Some(spec) = &slot.spec
            {
                slot.policy = spec.definition.narrowing.policy(&above);
            }
        }
    }

    /// The permission rules that are kept for good are these now, for everybody below the root and for whoever comes.
    pub async fn renew_kept(&self, rules: &[Rule]) {
        for (agent, slot) in &mut self.state.lock().await.slots {
            slot.policy.renew_kept(rules.to_vec());
            if *agent != self.root {
                slot.send(AgentInput::KeptRules(rules.to_vec()));
            }
        }
    }

    /// The skills of an agent's present request.
    pub async fn skills_in_use(&self, agent: AgentId) -> InUse {
        let state = self.state.lock().await;
        let line = state.slots.get(&agent).and_then(|slot| slot.line.as_ref());
        line.map(|line| line.handle.skills_in_use().clone()).unwrap_or_default()
    }

    /// The root agent is about to be replaced or to end: nobody here keeps it.
    pub async fn empty_root(&self) {
        if let Some(slot) = self.state.lock().await.slots.get_mut(&self.root) {
            slot.line = None;
        }
    }

    /// All agents, the root first and parents before their children.
    pub async fn nodes(&self) -> Vec<AgentNode> {
        let state = self.state.lock().await;
        state.tree.subtree(self.root).into_iter().filter_map(|agent| state.tree.node(agent).cloned()).collect()
    }

    /// The ways to those below the root that run, with their names, parents before their children.
    pub async fn running(&self) -> Vec<(String, AgentHandle)> {
        let state = self.state.lock().await;
        let below = state.tree.subtree(self.root).into_iter().filter(|agent| *agent != self.root);
        let way = |agent: AgentId| {
            let line = state.slots.get(&agent)?.line.as_ref()?;
            Some((state.tree.node(agent)?.name.clone(), line.handle.clone()))
        };
        below.filter_map(way).collect()
    }

    /// What runs in the background of the agents, and what of that is over and remembered: the root's first.
    pub async fn in_background(&self) -> Vec<(AgentId, Arc<dyn InBackground>)> {
        let state = self.state.lock().await;
        let agents = state.tree.subtree(self.root).into_iter();
        let tools = agents.filter_map(|agent| Some((agent, &state.slots.get(&agent)?.tools)));
        let of = |(agent, tools): (AgentId, &Registry)| {
            tools.iter().flat_map(|tool| tool.in_background()).map(|one| (agent, one)).collect::<Vec<_>>()
        };
        tools.flat_map(of).collect()
    }

    /// How many are live besides the root.
    pub async fn live_count(&self) -> usize {
        self.state.lock().await.tree.live_count()
    }

    /// Whether anybody below the root works.
    pub async fn is_at_work(&self) -> bool {
        let state = self.state.lock().await;
        let works = |node: &AgentNode| matches!(node.state, NodeState::Created | NodeState::Running);
        state.tree.iter().any(|node| node.id != self.root && works(node))
    }

    /// Who below the root is paused, by name.
    pub async fn paused(&self) -> Vec<String> {
        let state = self.state.lock().await;
        let is_paused = |node: &&AgentNode| node.id != self.root && node.state == NodeState::Paused;
        state.tree.iter().filter(is_paused).map(|node| node.name.clone()).collect()
    }

    /// The children of an agent, oldest first.
    pub async fn children_of(&self, parent: AgentId) -> Vec<AgentNode> {
        let state = self.state.lock().await;
        state.tree.children(parent).into_iter().filter_map(|child| state.tree.node(child).cloned()).collect()
    }

    /// The child that its parent means: by name, or by id.
    pub async fn child_named(&self, parent: AgentId, name: &str) -> Result<AgentId, TreeError> {
        let wanted = name.trim();
        let children = self.children_of(parent).await;
        let is = |node: &&AgentNode| node.name.eq_ignore_ascii_case(wanted) || node.id.to_string() == wanted;
        children.iter().find(is).map(|node| node.id).ok_or_else(|| TreeError::UnknownName(wanted.to_owned()))
    }

    /// The way to whoever waits for a decision on a call, if that is no root.
    pub async fn asks_about(&self, call: &CallId) -> Option<AgentHandle> {
        self.handle_of(self.notes.asks_about(call)?).await
    }

    /// The way to whoever waits for the answer to a question, if that is no root.
    pub async fn asked(&self, question: QuestionId) -> Option<AgentHandle> {
        self.handle_of(self.notes.asked(question)?).await
    }

    async fn handle_of(&self, agent: AgentId) -> Option<AgentHandle> {
        let state = self.state.lock().await;
        let line = state.slots.get(&agent).filter(|_| agent != self.root)?.line.as_ref();
        line.map(|line| line.handle.clone())
    }

    /// Words of a refusal, with names for ids.
    pub async fn words(&self, error: &TreeError) -> String {
        let state = self.state.lock().await;
        error.words(&|agent| state.tree.node(agent).map_or_else(|| agent.to_string(), |node| node.name.clone()))
    }

    /// Whoever works when this is closed is not told to be paused: another process has them go on.
    pub async fn leave_running(&self) {
        self.state.lock().await.closed = true;
    }

    /// Ends everybody below the root, and keeps the root no longer; ready when nothing of them runs.
    pub async fn close(&self) {
        let leaving = {
            let mut state = self.state.lock().await;
            // Whoever works is paused: its history is kept, and its parent told when the session is opened again.
            // The root hears nothing of it now, so it does not begin.
            let root = state.slots.get_mut(&self.root).and_then(|slot| slot.line.take());
            if !state.closed && state.tree.live_count() > 0 {
                let _ = self.apply(&mut state, Op::Interrupt).await;
            }
            state.closed = true;
            self.notes.close();
            drop(root);
            let slots: Vec<AgentSlot> = state.slots.drain().map(|(_, slot)| slot).collect();
            let lines = slots.into_iter().filter_map(|slot| slot.line);
            let mut leaving = std::mem::take(&mut state.leaving);
            leaving.extend(lines.map(|line| line.task));
            leaving
        };
        self.join(leaving).await;
    }

    /// What comes of an agent's task; ready when it has ended. One that was stopped ends with an error.
    pub async fn ended(&self, agent: AgentId) -> NodeResult {
        let mut ended = {
            let state = self.state.lock().await;
            match state.tree.node(agent) {
                Some(node) if !node.state.is_live() => return node.result.clone().unwrap_or_else(stopped),
                Some(_) | None => match state.slots.get(&agent) {
                    Some(slot) => slot.ended.subscribe(),
                    None => return stopped(),
                },
            }
        };
        match ended.wait_for(Option::is_some).await {
            Ok(result) => result.clone().unwrap_or_else(stopped),
            Err(_) => stopped(),
        }
    }

    /// Ends an agent and everybody below it on behalf of `by`; nobody is told where whoever wants it knows. Ready when nothing of them runs any more; says whether
    /// that is so.
    pub async fn stop_as(&self, agent: AgentId, told: Told, by: Option<Actor>) -> Result<bool, TreeError> {
        self.to_the_end(move |supervisor| async move {
            let leaving = {
                let mut state = supervisor.lock().await;
                let with_call = match told {
                    Told::Nobody => supervisor.end_with_call(&state, agent),
                    Told::Parent | Told::ParentLater => Vec::new(),
                };
                supervisor.apply_as(&mut state, Op::Cancel(agent), told, by.as_ref()).await?;
                let now = Instant::now();
                state.ended_with_calls.extend(with_call.into_iter().map(|name| (now, name)));
                std::mem::take(&mut state.leaving)
            };
            Ok(supervisor.join(leaving).await)
        })
        .await
    }

    /// Ends all agents of a workflow, also those that an earlier process left; ready when nothing of them runs.
    pub async fn stop_workflow(&self, workflow: WorkflowId) -> Result<bool, TreeError> {
        self.to_the_end(move |supervisor| async move {
            let leaving = {
                let mut state = supervisor.lock().await;
                let is_its = |spec: &ChildSpec| spec.workflow == Some(workflow);
                let slots = state.slots.iter().filter(|(_, slot)| slot.spec.as_ref().is_some_and(is_its));
                let its: Vec<AgentId> = slots.map(|(agent, _)| *agent).collect();
                for agent in its {
                    // One may have ended with another.
                    let _ = supervisor.apply_as(&mut state, Op::Cancel(agent), Told::Nobody, None).await;
                }
                std::mem::take(&mut state.leaving)
            };
            Ok(supervisor.join(leaving).await)
        })
        .await
    }

    /// Does something to its end, also when whoever waits for it gives up: what is recorded is carried out.
    pub(super) async fn to_the_end<T, Does>(&self, does: impl FnOnce(Arc<Self>) -> Does) -> Result<T, TreeError>
    where
        T: Send + 'static,
        Does: Future<Output = Result<T, TreeError>> + Send + 'static,
    {
        let ended = || TreeError::Refused("the session has ended".to_owned());
        let supervisor = self.me.upgrade().ok_or_else(ended)?;
        self.at_it.spawn(does(supervisor)).await.unwrap_or_else(|_| Err(ended()))
    }

    /// Ready when everything that was begun is brought to its end: nothing is recorded after that.
    pub async fn settle(&self) {
        self.at_it.close();
        self.at_it.wait().await;
    }

    /// Waits until agents that were stopped have stopped what they ran; says whether they have. Whoever takes too long
    /// is waited for again by those who stop everybody.
    pub(super) async fn join(&self, mut leaving: Vec<JoinHandle<()>>) -> bool {
        let all = futures::future::join_all(leaving.iter_mut());
        let stopped = tokio::time::timeout(LEAVING, all).await.is_ok();
        if !stopped {
            tracing::warn!("an agent takes long to stop");
            leaving.retain(|task| !task.is_finished());
            self.lock().await.leaving.extend(leaving);
        }
        stopped
    }

    pub(super) async fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().await
    }
}

/// A group is chosen for the root alone: types have groups of their own.
fn binding(chosen: Option<String>) -> Option<String> {
    chosen.filter(|model| !GROUPS.contains(&model.as_str()))
}
