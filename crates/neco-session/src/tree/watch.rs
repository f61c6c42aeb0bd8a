//! What agents do by themselves is taken in: what they used, said and ended with; and whoever falls silent is
//! told of, and whoever works for longer than its definition allows, or stays paused for too long, is ended.

use std::sync::{Arc, Weak};
use std::time::Duration;

use jiff::Timestamp;
use neco_agent::AgentInput;
use neco_proto::event::{AgentMessage, AgentNode, Letter, ModeChange, NodeState, Up};
use neco_proto::{Actor, AgentId, EventBody, MessageId, Mode};
use tokio::time::Instant;

use super::notes::{Note, Notes};
use super::op::Op;
use super::supervisor::{AgentSupervisor, State};

/// How soon is looked again at the earliest: while an agent waits for the person its time stands still.
const SOONEST: Duration = Duration::from_millis(100);

/// When the time of an agent began.
#[derive(Clone, Copy)]
struct Began {
    at: Instant,
    /// Which of its beginnings it was.
    round: u32,
    /// How long it had waited for others until then.
    waited: Duration,
    /// How long it may work.
    most: Duration,
}

impl Began {
    /// What is left to one that has waited for `waited` in all.
    fn left(self, now: Instant, waited: Duration) -> Duration {
        let worked = now.saturating_duration_since(self.at).saturating_sub(waited.saturating_sub(self.waited));
        self.most.saturating_sub(worked)
    }
}

/// Takes notes in until there are no more.
pub(super) async fn watch(supervisor: Weak<AgentSupervisor>, notes: Arc<Notes>) {
    while notes.is_next().await {
        let Some(supervisor) = supervisor.upgrade() else { return };
        let mut state = supervisor.lock().await;
        // Taken while nobody can change anything: what is noted of an agent is of the one that sits there.
        for (agent, note) in notes.take() {
            supervisor.noted(&mut state, agent, note).await;
        }
    }
}

impl AgentSupervisor {
    pub(super) async fn noted(&self, state: &mut State, agent: AgentId, note: Note) {
        if let Some(slot) = state.slots.get_mut(&agent) {
            note.settle(&mut slot.in_flight);
            slot.silent.send_if_modified(std::mem::take);
            if let Some(at_work) = note.at_work {
                slot.at_work = at_work;
                slot.quiet &= !at_work;
            }
            if note.error.is_some() {
                slot.error.clone_from(&note.error);
            }
        }
        if let Some(said) = note.said {
            state.tree.said(agent, said);
        }
        if let Some(usage) = note.usage {
            // Those above it first: when it ends because all is used up, they know that already.
            for slot in self.above(state, agent).into_iter().filter_map(|id| state.slots.get(&id)) {
                slot.send(AgentInput::OthersUsed(usage));
            }
            // A tree that does not know who used it has nobody to count it for.
            let _ = self.apply(state, Op::Use { agent, usage }).await;
        }
        if agent == self.root {
            note.modes.into_iter().for_each(|change| self.pass_on(state, &change));
        }
        if is_starting_over(state, agent) {
            return;
        }
        for complete in note.completes {
            self.work_ended(state, agent, &complete).await;
        }
        if let Some(how) = note.gone {
            self.task_ended(state, agent, how).await;
        }
        self.deliver(state, agent).await;
    }

    /// Everybody above an agent; of one that is gone, whoever stands for it and those above that one.
    fn above(&self, state: &State, agent: AgentId) -> Vec<AgentId> {
        let parent = |id: AgentId| match state.tree.node(id) {
            Some(node) => node.parent,
            None => state.tree.gone().get(&id).copied(),
        };
        std::iter::successors(parent(agent), |id| parent(*id)).collect()
    }

    /// A mode of the root binds everybody.
    fn pass_on(&self, state: &State, change: &ModeChange) {
        for (agent, slot) in state.slots.iter().filter(|(_, slot)| slot.spec.is_some()) {
            if let Some(mode) = change.mode {
                slot.send_as(change.by.clone(), AgentInput::SetMode(self.mode_under(state, *agent, mode)));
            }
            if let Some(approval) = change.approval {
                slot.send_as(change.by.clone(), AgentInput::SetApproval(approval));
            }
        }
    }

    pub(super) fn mode_of(&self, state: &State, agent: AgentId) -> Mode {
        self.mode_under(state, agent, self.journal.standing().mode)
    }

    /// The mode of an agent when the root works in `mode`: no freer than that of anybody above it.
    fn mode_under(&self, state: &State, agent: AgentId, mode: Mode) -> Mode {
        let mut line = self.above(state, agent);
        line.insert(0, agent);
        let specs = line.iter().rev().filter_map(|id| state.slots.get(id)?.spec.as_ref());
        specs.fold(mode, |mode, spec| spec.definition.narrowing.mode(mode))
    }

    /// Begins to look whether anybody is silent for too long, until nobody is left.
    pub(super) fn watch_silence(&self, state: &mut State) {
        let Some(most) = self.settings.max_silence.filter(|_| !state.watching) else { return };
        state.watching = true;
        let supervisor = Weak::clone(&self.me);
        tokio::spawn(async move {
            loop {
                tokio::time::sleep(most / 2).await;
                let Some(supervisor) = supervisor.upgrade() else { return };
                if !supervisor.check_silence(Instant::now()).await {
                    return;
                }
            }
        });
    }

    /// Tells the parents of whoever works and was not heard of for too long, once; says whether anybody is left.
    pub async fn check_silence(&self, now: Instant) -> bool {
        let mut state = self.lock().await;
        let Some(most) = self.settings.max_silence.filter(|_| !state.closed) else { return false };
        if state.tree.live_count() == 0 {
            state.watching = false;
            return false;
        }
        let silent = |agent: AgentId| {
            let since = self.notes.silent_since(agent)?;
            Some(now.saturating_duration_since(since)).filter(|silence| *silence >= most)
        };
        let works = |node: &&AgentNode| {
            let slot = state.slots.get(&node.id);
            let works = slot.is_some_and(|slot| slot.at_work && !*slot.silent.borrow() && !slot.asks());
            works && node.state == NodeState::Running && state.tree.live_children(node.id).is_empty()
        };
        let running = state.tree.iter().filter(works);
        let found: Vec<_> = running.filter_map(|node| Some((node.id, node.parent?, silent(node.id)?))).collect();
        for (agent, parent, silence) in found {
            let why = format!(
                "nothing was heard of it for {} s: it may hang. Look with agent_status, then wait, redirect or cancel it",
                silence.as_secs()
            );
            let letter = Letter::Up(Up::Stopped { why, quiet: false });
            let letter =
                AgentMessage { from: Actor::Agent { id: agent }, to: parent, letter, message_id: MessageId::new() };
            let told = state.slots.get(&agent).is_some_and(|slot| {
                slot.silent.send_replace(true);
                slot.is_told()
            });
            // Whoever waits for it in a call hears of it there.
            if !told {
                continue;
            }
            if self.journal.commit(parent, None, EventBody::AgentMessage(letter.clone())).await.is_err() {
                return false;
            }
            if let Some(slot) = state.slots.get_mut(&parent) {
                slot.mailbox.put(letter);
                slot.posted.notify_waiters();
            }
            self.deliver(&mut state, parent).await;
        }
        true
    }

    /// Ends an agent when it has worked for `most` from now on; waiting for the person and pauses are no work.
    pub(super) fn watch_time(&self, agent: AgentId, round: u32, most: Option<Duration>) {
        let Some(most) = most else { return };
        let supervisor = Weak::clone(&self.me);
        // What it waited before is not of this time.
        let began = Began { at: Instant::now(), round, waited: self.notes.waited(agent), most };
        tokio::spawn(async move {
            let mut left = most;
            loop {
                tokio::time::sleep(left).await;
                let Some(supervisor) = supervisor.upgrade() else { return };
                match supervisor.check_time(agent, began).await {
                    Some(more) => left = more.max(SOONEST),
                    None => return,
                }
            }
        });
    }

    /// How much time is left to an agent; nothing when it has ended, or was ended for it.
    async fn check_time(&self, agent: AgentId, began: Began) -> Option<Duration> {
        let mut state = self.lock().await;
        let node = state.tree.node(agent).filter(|node| node.state.is_live())?;
        if state.closed || state.slots.get(&agent).is_none_or(|slot| slot.round != began.round) {
            return None;
        }
        let left = began.left(Instant::now(), self.notes.waited(agent));
        // One that is being started over gets its time anew, or ends.
        if !left.is_zero() || is_starting_over(&state, agent) {
            return Some(left);
        }
        let (last, limit) = (last_words(node), began.most.as_secs_f64());
        let message = format!("it took longer than the {limit} s that its definition gives it; its last words: {last}");
        self.give_in(&mut state, agent, message).await;
        None
    }

    /// Ends an agent that is still in the pause that has just begun for it when that has lasted too long.
    pub(super) fn watch_pause(&self, state: &State, agent: AgentId) {
        let Some(most) = self.settings.max_pause else { return };
        let Some(since) = state.tree.node(agent).map(|node| node.changed) else { return };
        let supervisor = Weak::clone(&self.me);
        tokio::spawn(async move {
            tokio::time::sleep(most).await;
            while let Some(supervisor) = supervisor.upgrade() {
                if supervisor.check_pause(agent, since, most).await {
                    return;
                }
                drop(supervisor);
                tokio::time::sleep(SOONEST).await;
            }
        });
    }

    /// Ends an agent whose pause has lasted too long; says whether nothing is left to look at.
    async fn check_pause(&self, agent: AgentId, since: Timestamp, most: Duration) -> bool {
        let mut state = self.lock().await;
        // Whoever waits for one above it ends with that one.
        let waits = |node: &&AgentNode| node.state == NodeState::Paused && node.paused_by == Some(agent);
        let Some(node) = state.tree.node(agent).filter(waits).filter(|node| node.changed == since) else {
            return true;
        };
        if state.closed {
            return true;
        }
        // One that is being started over is paused no longer, or stays so.
        if is_starting_over(&state, agent) {
            return false;
        }
        let (last, limit) = (last_words(node), most.as_secs_f64());
        let message = format!(
            "it was paused for {limit} s, which is as long as a pause may last (agents.max_pause); its last words: {last}"
        );
        self.give_in(&mut state, agent, message).await;
        true
    }

    /// An agent has failed because its time is up.
    async fn give_in(&self, state: &mut State, agent: AgentId, message: String) {
        if let Err(error) = self.apply(state, Op::Fail { agent, code: None, message }).await {
            tracing::warn!(%error, "the end of an agent could not be recorded");
        }
    }
}

fn is_starting_over(state: &State, agent: AgentId) -> bool {
    state.slots.get(&agent).is_some_and(|slot| slot.starting_over)
}

fn last_words(node: &AgentNode) -> &str {
    node.last_message.as_deref().map(str::trim).filter(|words| !words.is_empty()).unwrap_or("(none)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_waited_since_then_is_no_work() {
        let minutes = |minutes: u64| Duration::from_secs(60 * minutes);
        let at = Instant::now();
        // It was paused for an hour before it was made again, and waited for the person for two minutes since.
        let began = Began { at, round: 0, waited: minutes(60), most: minutes(5) };
        assert_eq!(began.left(at + minutes(4), minutes(62)), minutes(3));
        assert_eq!(began.left(at + minutes(7), minutes(62)), Duration::ZERO);
    }
}
