//! Waiting for children. What they say is not taken by whoever waits: it enters the conversation as always, right
//! after the call.

use std::sync::Arc;
use std::time::Duration;

use neco_proto::AgentId;
use neco_proto::event::NodeState;
use schemars::JsonSchema;
use serde::Deserialize;
use tokio_util::sync::CancellationToken;

use super::error::TreeError;
use super::supervisor::{AgentSupervisor, State};

/// What is waited for.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaitFor {
    /// Until the first has ended.
    Any,
    /// Until all have.
    #[default]
    All,
}

/// What came of waiting.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waited {
    /// Those that have ended, by name, and how.
    pub ended: Vec<(String, NodeState)>,
    /// Those that wait for an answer, by name.
    pub asks: Vec<String>,
    /// Those that nothing was heard of for long, by name.
    pub silent: Vec<String>,
    /// Those that have not ended, by name.
    pub left: Vec<String>,
    /// Why waiting ended before what was waited for, if it did.
    pub early: Option<&'static str>,
    /// Whether that is because the call that waited was stopped.
    pub stopped: bool,
    running: usize,
}

impl AgentSupervisor {
    /// Waits until one or all of `agents`, children of `parent`, have ended; until one of them asks
    /// something, one falls silent, none of them can go on by itself, or time is up. What they said is on its way into the
    /// conversation of `parent` then.
    pub async fn wait(
        &self,
        parent: AgentId,
        agents: &[AgentId],
        wait_for: WaitFor,
        timeout: Duration,
        cancel: &CancellationToken,
    ) -> Result<Waited, TreeError> {
        let posted = {
            let state = self.lock().await;
            Arc::clone(&state.slots.get(&parent).ok_or(TreeError::Unknown(parent))?.posted)
        };
        // Of those it was said before that they may hang; whoever waits for them all the same knows.
        let known = Waited::of(&*self.lock().await, agents).silent;
        let deadline = tokio::time::sleep(timeout);
        tokio::pin!(deadline);
        loop {
            // Enabled before the look, so that nothing that happens after it is missed.
            let news = posted.notified();
            tokio::pin!(news);
            news.as_mut().enable();
            let (mut waited, holds) = {
                let state = self.lock().await;
                // That everybody is paused with whom they work for is no end: it waits on when it goes on.
                let held = state.tree.node(parent).is_none_or(|node| node.state != NodeState::Running);
                (Waited::of(&state, agents), held || state.stopping.any())
            };
            waited.silent.retain(|name| !known.contains(name));
            if let Some(waited) = waited.over(wait_for).filter(|_| !holds) {
                self.flush(parent).await;
                return Ok(waited);
            }
            let (early, stopped) = tokio::select! {
                () = news => continue,
                () = &mut deadline => ("time is up", false),
                () = cancel.cancelled() => ("waiting was stopped", true),
            };
            let waited = Waited::of(&*self.lock().await, agents);
            return Ok(Waited { early: Some(early), stopped, ..waited });
        }
    }

    /// Ready when nothing was heard of an agent for too long; never when it ends before.
    pub(super) async fn silence_of(&self, agent: AgentId) {
        let silent = self.lock().await.slots.get(&agent).map(|slot| slot.silent.subscribe());
        let fell_silent = match silent {
            Some(mut silent) => silent.wait_for(|silent| *silent).await.is_ok(),
            None => false,
        };
        if !fell_silent {
            std::future::pending::<()>().await;
        }
    }

    /// Nobody waits for an agent any more: its end is told to its parent. Says whether it is still live.
    pub(super) async fn let_go(&self, agent: AgentId) -> bool {
        let mut state = self.lock().await;
        match state.slots.get_mut(&agent).and_then(|slot| slot.spec.as_mut()) {
            Some(spec) => {
                spec.told = true;
                true
            }
            None => false,
        }
    }

    /// Ready when an agent has heard everything that was sent to it until now.
    pub async fn flush(&self, agent: AgentId) {
        let flushed = {
            let state = self.lock().await;
            state.slots.get(&agent).and_then(|slot| slot.line.as_ref()).map(|line| line.flush())
        };
        if let Some(flushed) = flushed {
            // One that is gone hears nothing more.
            let _ = flushed.await;
        }
    }
}

impl Waited {
    fn of(state: &State, agents: &[AgentId]) -> Self {
        let mut waited = Self::default();
        for agent in agents {
            let Some(node) = state.tree.node(*agent) else { continue };
            if !node.state.is_live() {
                waited.ended.push((node.name.clone(), node.state));
                continue;
            }
            waited.running += usize::from(node.state != NodeState::Paused);
            waited.left.push(node.name.clone());
            if state.slots.get(agent).is_some_and(|slot| slot.asks()) {
                waited.asks.push(node.name.clone());
            }
            if state.slots.get(agent).is_some_and(|slot| *slot.silent.borrow()) {
                waited.silent.push(node.name.clone());
            }
        }
        waited
    }

    /// Itself, if there is nothing more to wait for.
    fn over(self, wait_for: WaitFor) -> Option<Self> {
        let done = match wait_for {
            WaitFor::Any => !self.ended.is_empty() || self.left.is_empty(),
            WaitFor::All => self.left.is_empty(),
        };
        let early = match (done, self.asks.is_empty(), self.running) {
            (true, ..) => None,
            (false, false, _) => Some("an answer is needed"),
            (false, true, 0) => Some("those that are left are paused"),
            (false, true, _) if !self.silent.is_empty() => Some("one of them may hang"),
            (false, true, _) => return None,
        };
        Some(Self { early, ..self })
    }
}
