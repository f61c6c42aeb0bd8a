//! What follows from an operation: recorded first, then carried out.

use std::collections::{HashMap, VecDeque};

use jiff::Timestamp;
use neco_agent::{AgentInput, Budget};
use neco_proto::event::{AgentMessage, AgentNode, AgentUpdate, Letter, NodeResult, NodeState, Sender, Up};
use neco_proto::{AgentId, AgentParameters, CallId, ErrorCode, EventBody, Message, Part};
use neco_store::StoreError;
use neco_toolkit::Bounded;

use super::change::Change;
use super::company::{Company, State};
use super::error::TreeError;
use super::op::Op;
use super::seat::sender_words;
use super::words;

impl Company {
    /// Does something to the tree and everything that follows. Without `told` the parent of whoever ends
    /// hears nothing of it: it knows.
    pub(super) async fn apply(&self, state: &mut State, op: Op, told: bool) -> Result<(), TreeError> {
        let mut follows: VecDeque<Op> = self.apply_one(state, op, told).await?.into();
        while let Some(op) = follows.pop_front() {
            // Somebody who has ended meanwhile needs no ending.
            follows.extend(self.apply_one(state, op, true).await.unwrap_or_default());
        }
        Ok(())
    }

    /// The operations that follow are given back.
    async fn apply_one(&self, state: &mut State, op: Op, told: bool) -> Result<Vec<Op>, TreeError> {
        let used = matches!(op, Op::Use { .. });
        let before: HashMap<AgentId, AgentNode> = match &op {
            Op::Cancel(agent) | Op::Fail { agent, .. } => copies(state, *agent),
            _ => HashMap::new(),
        };
        let at = Timestamp::now();
        let changes = state.tree.apply(at, op)?;
        let changes: Vec<Change> = changes.into_iter().filter(|change| told || !is_end(change)).collect();
        let changes: Vec<Change> = changes.into_iter().filter(|change| is_heard(state, change)).collect();
        let recorded = match used {
            true => self.record_use(state, &changes).await,
            false => self.record(state, &before, &changes, at).await,
        };
        recorded.map_err(|error| TreeError::Refused(error.to_string()))?;
        let mut follows = Vec::new();
        for change in changes {
            follows.extend(self.carry_out(state, change).await);
        }
        Ok(follows)
    }

    /// Letters first: whoever sees that somebody has ended can know that its parent was told.
    async fn record(
        &self,
        state: &State,
        before: &HashMap<AgentId, AgentNode>,
        changes: &[Change],
        at: Timestamp,
    ) -> Result<(), StoreError> {
        for change in changes {
            if let Change::Post(letter) = change {
                self.journal.commit(letter.to, None, EventBody::AgentMessage(letter.clone())).await?;
            }
        }
        let mut told: Vec<AgentId> = Vec::new();
        for change in changes {
            let (agent, ended) = match change {
                Change::State { agent, to, .. } => (*agent, !to.is_live()),
                Change::Known(agent) | Change::Added(agent) => (*agent, false),
                Change::Parameters { .. } | Change::Post(_) | Change::Spent { .. } | Change::Collapsed { .. } => {
                    continue;
                }
            };
            if agent == self.root || told.contains(&agent) {
                continue;
            }
            told.push(agent);
            let gone = changes.iter().find_map(|change| match change {
                Change::Collapsed { agent: stays, gone } if *stays == agent => Some(gone.clone()),
                _ => None,
            });
            let went = || {
                before.get(&agent).map(|node| AgentNode {
                    state: NodeState::Cancelled,
                    paused_by: None,
                    changed: at,
                    ..node.clone()
                })
            };
            let Some(node) = state.tree.node(agent).cloned().or_else(went) else { continue };
            let update = EventBody::AgentUpdate(AgentUpdate { node, gone: gone.unwrap_or_default(), setup: None });
            match ended {
                true => self.journal.commit(agent, None, update).await?,
                false => self.journal.emit(agent, None, update).await?,
            }
        }
        Ok(())
    }

    /// Of what is used only the agent itself is told: what those above it used adds up from that.
    async fn record_use(&self, state: &State, changes: &[Change]) -> Result<(), StoreError> {
        let Some(Change::Known(agent)) = changes.first() else { return Ok(()) };
        match state.tree.node(*agent).filter(|node| node.id != self.root && node.state.is_live()) {
            Some(node) => {
                let update = AgentUpdate { node: node.clone(), gone: Vec::new(), setup: None };
                self.journal.emit(*agent, None, EventBody::AgentUpdate(update)).await
            }
            None => Ok(()),
        }
    }

    async fn carry_out(&self, state: &mut State, change: Change) -> Vec<Op> {
        match change {
            Change::State { agent, from, to } => {
                self.state_changed(state, agent, from, to).await;
                Vec::new()
            }
            Change::Parameters { agent, parameters } => {
                self.change_parameters(state, agent, parameters);
                Vec::new()
            }
            Change::Post(letter) => {
                let to = letter.to;
                if let Some(seat) = state.seats.get_mut(&to) {
                    let _ = seat.mailbox.post(letter);
                    seat.posted.notify_waiters();
                }
                self.deliver(state, to).await;
                Vec::new()
            }
            Change::Spent { agent, .. } => spent(state, agent),
            Change::Added(_) | Change::Known(_) | Change::Collapsed { .. } => Vec::new(),
        }
    }

    /// A message as it enters a conversation: all of a long one is in a file, as with what a call gives.
    async fn fitting(&self, message: Message) -> Message {
        let Some((spill, most)) = self.make.room() else { return message };
        let text = message.text();
        if text.len() <= most {
            return message;
        }
        let mut bounded = Bounded::new(CallId::from(format!("letter-{}", message.id)), spill, most);
        bounded.push(text.as_bytes()).await;
        let bounded = bounded.finish().await.text;
        Message { parts: vec![Part::Text { text: bounded }], ..message }
    }

    async fn state_changed(&self, state: &mut State, agent: AgentId, from: NodeState, to: NodeState) {
        match (from, to) {
            (_, NodeState::Paused) => {
                self.notes.pause(agent, true);
                state.seats.get(&agent).into_iter().for_each(|seat| seat.send(AgentInput::Hold));
            }
            (NodeState::Paused, NodeState::Running) => {
                self.notes.pause(agent, false);
                self.go_on(state, agent).await;
            }
            (_, NodeState::Created | NodeState::Running) => {}
            (_, NodeState::Completed | NodeState::Failed | NodeState::Cancelled) => self.leave(state, agent),
        }
        let parent = state.tree.node(agent).and_then(|node| node.parent);
        if let Some(above) = parent.and_then(|parent| state.seats.get(&parent)) {
            above.posted.notify_waiters();
        }
    }

    /// An agent that has ended leaves its seat; what it still runs is stopped.
    fn leave(&self, state: &mut State, agent: AgentId) {
        self.notes.forget(agent);
        let Some(mut seat) = state.seats.remove(&agent) else { return };
        state.leaving.retain(|task| !task.is_finished());
        state.leaving.extend(seat.line.take().map(|line| line.task));
        let stopped = || NodeResult::Error { code: None, message: "it was stopped".to_owned() };
        let result = state.tree.node(agent).and_then(|node| node.result.clone()).unwrap_or_else(stopped);
        seat.ended.send_replace(Some(result));
    }

    fn change_parameters(&self, state: &State, agent: AgentId, parameters: AgentParameters) {
        let Some(seat) = state.seats.get(&agent) else { return };
        let AgentParameters { model_group, budget, tools } = parameters;
        if let Some(tools) = tools {
            seat.send(AgentInput::KeepTools(tools));
        }
        if let Some(budget) = budget {
            seat.send(AgentInput::SetBudget(Budget { cost: budget.cost, tokens: budget.tokens, time: None }));
        }
        if let Some(provider) = model_group.and_then(|group| self.make.model(&group).ok()) {
            seat.send(AgentInput::SetModel(provider));
        }
    }

    /// Gives an agent what waits for it, as far as it may have it now. Reports are no reason to begin, so
    /// they wait until it works.
    pub(super) async fn deliver(&self, state: &mut State, agent: AgentId) {
        let names: HashMap<AgentId, String> = match state.seats.get(&agent) {
            Some(seat) if !seat.mailbox.is_empty() => {
                state.tree.iter().map(|node| (node.id, node.name.clone())).collect()
            }
            Some(_) | None => return,
        };
        let running = state.tree.node(agent).is_some_and(|node| node.state == NodeState::Running);
        let Some(seat) = state.seats.get_mut(&agent).filter(|_| running) else { return };
        let Some(line) = &seat.line else { return };
        if !seat.at_work && !seat.mailbox.iter().any(wakes) {
            return;
        }
        for letter in seat.mailbox.take() {
            let from = sender_words(letter.from, |id| names.get(&id).cloned().unwrap_or_else(|| id.to_string()));
            let message = self.fitting(words::message(&letter, &from)).await;
            // Only the newest report of a child matters, also of those that are under way.
            let older = match (&letter.letter, letter.from) {
                (Letter::Up(Up::Report { .. }), Sender::Agent { id }) => seat.reports.insert(id, message.id),
                _ => None,
            };
            let replaces = older.filter(|older| seat.in_flight.remove(older));
            seat.in_flight.insert(message.id);
            line.send(AgentInput::Letter { message, wakes: wakes(&letter) && !seat.quiet, replaces });
        }
    }
}

/// Whether a letter is a reason to begin.
pub(super) fn wakes(letter: &AgentMessage) -> bool {
    match letter.letter {
        Letter::Up(Up::Report { .. }) => false,
        Letter::Up(Up::Question { .. } | Up::Ended { .. } | Up::Stopped { .. }) | Letter::Down(_) => true,
    }
}

fn is_end(change: &Change) -> bool {
    matches!(change, Change::Post(AgentMessage { letter: Letter::Up(Up::Ended { .. } | Up::Stopped { .. }), .. }))
}

/// Nobody is told of the end of an agent that somebody else waits for.
fn is_heard(state: &State, change: &Change) -> bool {
    let Change::Post(AgentMessage { from: Sender::Agent { id }, letter: Letter::Up(up), .. }) = change else {
        return true;
    };
    let told = state.seats.get(id).is_none_or(|seat| seat.is_told());
    match up {
        Up::Ended { .. } | Up::Stopped { .. } => told,
        Up::Report { .. } | Up::Question { .. } => true,
    }
}

/// Whoever is below an agent that has used up what they may use is stopped; it itself ends its turn.
fn spent(state: &State, agent: AgentId) -> Vec<Op> {
    let children = state.tree.node(agent).map(|node| node.children.clone()).unwrap_or_default();
    let live = children.into_iter().filter(|child| state.tree.node(*child).is_some_and(|node| node.state.is_live()));
    let fail = |agent| Op::Fail {
        agent,
        code: Some(ErrorCode::BudgetUsedUp),
        message: "what it and those above it may use is used up".to_owned(),
    };
    live.map(fail).collect()
}

fn copies(state: &State, agent: AgentId) -> HashMap<AgentId, AgentNode> {
    let subtree = state.tree.subtree(agent).into_iter();
    subtree.filter_map(|id| Some((id, state.tree.node(id)?.clone()))).collect()
}
