//! A subtree is tried again as a whole: everybody below an agent ends, and it begins its task anew.

use neco_proto::event::NodeState;
use neco_proto::{Actor, AgentId, EventBody};
use neco_safety::Policy;
use neco_toolkit::Registry;

use super::carry::Told;
use super::error::TreeError;
use super::op::Op;
use super::slot::AgentSlot;
use super::spec::ChildSpec;
use super::supervisor::{AgentSupervisor, State, join};
use crate::fold::{Fold, each_event};

impl AgentSupervisor {
    /// On behalf of `from`. What an agent does is stopped and recorded first, so that nothing of it comes after its new
    /// beginning.
    pub(super) async fn start_over(&self, from: Actor, agent: AgentId) -> Result<(), TreeError> {
        let sits = {
            let state = self.lock().await;
            may_start_over(&state, &from, agent)?;
            state.slots.contains_key(&agent)
        };
        // One that has ended left its slot, and what it was made from is in the log.
        let spec = if sits { None } else { self.spec_of(agent).await? };
        let leaving = {
            let mut state = self.lock().await;
            may_start_over(&state, &from, agent)?;
            if let Some(spec) = spec.filter(|_| !state.slots.contains_key(&agent)) {
                if spec.workflow.is_some() {
                    return Err(TreeError::Refused("it did a task of a workflow, which went on without it".to_owned()));
                }
                // Whoever waited for it in a call has heard that it ended.
                let spec = ChildSpec { told: true, ..spec };
                let (policy, tools) = (Policy::default(), Registry::default());
                let slot = AgentSlot::new(Some(spec), policy, tools, self.settings.max_letters);
                state.slots.insert(agent, slot);
            }
            for child in state.tree.live_children(agent) {
                // One that has ended with another needs no ending.
                let _ = self.apply_as(&mut state, Op::Cancel(child), Told::Nobody, Some(&from)).await;
            }
            let slot = state.slots.get_mut(&agent);
            let slot = slot.ok_or_else(|| TreeError::Refused("the log does not say who it is".to_owned()))?;
            slot.starting_over = true;
            let own = slot.line.take().map(|line| line.task);
            let mut leaving = std::mem::take(&mut state.leaving);
            leaving.extend(own);
            leaving
        };
        let stopped = join(leaving).await;
        let mut state = self.lock().await;
        let begun = match stopped {
            true => self.apply_as(&mut state, Op::Retry(agent), Told::Nobody, Some(&from)).await,
            false => Err(TreeError::Refused("what it runs takes long to stop; it has ended".to_owned())),
        };
        if let Err(error) = begun {
            self.leave_over(&mut state, agent).await;
            return Err(error);
        }
        self.tell_start_over(&mut state, &from, agent).await
    }

    /// An agent was stopped and can't begin anew: it has ended.
    async fn leave_over(&self, state: &mut State, agent: AgentId) {
        if let Some(slot) = state.slots.get_mut(&agent) {
            slot.starting_over = false;
        }
        match state.tree.node(agent).is_some_and(|node| node.state.is_live()) {
            // It may have ended meanwhile.
            true => drop(self.apply(state, Op::Cancel(agent)).await),
            false => drop(state.slots.remove(&agent)),
        }
    }

    /// The parent of an agent that somebody else started over may have heard that it failed.
    async fn tell_start_over(&self, state: &mut State, from: &Actor, agent: AgentId) -> Result<(), TreeError> {
        if from.agent().is_some() || state.slots.get(&agent).is_none_or(|slot| !slot.is_told()) {
            return Ok(());
        }
        let message = "the user started it over: it begins its task anew".to_owned();
        self.apply(state, Op::Report { from: agent, progress: 0.0, message }).await
    }

    /// An agent that is recorded to begin anew does; what follows when it can't.
    pub(super) fn begin_anew(&self, state: &mut State, agent: AgentId) -> Vec<Op> {
        self.notes.forget(agent);
        let (Some(node), Some(slot)) = (state.tree.node(agent).cloned(), state.slots.remove(&agent)) else {
            return Vec::new();
        };
        let slot = slot.anew(self.settings.max_letters);
        let built = match &slot.spec {
            Some(spec) => self.built(state, &node, spec, Fold::default()),
            None => Err(TreeError::Unknown(agent)),
        };
        match built {
            Ok(built) => {
                self.seat(state, &node, slot, built);
                if node.state == NodeState::Paused {
                    self.notes.paused(agent);
                }
                Vec::new()
            }
            Err(error) => {
                state.slots.insert(agent, slot);
                vec![Op::Fail { agent, code: None, message: format!("it can't begin anew: {error}") }]
            }
        }
    }

    /// What an agent was made from, as the log has it last.
    async fn spec_of(&self, agent: AgentId) -> Result<Option<ChildSpec>, TreeError> {
        let mut setup = None;
        each_event(self.log.as_ref(), self.session, 0, |event| {
            if let EventBody::AgentUpdate(update) = event.body
                && update.node.id == agent
                && update.setup.is_some()
            {
                setup = update.setup;
            }
        })
        .await?;
        Ok(setup.and_then(|setup| serde_json::from_value(setup).ok()))
    }
}

/// Whether an agent can be started over now, and by whom.
fn may_start_over(state: &State, from: &Actor, agent: AgentId) -> Result<(), TreeError> {
    if state.closed {
        return Err(TreeError::Refused("the session ends; no agent is started any more".to_owned()));
    }
    if state.stopping.any() {
        return Err(TreeError::Refused("the user stops everything just now; no agent is started".to_owned()));
    }
    let node = state.tree.node(agent).ok_or(TreeError::Unknown(agent))?;
    if from.agent().is_some_and(|id| node.parent != Some(id)) {
        return Err(TreeError::NotYourChild { to: agent });
    }
    if state.slots.get(&agent).is_some_and(|slot| slot.starting_over) {
        return Err(TreeError::Refused("it is being started over already".to_owned()));
    }
    // On a copy: nobody is stopped for what would be refused.
    state.tree.clone().apply(jiff::Timestamp::now(), Op::Retry(agent)).map(drop)
}
