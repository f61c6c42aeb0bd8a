//! Carrying out what follows from an operation, once all of it is recorded: it belongs together, and a crash leaves all
//! or nothing.

use std::collections::{BTreeMap, VecDeque};

use jiff::Timestamp;
use neco_agent::{AgentInput, Budget, Halt};
use neco_proto::event::{AgentMessage, AgentNode, AgentUpdate, Letter, NodeState, Up};
use neco_proto::{Actor, AgentId, AgentParameters, CallId, ErrorCode, EventBody, Message, Part};
use neco_toolkit::{Bounded, DynTool};
use serde_json::Value;

use super::agents::AgentTree;
use super::error::TreeError;
use super::letters;
use super::op::{Change, Op};
use super::slot::{sender_words, stopped};
use super::spec::ChildSpec;
use super::supervisor::{AgentSupervisor, State};
use super::tools::OF_CHILDREN;

/// Who hears of an end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Told {
    /// The parent, as far as nobody else waits for it.
    Parent,
    /// The parent, which does not begin because of it if it is the root: the person knows, and says what comes next. An
    /// agent below the root is waited for, so it goes on.
    ParentLater,
    /// Nobody: whoever wants it knows.
    Nobody,
}

impl AgentSupervisor {
    /// Does something to the tree and everything that follows.
    pub(super) async fn apply(&self, state: &mut State, op: Op) -> Result<(), TreeError> {
        self.apply_as(state, op, Told::Parent, None).await
    }

    /// The same, with whoever is named told of it, on behalf of `by`.
    pub(super) async fn apply_as(
        &self,
        state: &mut State,
        op: Op,
        told: Told,
        by: Option<&Actor>,
    ) -> Result<(), TreeError> {
        let mut follows: VecDeque<Op> = self.apply_one(state, op, told, by).await?.into();
        while let Some(op) = follows.pop_front() {
            // Somebody who has ended meanwhile needs no ending.
            follows.extend(self.apply_one(state, op, Told::Parent, None).await.unwrap_or_default());
        }
        Ok(())
    }

    /// On a copy until it is recorded: what is refused has changed nothing. The operations that follow are given
    /// back.
    async fn apply_one(&self, state: &mut State, op: Op, told: Told, by: Option<&Actor>) -> Result<Vec<Op>, TreeError> {
        let (uses, soon) = (matches!(op, Op::Use { .. }), matches!(op, Op::Use { .. } | Op::Report { .. }));
        let (mut tree, at) = (state.tree.clone(), Timestamp::now());
        let mut changes = tree.apply(at, op)?;
        changes.retain(|change| (told != Told::Nobody || !is_end(change)) && is_heard(state, change));
        if told == Told::ParentLater {
            changes.iter_mut().for_each(|change| self.quieten(change));
        }
        let narrowed = narrowed(state, &changes);
        let mut recorded = match uses {
            true => used(&tree, &changes),
            false => events(&state.tree, &tree, &changes, &setups(state, &narrowed, &changes), at),
        };
        recorded.iter_mut().for_each(|(_, body)| {
            if let EventBody::AgentUpdate(update) = body {
                update.by = by.cloned();
            }
        });
        match soon {
            true => self.journal.emit_all(recorded).await?,
            false => self.journal.commit_all(recorded).await?,
        }
        state.tree = tree;
        narrow(state, narrowed);
        let mut follows = Vec::new();
        for change in changes {
            follows.extend(self.carry_out(state, change).await);
        }
        Ok(follows)
    }

    /// What the root is told of an end is no reason for it to begin.
    fn quieten(&self, change: &mut Change) {
        if let Change::Post(AgentMessage { to, letter: Letter::Up(Up::Stopped { quiet, .. }), .. }) = change {
            *quiet = *to == self.root;
        }
    }

    async fn carry_out(&self, state: &mut State, change: Change) -> Vec<Op> {
        match change {
            Change::State { agent, from, to } => {
                self.state_changed(state, agent, from, to).await;
                Vec::new()
            }
            Change::Parameters { agent, parameters } => {
                change_budget(state, agent, &parameters);
                Vec::new()
            }
            Change::Post(letter) => {
                let to = letter.to;
                if let Some(slot) = state.slots.get_mut(&to) {
                    // There was room when it was sent, and it is recorded.
                    slot.mailbox.put(letter);
                    slot.posted.notify_waiters();
                }
                self.deliver(state, to).await;
                Vec::new()
            }
            Change::Spent { agent, .. } => spent(state, agent),
            Change::Anew(agent) => self.begin_anew(state, agent),
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
                self.notes.paused(agent);
                self.watch_pause(state, agent);
                if let Some(slot) = state.slots.get_mut(&agent) {
                    slot.called_off = slot.starting_over;
                    slot.send(AgentInput::Hold(Halt::AfterTurn));
                }
            }
            // One that was to go on may have ended since, with whom it works for.
            (NodeState::Paused, NodeState::Running) if state.tree.node(agent).is_some_and(|node| node.state == to) => {
                self.notes.goes_on(agent);
                self.go_on(state, agent).await;
            }
            (_, NodeState::Created | NodeState::Running) => {}
            (_, NodeState::Completed | NodeState::Failed | NodeState::Cancelled) => self.leave(state, agent),
        }
        let parent = state.tree.node(agent).and_then(|node| node.parent);
        if let Some(above) = parent.and_then(|parent| state.slots.get(&parent)) {
            above.posted.notify_waiters();
        }
    }

    /// An agent that has ended leaves its slot; what it still runs is stopped.
    fn leave(&self, state: &mut State, agent: AgentId) {
        self.notes.forget(agent);
        let Some(mut slot) = state.slots.remove(&agent) else { return };
        state.leaving.retain(|task| !task.is_finished());
        state.leaving.extend(slot.line.take().map(|line| line.task));
        let result = state.tree.node(agent).and_then(|node| node.result.clone()).unwrap_or_else(stopped);
        slot.ended.send_replace(Some(result));
    }

    /// Gives an agent what waits for it, as far as it may have it now. Reports are no reason to begin, so
    /// they wait until it works.
    pub(super) async fn deliver(&self, state: &mut State, agent: AgentId) {
        let State { tree, slots, .. } = state;
        let running = tree.node(agent).is_some_and(|node| node.state == NodeState::Running);
        let Some(slot) = slots.get_mut(&agent).filter(|_| running) else { return };
        let Some(line) = &slot.line else { return };
        let is_report = |letter: &AgentMessage| matches!(letter.letter, Letter::Up(Up::Report { .. }));
        if !slot.at_work && slot.mailbox.iter().all(is_report) {
            return;
        }
        let name = |id: AgentId| tree.node(id).map_or_else(|| id.to_string(), |node| node.name.clone());
        for letter in slot.mailbox.take() {
            let message = self.fitting(letters::message(&letter, &sender_words(&letter.from, name))).await;
            // Only the newest report of a child matters, also of those that are under way.
            let older = match (&letter.letter, letter.from.agent()) {
                (Letter::Up(Up::Report { .. }), Some(id)) => slot.reports.insert(id, message.id),
                _ => None,
            };
            let replaces = older.filter(|older| slot.in_flight.remove(*older));
            line.send(AgentInput::Letter { message, wakes: letter.wakes() && !slot.quiet, replaces });
            slot.in_flight.letter(letter);
        }
    }
}

/// What those are made from whose tools are fewer from now on: an agent that is told so, and everybody below it.
fn narrowed(state: &State, changes: &[Change]) -> BTreeMap<AgentId, ChildSpec> {
    let told = changes.iter().find_map(|change| match change {
        Change::Parameters { agent, parameters } => Some((*agent, parameters.tools.as_ref()?)),
        _ => None,
    });
    let Some((agent, names)) = told else { return BTreeMap::new() };
    let narrower = |id: AgentId| {
        let slot = state.slots.get(&id)?;
        let mut spec = slot.spec.clone()?;
        // Whoever waits to be made again has those that its definition names.
        let has = |name: &&String| match slot.line {
            Some(_) => slot.tools.fresh().has(name),
            None => spec.definition.tools.has(name),
        };
        let kept: Vec<String> = names.iter().filter(has).cloned().collect();
        spec.definition.tools.only = Some(kept);
        Some((id, spec))
    };
    state.tree.subtree(agent).into_iter().filter_map(narrower).collect()
}

/// What is recorded of what agents are made from: of those that it is no longer, and of those that begin anew.
fn setups(state: &State, narrowed: &BTreeMap<AgentId, ChildSpec>, changes: &[Change]) -> BTreeMap<AgentId, Value> {
    let anew = changes.iter().filter_map(|change| match change {
        Change::Anew(agent) => Some((agent, state.slots.get(agent)?.spec.as_ref()?)),
        _ => None,
    });
    narrowed.iter().chain(anew).filter_map(|(agent, spec)| Some((*agent, serde_json::to_value(spec).ok()?))).collect()
}

/// Whoever runs has no other tools from its next turn on, and gives no others to those below it.
fn narrow(state: &mut State, narrowed: BTreeMap<AgentId, ChildSpec>) {
    for (agent, spec) in narrowed {
        let Some(slot) = state.slots.get_mut(&agent) else { continue };
        let choice = spec.definition.tools.clone();
        let kept = move |tool: &dyn DynTool| choice.has(tool.name()) || OF_CHILDREN.contains(&tool.name());
        slot.tools = slot.tools.fresh().filtered(kept);
        slot.send(AgentInput::KeepTools(slot.tools.iter().map(|tool| tool.name().to_owned()).collect()));
        slot.spec = Some(spec);
    }
}

fn change_budget(state: &State, agent: AgentId, parameters: &AgentParameters) {
    if let (Some(slot), Some(budget)) = (state.slots.get(&agent), parameters.budget) {
        slot.send(AgentInput::SetBudget(Budget { cost: budget.cost, tokens: budget.tokens, time: None }));
    }
}

fn is_end(change: &Change) -> bool {
    matches!(change, Change::Post(AgentMessage { letter: Letter::Up(Up::Ended { .. } | Up::Stopped { .. }), .. }))
}

/// Nobody is told of the end of an agent that somebody else waits for.
fn is_heard(state: &State, change: &Change) -> bool {
    let Change::Post(AgentMessage { from: Actor::Agent { id }, letter: Letter::Up(up), .. }) = change else {
        return true;
    };
    let told = state.slots.get(id).is_none_or(|slot| slot.is_told());
    match up {
        Up::Ended { .. } | Up::Stopped { .. } => told,
        Up::Report { .. } | Up::Question { .. } => true,
    }
}

/// Whoever is below an agent that has used up what they may use is stopped; it itself ends its turn.
fn spent(state: &State, agent: AgentId) -> Vec<Op> {
    let fail = |agent| Op::Fail {
        agent,
        code: Some(ErrorCode::BudgetUsedUp),
        message: "what it and those above it may use is used up".to_owned(),
    };
    state.tree.live_children(agent).into_iter().map(fail).collect()
}

/// The events of an operation that made `after` of `before`. Letters come first: whoever sees that somebody has
/// ended can know that its parent was told. `setups` are those that are no longer what the log says.
pub(super) fn events(
    before: &AgentTree,
    after: &AgentTree,
    changes: &[Change],
    setups: &BTreeMap<AgentId, Value>,
    at: Timestamp,
) -> Vec<(AgentId, EventBody)> {
    let letters = changes.iter().filter_map(|change| match change {
        Change::Post(letter) => Some((letter.to, EventBody::AgentMessage(letter.clone()))),
        _ => None,
    });
    let mut events: Vec<(AgentId, EventBody)> = letters.collect();
    let mut told: Vec<AgentId> = Vec::new();
    for agent in changes.iter().filter_map(whose).chain(setups.keys().copied()) {
        if agent == after.root() || told.contains(&agent) {
            continue;
        }
        told.push(agent);
        // One that went with whom it worked for is told of as it was, and that it ended.
        let went = || before.node(agent).map(|node| cancelled(node, at));
        let Some(node) = after.node(agent).cloned().or_else(went) else { continue };
        let (gone, setup) = (gone_with(agent, changes), setups.get(&agent).cloned());
        let anew = changes.contains(&Change::Anew(agent));
        let update = AgentUpdate { node, gone, setup, by: None, anew };
        events.push((agent, EventBody::AgentUpdate(update)));
    }
    events
}

/// What is recorded of what an agent used: only itself is told of, what those above it used adds up from that.
pub(super) fn used(after: &AgentTree, changes: &[Change]) -> Vec<(AgentId, EventBody)> {
    let Some(Change::Known(agent)) = changes.first() else { return Vec::new() };
    let node = after.node(*agent).filter(|node| node.id != after.root() && node.state.is_live());
    let update =
        node.map(|node| AgentUpdate { node: node.clone(), gone: Vec::new(), setup: None, by: None, anew: false });
    update.map(|update| (*agent, EventBody::AgentUpdate(update))).into_iter().collect()
}

fn whose(change: &Change) -> Option<AgentId> {
    match change {
        Change::State { agent, .. } | Change::Known(agent) | Change::Added(agent) | Change::Anew(agent) => Some(*agent),
        Change::Parameters { .. } | Change::Post(_) | Change::Spent { .. } | Change::Collapsed { .. } => None,
    }
}

fn gone_with(agent: AgentId, changes: &[Change]) -> Vec<AgentId> {
    let gone = changes.iter().find_map(|change| match change {
        Change::Collapsed { agent: stays, gone } if *stays == agent => Some(gone.clone()),
        _ => None,
    });
    gone.unwrap_or_default()
}

/// A node as it is when it was stopped.
fn cancelled(node: &AgentNode, at: Timestamp) -> AgentNode {
    AgentNode { state: NodeState::Cancelled, paused_by: None, changed: at, ..node.clone() }
}
