//! What each agent did over time: it worked, it waited, it waited for the person.

use std::collections::HashMap;

use neco_proto::event::{AgentNode, CallStatus, NodeState};
use neco_proto::{AgentId, Event, EventBody};

/// Changes that are kept of an agent.
const KEPT: usize = 256;

/// The tool that waits for other agents.
const WAIT: &str = "agent_wait";

/// What an agent does for a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    Works,
    /// It waits for somebody else, is paused or has nothing to do.
    Waits,
    /// It waits for the person.
    Asks,
    Ended,
}

impl From<NodeState> for Lane {
    fn from(state: NodeState) -> Self {
        match state {
            NodeState::Running => Self::Works,
            NodeState::Created | NodeState::Paused => Self::Waits,
            NodeState::Completed | NodeState::Failed | NodeState::Cancelled => Self::Ended,
        }
    }
}

/// Since when each agent does what, in milliseconds, oldest first.
#[derive(Clone, Debug, Default)]
pub struct Lanes(HashMap<AgentId, Vec<(i64, Lane)>>);

impl Lanes {
    /// Takes in an event; `before` is the state of its agent until now, where it has one.
    pub fn apply(&mut self, event: &Event, before: Option<NodeState>) {
        let (agent, lane) = match &event.body {
            // What a node used is told often, and is no change of what it does.
            EventBody::AgentUpdate(update) if before == Some(update.node.state) => return,
            EventBody::AgentUpdate(update) => (update.node.id, update.node.state.into()),
            EventBody::PermissionRequest(_) | EventBody::Question(_) => (event.agent_id, Lane::Asks),
            EventBody::ToolCallUpdate(call) if call.tool == WAIT && call.status == CallStatus::Executing => {
                (event.agent_id, Lane::Waits)
            }
            EventBody::PermissionDecision(_)
            | EventBody::QuestionAnswer(_)
            | EventBody::ToolCallEnd(_)
            | EventBody::TurnStart(_) => (event.agent_id, Lane::Works),
            EventBody::AgentComplete(_) => (event.agent_id, Lane::Waits),
            _ => return,
        };
        let changes = self.0.entry(agent).or_default();
        let is_new = match changes.last() {
            None => true,
            // Who has ended does nothing until it is given something else to do.
            Some((_, Lane::Ended)) => lane == Lane::Works,
            Some((_, last)) => *last != lane,
        };
        if is_new {
            changes.push((event.ts.as_millisecond(), lane));
            let beyond = changes.len().saturating_sub(KEPT);
            changes.drain(..beyond);
        }
    }

    /// Those are gone.
    pub fn forget(&mut self, gone: &[AgentId]) {
        self.0.retain(|agent, _| !gone.contains(agent));
    }

    /// Since when an agent waits for the person.
    pub fn asks_since(&self, agent: AgentId) -> Option<i64> {
        self.0.get(&agent)?.last().filter(|(_, lane)| *lane == Lane::Asks).map(|(since, _)| *since)
    }

    /// What an agent did; of what was before the window opened only when it began and ended is known.
    pub fn of(&self, node: &AgentNode) -> Vec<(i64, Lane)> {
        let mut changes = self.0.get(&node.id).cloned().unwrap_or_default();
        let created = node.created.as_millisecond();
        if changes.first().is_none_or(|(first, _)| *first > created) {
            changes.insert(0, (created, Lane::Works));
        }
        if !node.state.is_live() && changes.last().is_none_or(|(_, last)| *last != Lane::Ended) {
            changes.push((node.changed.as_millisecond(), Lane::Ended));
        }
        changes
    }
}
