//! A subtree is tried again as a whole: everybody below an agent ends, and it begins its task anew.

use neco_proto::event::NodeState;
use neco_proto::{Actor, AgentId, EventBody};
use neco_safety::Policy;
use neco_toolkit::Registry;
use tokio::task::JoinHandle;

use super::carry::Told;
use super::error::TreeError;
use super::op::Op;
use super::slot::AgentSlot;
use super::spec::ChildSpec;
use super::supervisor::{AgentSupervisor, State};
use crate::fold::{Fold, each_event};

impl AgentSupervisor {
    /// On behalf of `from`. What an agent does is stopped and recorded first, so that nothing of it comes after its new
    /// beginning.
    pub(super) async fn start_over(&self, from: Actor, agent: AgentId) -> Result<(), TreeError> {
        let leaving = self.stop_to_start_over(&from, agent).await?;
        let stopped = self.join(leaving).await;
        self.begin_over(&from, agent, stopped).await
    }

    /// An agent and everybody below it is stopped; gives what is to be waited for before it begins anew.
    pub(super) async fn stop_to_start_over(
        &self,
        from: &Actor,
        agent: AgentId,
    ) -> Result<Vec<JoinHandle<()>>, TreeError> {
        let sits = {
            let state = self.lock().await;
            may_start_over(&state, from, agent)?;
            state.slots.contains_key(&agent)
        };
        // One that has ended left its slot, and what it was made from is in the log.
        let spec = if sits { None } else { self.spec_of(agent).await? };
        let mut state = self.lock().await;
        may_start_over(&state, from, agent)?;
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
        let slot = state.slots.get_mut(&agent);
        let slot = slot.ok_or_else(|| TreeError::Refused("the log does not say who it is".to_owned()))?;
        (slot.starting_over, slot.called_off) = (true, false);
        let own = slot.line.take().map(|line| line.task);
        // Others that still stop what they ran are nothing that it waits for.
        let others = std::mem::take(&mut state.leaving);
        for child in state.tree.live_children(agent) {
            // One that has ended with another needs no ending.
            let _ = self.apply_as(&mut state, Op::Cancel(child), Told::Nobody, Some(from)).await;
        }
        let mut leaving = std::mem::replace(&mut state.leaving, others);
        leaving.extend(own);
        Ok(leaving)
    }

    /// An agent that is stopped begins anew, unless something was done to it meanwhile. `stopped` says whether nothing
    /// of it runs any more.
    pub(super) async fn begin_over(&self, from: &Actor, agent: AgentId, stopped: bool) -> Result<(), TreeError> {
        let mut state = self.lock().await;
        let begun = match still_starts_over(&state, agent, stopped) {
            Ok(()) => self.apply_as(&mut state, Op::Retry(agent), Told::Nobody, Some(from)).await,
            Err(error) => Err(error),
        };
        if let Err(error) = begun {
            self.leave_over(&mut state, agent, stopped).await;
            return Err(error);
        }
        self.tell_start_over(&mut state, from, agent).await
    }

    /// An agent was stopped and does not begin anew: one that is paused waits to be made again, any other has ended.
    async fn leave_over(&self, state: &mut State, agent: AgentId, stopped: bool) {
        if state.closed || state.slots.get(&agent).is_none_or(|slot| !slot.starting_over) {
            return;
        }
        // How it was stopped is taken in before that could be an end of its task.
        for (whose, note) in self.notes.take() {
            self.noted(state, whose, note).await;
        }
        let now = state.tree.node(agent).map(|node| node.state);
        let Some(slot) = state.slots.get_mut(&agent) else { return };
        (slot.starting_over, slot.called_off) = (false, false);
        match now {
            Some(NodeState::Paused) if stopped => {
                for letter in slot.in_flight.take_letters() {
                    slot.mailbox.put(letter);
                }
            }
            // It may have ended meanwhile.
            Some(now) if now.is_live() => drop(self.apply(state, Op::Cancel(agent)).await),
            Some(_) | None => drop(state.slots.remove(&agent)),
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

/// Whether anybody can be started now.
fn may_start(state: &State) -> Result<(), TreeError> {
    if state.closed {
        return Err(TreeError::Refused("the session ends; no agent is started any more".to_owned()));
    }
    if state.stopping.any() {
        return Err(TreeError::Refused("the user stops everything just now; no agent is started".to_owned()));
    }
    Ok(())
}

/// Whether an agent that was stopped for it still begins anew: it may have been ended or paused meanwhile.
fn still_starts_over(state: &State, agent: AgentId, stopped: bool) -> Result<(), TreeError> {
    may_start(state)?;
    let refused = |words: &str| Err(TreeError::Refused(words.to_owned()));
    match state.slots.get(&agent).filter(|slot| slot.starting_over) {
        None => refused("it ended, or was started over by somebody else, meanwhile"),
        Some(_) if !stopped => refused("what it runs takes long to stop; it has ended"),
        Some(slot) if slot.called_off => refused("it was paused meanwhile"),
        Some(_) => Ok(()),
    }
}

/// Whether an agent can be started over now, and by whom.
fn may_start_over(state: &State, from: &Actor, agent: AgentId) -> Result<(), TreeError> {
    may_start(state)?;
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
