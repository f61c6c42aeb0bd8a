//! How an agent comes into the tree: recorded first, then it begins.

use std::sync::{Arc, Weak};

use jiff::Timestamp;
use neco_agent::{Agent, AgentHandle, AgentInput, Halt};
use neco_proto::event::{AgentNode, AgentUpdate, NodeState, SubtreeBudget};
use neco_proto::{AgentId, EventBody, Message, Mode};
use neco_safety::{Policy, untrusted};
use neco_toolkit::Registry;
use tokio::sync::oneshot;

use super::error::TreeError;
use super::notes::Gone;
use super::op::{NewNode, Op};
use super::slot::{AgentSlot, Line};
use super::spec::{ChildSpec, SpawnRequest};
use super::supervisor::{AgentSupervisor, BuiltAgent, ChildSetup, State};
use crate::fold::Fold;
use crate::roles::Narrowing;

/// An agent that somebody waits for: it is stopped when they give up, unless it is paused.
pub(super) struct CancelOnDrop {
    supervisor: Weak<AgentSupervisor>,
    agent: Option<AgentId>,
}

impl CancelOnDrop {
    /// Of an agent that is wanted as long as this is there.
    pub fn of(supervisor: &Weak<AgentSupervisor>, agent: AgentId) -> Self {
        Self { supervisor: Weak::clone(supervisor), agent: Some(agent) }
    }

    /// It goes on, or has ended, without whoever waited for it.
    pub fn let_go(mut self) -> Option<AgentId> {
        self.agent.take()
    }
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let (Some(agent), Some(supervisor)) = (self.agent, self.supervisor.upgrade()) else { return };
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            let at_it = supervisor.at_it.clone();
            // One that has ended has nothing to stop.
            at_it.spawn_on(async move { supervisor.give_up(agent).await }, &runtime);
        }
    }
}

impl AgentSupervisor {
    /// Makes a child of `parent` and lets it begin; ready when that is recorded. It is made to its end, also when
    /// whoever wants it gives up meanwhile. Then it is stopped: nobody would know of it.
    pub async fn spawn(&self, parent: AgentId, request: SpawnRequest) -> Result<AgentId, TreeError> {
        let ended = || TreeError::Refused("the session has ended".to_owned());
        let supervisor = self.me.upgrade().ok_or_else(ended)?;
        let (reply, made) = oneshot::channel();
        self.at_it.spawn(async move {
            let child = supervisor.spawn_child(parent, request, || reply.is_closed()).await;
            // Whoever is not there to take it drops it.
            let _ = reply.send(child.map(|child| CancelOnDrop::of(&supervisor.me, child)));
        });
        made.await.map_err(|_| ended())??.let_go().ok_or_else(ended)
    }

    async fn spawn_child(
        &self,
        parent: AgentId,
        request: SpawnRequest,
        given_up: impl Fn() -> bool,
    ) -> Result<AgentId, TreeError> {
        let mut state = self.lock().await;
        if given_up() {
            return Err(TreeError::Refused("nobody wants it any more".to_owned()));
        }
        if state.closed {
            return Err(TreeError::Refused("the session ends; no agent is started any more".to_owned()));
        }
        if state.stopping.any() {
            return Err(TreeError::Refused("the user stops everything just now; no agent is started".to_owned()));
        }
        let SpawnRequest { spec, task, model_group, budget } = request;
        let definition = &spec.definition;
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
            model_group: model_group
                .unwrap_or_else(|| definition.model_name(&above.model_group, self.chosen().as_deref()).to_owned()),
            budget: narrower(definition.budget, budget),
        };
        // On a copy: what can't be made is not in the tree.
        let (mut tree, at) = (state.tree.clone(), Timestamp::now());
        tree.apply(at, Op::Spawn { parent, node })?;
        tree.apply(at, Op::Start(id))?;
        let node = tree.node(id).cloned().ok_or(TreeError::Unknown(id))?;
        let built = self.built(&state, &node, &spec, Fold::default())?;
        let setup = serde_json::to_value(&spec).ok();
        let update =
            EventBody::AgentUpdate(AgentUpdate { node: node.clone(), gone: Vec::new(), setup, by: None, anew: false });
        self.journal.commit(id, None, update).await?;
        state.tree = tree;
        state.counts.insert(role, number);
        let slot = AgentSlot::new(Some(spec), Policy::default(), Registry::default(), self.settings.max_letters);
        self.seat(&mut state, &node, slot, built);
        Ok(id)
    }

    /// An agent that is recorded sits down in its slot and begins with its task.
    pub(super) fn seat(&self, state: &mut State, node: &AgentNode, mut slot: AgentSlot, built: BuiltAgent) {
        (slot.policy, slot.tools) = (built.policy, built.tools);
        let line = self.begin(node.id, built.agent, built.handle);
        if node.state == NodeState::Paused {
            line.send(AgentInput::Hold(Halt::AtOnce));
        }
        let message = task_message(node, slot.spec.as_ref());
        slot.in_flight.message(message.id);
        line.send(AgentInput::Letter { message, wakes: true, replaces: None });
        slot.line = Some(line);
        slot.at_work = true;
        let (timeout, round) = (slot.spec.as_ref().and_then(|spec| spec.definition.timeout), slot.round);
        state.slots.insert(node.id, slot);
        self.watch_time(node.id, round, timeout);
        self.watch_silence(state);
    }

    pub(super) fn built(
        &self,
        state: &State,
        node: &AgentNode,
        spec: &ChildSpec,
        fold: Fold,
    ) -> Result<BuiltAgent, TreeError> {
        let above = node.parent.and_then(|parent| state.slots.get(&parent));
        let above = above.ok_or_else(|| TreeError::Refused("its parent does not run".to_owned()))?;
        let (policy, tools, max_turns) = (&above.policy, &above.tools, self.settings.max_turns);
        let mode = node.parent.map_or_else(Mode::default, |parent| self.mode_of(state, parent));
        let mut above: Vec<Narrowing> = std::iter::successors(node.parent, |id| state.tree.node(*id)?.parent)
            .filter_map(|id| Some(state.slots.get(&id)?.spec.as_ref()?.definition.narrowing.clone()))
            .collect();
        above.reverse();
        let child_setup = ChildSetup { node, spec, policy, above, tools, mode, max_turns, fold };
        self.make.make(&self.me, child_setup)
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
}

/// The task as an agent is told. What another agent says may quote what a file or a page said; a workflow has
/// marked that itself.
pub(super) fn task_message(node: &AgentNode, spec: Option<&ChildSpec>) -> Message {
    match spec.is_some_and(|spec| spec.workflow.is_some()) {
        true => Message::user(node.task.clone()),
        false => Message::user(untrusted::neutral(&node.task).into_owned()),
    }
}

/// The smaller of two budgets, part by part.
fn narrower(one: SubtreeBudget, other: Option<SubtreeBudget>) -> SubtreeBudget {
    let Some(other) = other else { return one };
    let tokens = [one.tokens, other.tokens].into_iter().flatten().min();
    let cost = [one.cost, other.cost].into_iter().flatten().reduce(f64::min);
    SubtreeBudget { tokens, cost }
}
