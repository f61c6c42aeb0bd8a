//! Everybody is stopped at once, so that nothing is spent any more: paused, not lost.

use std::sync::Arc;
use std::time::Instant;

use futures::future::{join, join_all};
use neco_agent::{AgentInput, Halt};
use neco_proto::event::{AgentNode, NodeState, Notification, NotificationLevel, SessionStop};
use neco_proto::{Actor, AgentId, EventBody, agent_ask};
use tokio::sync::oneshot;

use super::carry::Told;
use super::error::TreeError;
use super::letters;
use super::op::Op;
use super::supervisor::{AgentSupervisor, LEAVING, State};

/// A stop that is being carried out; no agent is started before it is over.
#[must_use]
pub struct Stopping {
    /// Ready when each agent has broken off what it did.
    heard: Vec<oneshot::Receiver<()>>,
    /// Counts it as long as it is carried out.
    counted: Arc<()>,
}

/// The stops that are being carried out; one that is dropped counts no more, however it ended.
#[derive(Default)]
pub(super) struct Stops(Arc<()>);

impl Stops {
    /// Whether somebody stops everything just now.
    pub fn any(&self) -> bool {
        Arc::strong_count(&self.0) > 1
    }

    fn count(&self) -> Arc<()> {
        Arc::clone(&self.0)
    }
}

impl AgentSupervisor {
    /// Pauses everybody below the root, on behalf of `by`, with what they did: what they say and run is broken off. Those of workflows
    /// break off too and are left to their workflow, which does their tasks again when it goes on. Nobody is started
    /// until [`AgentSupervisor::stopped`].
    ///
    /// `root` stops the root meanwhile, which does not wait for a tree that is busy. Its calls find those that they wait
    /// for paused, and keep them: they come to the tree after this.
    pub async fn stop_everybody<T>(
        &self,
        by: Actor,
        root: impl Future<Output = T>,
    ) -> (Result<Stopping, TreeError>, T) {
        let pausing = async { self.pause_everybody(&mut *self.lock().await, by).await };
        // In this order: the tree takes everybody in the order in which they came.
        join(pausing, root).await
    }

    /// Ready when nobody does anything any more and `also` has come to its end, or when that takes too long: from now
    /// on agents can be started.
    pub async fn stopped(&self, stopping: Stopping, also: impl Future<Output = ()>) {
        let Stopping { heard, counted } = stopping;
        let all = join(join_all(heard), also);
        if tokio::time::timeout(LEAVING, all).await.is_err() {
            tracing::warn!("an agent or a workflow takes long to stop what it does");
        }
        let state = self.lock().await;
        drop(counted);
        state.slots.values().for_each(|slot| slot.posted.notify_waiters());
    }

    /// Tells every window who ended with the turn of the root that was stopped after `since`. Nobody waits for it.
    pub fn tell_ended_with_turn(&self, since: Instant) {
        let Some(supervisor) = self.me.upgrade() else { return };
        self.at_it.spawn(async move {
            let ended = supervisor.ended_with_turn(since).await;
            let Some(words) = agent_ask::ended_with_turn(&ended) else { return };
            let told = EventBody::Notification(Notification::new(NotificationLevel::Warning, words));
            if let Err(error) = supervisor.journal.emit(supervisor.root, None, told).await {
                tracing::warn!(%error, "nobody is told which agents ended with the turn");
            }
        });
    }

    /// The names of those who were ended since then because a call of the root that waited for them was stopped, each
    /// told once. Ready when no such call waits for anybody any more, or when that takes too long.
    pub(super) async fn ended_with_turn(&self, since: Instant) -> Vec<String> {
        if tokio::time::timeout(LEAVING, self.nobody_is_waited_for()).await.is_err() {
            tracing::warn!("an agent takes long to end with the turn");
        }
        let ended = std::mem::take(&mut self.lock().await.ended_with_calls);
        ended.into_iter().filter(|(at, _)| *at >= since).map(|(_, name)| name).collect()
    }

    /// Ready when no call of the root waits for anybody who works.
    async fn nobody_is_waited_for(&self) {
        loop {
            let state = self.lock().await;
            let Some(root) = state.slots.get(&self.root) else { return };
            let posted = Arc::clone(&root.posted);
            // Enabled while nobody can change anything, so that nothing is missed.
            let news = posted.notified();
            tokio::pin!(news);
            news.as_mut().enable();
            let works = |node: &AgentNode| node.state.is_live() && node.state != NodeState::Paused;
            let mut waited_for =
                state.tree.children(self.root).into_iter().filter(|child| self.is_waited_for(&state, *child));
            if !waited_for.any(|child| state.tree.node(child).is_some_and(works)) {
                return;
            }
            drop(waited_for);
            drop(state);
            news.await;
        }
    }

    /// Those who are live from an agent down and end with a call of the root when that gives the agent up: the call
    /// waits for it, and nobody else does. Those of workflows are left to their workflow.
    pub(super) fn end_with_call(&self, state: &State, agent: AgentId) -> Vec<String> {
        if !self.is_waited_for(state, agent) {
            return Vec::new();
        }
        let all = state.tree.subtree(agent).into_iter().filter_map(|below| state.tree.node(below));
        all.filter(|node| node.state.is_live()).map(|node| node.name.clone()).collect()
    }

    fn is_waited_for(&self, state: &State, agent: AgentId) -> bool {
        let is_of_root = state.tree.node(agent).is_some_and(|node| node.parent == Some(self.root));
        let spec = state.slots.get(&agent).and_then(|slot| slot.spec.as_ref());
        is_of_root && spec.is_some_and(|spec| !spec.told && spec.workflow.is_none())
    }

    async fn pause_everybody(&self, state: &mut State, by: Actor) -> Result<Stopping, TreeError> {
        let of_workflow = |agent: &AgentId| {
            let spec = state.slots.get(agent).and_then(|slot| slot.spec.as_ref());
            spec.is_some_and(|spec| spec.workflow.is_some())
        };
        let children = state.tree.children(self.root);
        let own: Vec<AgentId> = children.iter().copied().filter(|child| !of_workflow(child)).collect();
        let running = |agent: &AgentId| state.tree.node(*agent).is_some_and(|node| node.state == NodeState::Running);
        let paused: Vec<AgentId> =
            own.iter().flat_map(|agent| state.tree.subtree(*agent)).filter(|agent| running(agent)).collect();
        if !paused.is_empty() {
            self.apply_as(state, Op::PauseAll(own.clone()), Told::Parent, Some(&by)).await?;
        }
        children.into_iter().for_each(|child| self.hold(state, child, Halt::AtOnce));
        let heard = state.slots.iter().filter(|(agent, _)| **agent != self.root);
        let heard = heard.filter_map(|(_, slot)| Some(slot.line.as_ref()?.flush())).collect();
        let name = |agent: &AgentId| state.tree.node(*agent).map(|node| node.name.clone());
        let names: Vec<String> = paused.iter().filter_map(name).collect();
        if let Some(root) = state.slots.get(&self.root).filter(|_| !names.is_empty()) {
            root.send(AgentInput::Letter { message: letters::all_stopped(&names), wakes: false, replaces: None });
        }
        if state.tree.live_count() > 0 {
            self.tell_stop(by, paused).await?;
        }
        Ok(Stopping { heard, counted: state.stopping.count() })
    }

    /// Every window is told who was paused, and that nothing wakes the root until the person says something.
    pub async fn tell_stop(&self, by: Actor, paused: Vec<AgentId>) -> Result<(), TreeError> {
        let stop = EventBody::Stop(SessionStop { paused, by: Some(by) });
        Ok(self.journal.commit(self.root, None, stop).await?)
    }

    /// Whoever is paused from `agent` down does no more of its present turn than `halt` says. The person wants it so,
    /// who will know when it is to go on.
    pub(super) fn hold(&self, state: &mut State, agent: AgentId, halt: Halt) {
        for below in state.tree.subtree(agent) {
            if let Some(slot) = state.slots.get_mut(&below) {
                slot.called_off = slot.starting_over;
                slot.send(AgentInput::Hold(halt));
            }
        }
        if let Some(slot) = state.slots.get_mut(&agent) {
            slot.held = true;
        }
    }

    /// Whoever waited for an agent gives up: it is stopped. One that is paused stays, and its end is told to its
    /// parent; says whether it does.
    pub(super) async fn give_up(&self, agent: AgentId) -> bool {
        let paused = self.lock().await.tree.node(agent).is_some_and(|node| node.state == NodeState::Paused);
        if paused && self.let_go(agent).await {
            return true;
        }
        // One that has ended has nothing to stop.
        drop(self.stop_as(agent, Told::Nobody, None).await);
        false
    }
}
