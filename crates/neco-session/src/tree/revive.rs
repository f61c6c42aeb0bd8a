//! After a crash: whoever ran is paused with its history, its parent is told, and it can go on.

use std::collections::HashMap;
use std::time::Duration;

use neco_agent::AgentInput;
use neco_proto::event::{AgentMessage, NodeState};
use neco_proto::{AgentId, EventBody};
use neco_safety::Policy;
use neco_toolkit::Registry;

use super::agents::AgentTree;
use super::child_setup::task_message;
use super::error::TreeError;
use super::history::TreeHistory;
use super::letters;
use super::op::Op;
use super::slot::AgentSlot;
use super::spec::ChildSpec;
use super::supervisor::{AgentSupervisor, State};
use crate::fold::fold_agent;
use crate::resume::mend;

/// Seats for whoever is live in a tree that a log tells of; nobody sits there yet.
pub(super) fn slots(tree: &AgentTree, history: &TreeHistory, most_letters: usize) -> HashMap<AgentId, AgentSlot> {
    let live = tree.iter().filter(|node| node.id != tree.root() && node.state.is_live());
    let slot = |agent: AgentId| {
        let setup = history.setup(agent).cloned();
        // Whoever waited for it in a call waits no longer: its end is told.
        let spec = setup.and_then(|setup| serde_json::from_value::<ChildSpec>(setup).ok());
        // A workflow that goes on does its tasks anew, and ends those that an earlier process left.
        let spec = spec.map(|spec| ChildSpec { told: spec.workflow.is_none(), ..spec });
        AgentSlot::new(spec, Policy::default(), Registry::default(), most_letters)
    };
    live.map(|node| (node.id, slot(node.id))).collect()
}

/// What was said and not heard is said again.
pub(super) fn repost(slots: &mut HashMap<AgentId, AgentSlot>, history: &TreeHistory) {
    for letter in history.unheard() {
        if let Some(slot) = slots.get_mut(&letter.to) {
            slot.mailbox.put(AgentMessage::clone(letter));
        }
    }
}

impl AgentSupervisor {
    /// The session is open: whoever ran when it ended is paused now, and its parent is told.
    pub async fn open(&self) -> Result<(), TreeError> {
        self.to_the_end(|supervisor| async move { supervisor.open_whole().await }).await
    }

    async fn open_whole(&self) -> Result<(), TreeError> {
        let mut state = self.lock().await;
        let mended = std::mem::take(&mut state.mended).into_iter();
        let mended = mended.map(|update| (update.node.id, EventBody::AgentUpdate(update))).collect();
        self.journal.commit_all(mended).await?;
        if state.tree.live_count() == 0 {
            return Ok(());
        }
        let created: Vec<AgentId> =
            state.tree.iter().filter(|node| node.state == NodeState::Created).map(|node| node.id).collect();
        for agent in created {
            // One whose parent has ended can't begin, and is stopped with it.
            let _ = self.apply(&mut state, Op::Start(agent)).await;
        }
        let paused = state.tree.iter().filter(|node| node.state == NodeState::Paused);
        paused.for_each(|node| self.watch_pause(&state, node.id));
        self.apply(&mut state, Op::Interrupt).await
    }

    /// An agent that was paused goes on; after a crash it is made again from the log.
    pub(super) async fn go_on(&self, state: &mut State, agent: AgentId) {
        if state.slots.get(&agent).is_some_and(|slot| slot.starting_over) {
            return;
        }
        if state.slots.get(&agent).is_some_and(|slot| slot.line.is_some()) {
            // What waits is heard in the turn that it goes on with.
            self.deliver(state, agent).await;
            let Some(slot) = state.slots.get_mut(&agent) else { return };
            slot.held = false;
            slot.send(AgentInput::Release);
            // Its work may have ended while it was paused.
            if let Some(complete) = slot.ended_paused.take() {
                Box::pin(self.work_ended(state, agent, &complete)).await;
            }
            return;
        }
        if let Err(error) = self.revive(state, agent).await {
            let message = format!("it can't go on: {error}");
            let failed = Box::pin(self.apply(state, Op::Fail { agent, code: None, message }));
            let _ = failed.await;
        }
    }

    async fn revive(&self, state: &mut State, agent: AgentId) -> Result<(), TreeError> {
        let node = state.tree.node(agent).cloned().ok_or(TreeError::Unknown(agent))?;
        let spec = state.slots.get(&agent).and_then(|slot| slot.spec.clone());
        let spec = spec.ok_or_else(|| TreeError::Refused("the log does not say who it is".to_owned()))?;
        let fold = fold_agent(self.log.as_ref(), self.session, agent).await?;
        let (mended, told) = mend(&fold, false);
        for body in mended.into_iter().chain(told) {
            self.journal.emit(agent, fold.turn, body).await?;
        }
        // With what was mended, and all of it on the disk.
        self.log.commit(self.session).await?;
        let fold = fold_agent(self.log.as_ref(), self.session, agent).await?;
        let worked = Duration::from_millis(fold.standing.worked_ms);
        let task_is_known = !fold.messages.is_empty();
        let built = self.built(state, &node, &spec, fold)?;
        let line = self.begin(agent, built.agent, built.handle);
        let message = match task_is_known {
            true => letters::go_on(),
            false => task_message(&node, Some(&spec)),
        };
        if let Some(slot) = state.slots.get_mut(&agent) {
            (slot.policy, slot.tools) = (built.policy, built.tools);
            slot.in_flight.message(message.id);
            slot.at_work = true;
            line.send(AgentInput::Letter { message, wakes: true, replaces: None });
            slot.line = Some(line);
        }
        let round = state.slots.get(&agent).map_or(0, |slot| slot.round);
        self.watch_time(agent, round, spec.definition.timeout.map(|most| most.saturating_sub(worked)));
        self.watch_silence(state);
        self.deliver(state, agent).await;
        Ok(())
    }
}
