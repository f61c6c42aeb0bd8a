//! How the work of an agent ends, and what that means for its task.

use neco_agent::AgentInput;
use neco_proto::event::{AgentComplete, AgentMessage, AgentNode, CompleteReason, NodeState};
use neco_proto::{AgentId, ErrorCode, Message};
use serde_json::Value;

use super::carry::Told;
use super::error::TreeError;
use super::letters;
use super::notes::Gone;
use super::op::Op;
use super::slot::{AgentSlot, Answered, STOPPED};
use super::supervisor::{AgentSupervisor, State};

/// How often an output may not fit.
const MOST_MISFITS: u32 = 3;

impl AgentSupervisor {
    /// An agent's loop came to its end.
    pub(super) async fn work_ended(&self, state: &mut State, agent: AgentId, complete: &AgentComplete) {
        match state.tree.node(agent).map(|node| node.state) {
            Some(NodeState::Running) => self.leave_unanswered(state, agent),
            // What follows waits until it goes on.
            Some(NodeState::Paused) => {
                if let Some(slot) = state.slots.get_mut(&agent) {
                    slot.ended_paused = Some(complete.clone());
                }
                return;
            }
            Some(NodeState::Created | NodeState::Completed | NodeState::Failed | NodeState::Cancelled) | None => return,
        }
        if agent == self.root {
            return;
        }
        let failed = |code: Option<ErrorCode>, message: String| Op::Fail { agent, code, message };
        let op = match complete.reason {
            CompleteReason::Natural => match self.natural_end(state, agent, complete).await {
                Some(op) => op,
                None => return,
            },
            CompleteReason::IterationLimit => {
                let words =
                    format!("it reached its limit of {} turns; its last words: {}", complete.turns, last(complete));
                failed(Some(ErrorCode::IterationLimit), words)
            }
            CompleteReason::Budget => {
                let words = format!("what it may use is used up; its last words: {}", last(complete));
                failed(Some(ErrorCode::BudgetUsedUp), words)
            }
            CompleteReason::LoopDetected => failed(Some(ErrorCode::LoopDetected), "it repeated itself".to_owned()),
            CompleteReason::Failed => {
                let error = state.slots.get(&agent).and_then(|slot| slot.error.clone());
                failed(complete.error_code, error.unwrap_or_else(|| "its model could not be reached".to_owned()))
            }
            CompleteReason::Stopped => failed(None, "a hook ended its work".to_owned()),
            CompleteReason::Cancelled => failed(None, STOPPED.to_owned()),
        };
        if let Err(error) = self.apply(state, op).await {
            tracing::warn!(%error, "the end of an agent could not be recorded");
        }
    }

    /// What follows when an agent has nothing more to do; nothing while something is left that it waits for.
    async fn natural_end(&self, state: &mut State, agent: AgentId, complete: &AgentComplete) -> Option<Op> {
        let slot = state.slots.get(&agent)?;
        // It may have been told something meanwhile, and be at it already.
        if slot.at_work || !slot.in_flight.is_empty() || slot.mailbox.iter().any(AgentMessage::wakes) {
            return None;
        }
        self.wait_for_those_below(state, agent).await?;
        let slot = state.slots.get_mut(&agent)?;
        let wanted = slot.spec.as_ref().is_some_and(|spec| spec.definition.output_schema.is_some());
        match slot.output.take() {
            Some(output) => Some(Op::Complete { agent, output }),
            None if !wanted => Some(Op::Complete { agent, output: Value::from(complete.final_text.clone()) }),
            None if slot.reminded => Some(Op::Fail {
                agent,
                code: None,
                message: format!("it ended without complete_task; its last words: {}", last(complete)),
            }),
            None => {
                slot.reminded = true;
                say(slot, letters::reminder());
                None
            }
        }
    }

    /// Ready with something when nobody below an agent is left that it has to wait for. Those that only wait for
    /// being resumed are told of once; who then ends all the same does without them.
    async fn wait_for_those_below(&self, state: &mut State, agent: AgentId) -> Option<()> {
        let live = state.tree.live_children(agent);
        let live: Vec<&AgentNode> = live.iter().filter_map(|child| state.tree.node(*child)).collect();
        let waits_for_agent = |node: &&AgentNode| {
            let held = state.slots.get(&node.id).is_some_and(|slot| slot.held);
            node.state == NodeState::Paused && node.paused_by == Some(node.id) && !held
        };
        if live.is_empty() {
            return Some(());
        }
        if !live.iter().all(waits_for_agent) {
            return None;
        }
        let (left, names): (Vec<AgentId>, Vec<String>) = live.iter().map(|node| (node.id, node.name.clone())).unzip();
        let slot = state.slots.get_mut(&agent)?;
        if !std::mem::replace(&mut slot.told_of_paused, true) {
            say(slot, letters::left_paused(&names));
            return None;
        }
        for child in left {
            // One that has ended meanwhile needs no ending.
            let _ = self.apply_as(state, Op::Cancel(child), Told::Nobody, None).await;
        }
        Some(())
    }

    /// An agent's task is over although nobody ended it.
    pub(super) async fn task_ended(&self, state: &mut State, agent: AgentId, how: Gone) {
        let live = state.tree.node(agent).is_some_and(|node| node.state.is_live());
        let sits = state.slots.get(&agent).is_some_and(|slot| slot.line.is_some());
        if !live || !sits || agent == self.root || state.closed {
            return;
        }
        let message = match how {
            Gone::Crashed => "it crashed; this is a bug in Neco",
            Gone::Lost => "its events could not be recorded",
            Gone::Ended => "it ended by itself",
        };
        // Its parent is told, whoever else waits for it.
        let _ = self.apply(state, Op::Fail { agent, code: None, message: message.to_owned() }).await;
    }

    /// Children that wait for an answer of one that has ended its work decide themselves.
    fn leave_unanswered(&self, state: &mut State, agent: AgentId) {
        let unread = |slot: &AgentSlot| slot.mailbox.iter().any(AgentMessage::wakes) || slot.in_flight.wakes();
        if state.slots.get(&agent).is_some_and(unread) {
            return;
        }
        for child in state.tree.children(agent) {
            if let Some(slot) = state.slots.get_mut(&child) {
                slot.answer(Answered::Nobody);
            }
        }
    }

    /// An agent finishes with an output that fits; its present turn is its last one.
    /// Fails when agents of its own are still at work.
    pub(super) async fn finish(&self, agent: AgentId, output: Value) -> Result<(), TreeError> {
        self.to_the_end(move |supervisor| async move {
            let handle = {
                let mut state = supervisor.lock().await;
                let at_work = state.tree.live_children(agent);
                if !at_work.is_empty() {
                    return Err(TreeError::ChildrenAtWork(at_work));
                }
                let slot = state.slots.get_mut(&agent).ok_or(TreeError::Unknown(agent))?;
                slot.output = Some(output);
                slot.line.as_ref().map(|line| line.handle.clone())
            };
            if let Some(handle) = handle {
                // Heard before the call ends, so that no other turn begins.
                let _ = handle.send(AgentInput::Finish).await;
            }
            Ok(())
        })
        .await
    }

    /// An output did not fit; says how many tries are left. With none left the agent has failed.
    pub(super) async fn misfit(&self, agent: AgentId, problem: &str) -> u32 {
        let problem = problem.to_owned();
        let counted = self.to_the_end(move |supervisor| async move {
            let mut state = supervisor.lock().await;
            let Some(slot) = state.slots.get_mut(&agent) else { return Ok(0) };
            slot.misfits += 1;
            let left = MOST_MISFITS.saturating_sub(slot.misfits);
            if left == 0 {
                let code = Some(ErrorCode::InvalidArguments);
                let message = format!("its output did not fit, {MOST_MISFITS} times; the last time: {problem}");
                supervisor.apply(&mut state, Op::Fail { agent, code, message }).await?;
            }
            Ok(left)
        });
        counted.await.unwrap_or_default()
    }
}

/// Neco itself says something to an agent, which begins with it.
fn say(slot: &mut AgentSlot, message: Message) {
    slot.in_flight.message(message.id);
    slot.send(AgentInput::Letter { message, wakes: true, replaces: None });
}

fn last(complete: &AgentComplete) -> &str {
    match complete.final_text.trim() {
        "" => "(none)",
        text => text,
    }
}
