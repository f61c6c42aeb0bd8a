//! What each agent does and did over time: it worked, it waited, it waited for the person.

use std::collections::BTreeMap;

use neco_proto::event::{AgentNode, CallStatus, NodeState};
use neco_proto::{AgentId, Event, EventBody};
use serde::Serialize;

/// Changes that are kept of an agent.
const KEPT: usize = 256;

/// The tool that waits for other agents.
const WAIT: &str = "agent_wait";

/// What an agent does now.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Doing {
    /// The model is asked.
    Thinks,
    /// A call runs, or waits until it may.
    Calls {
        /// The call in one line.
        summary: String,
    },
    /// The person is asked whether a call may run.
    Wants {
        /// The call in one line.
        summary: String,
    },
    /// The person is asked something.
    Asks,
}

/// How an agent spends a while.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Lane {
    /// It works.
    Works,
    /// It waits for somebody else, is paused or has nothing to do.
    Waits,
    /// It waits for the person.
    Asks,
    /// It has ended.
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

/// What an agent does, asks and did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Activity {
    /// What it does now.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) does: Option<Doing>,
    /// What it waits for the person with, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    asks: Vec<OpenAsk>,
    /// Since when it spends its time how, in milliseconds since 1970, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    lanes: Vec<(i64, Lane)>,
    /// How its node stood when it was told last.
    #[serde(skip)]
    state: Option<NodeState>,
    /// The model that answered it last.
    #[serde(skip)]
    pub(super) model: Option<String>,
}

/// Something that the person is asked and has not answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
struct OpenAsk {
    /// The call or the question.
    id: String,
    /// When it was asked, in milliseconds since 1970.
    since_ms: i64,
}

impl Activity {
    /// Since when it waits for the person.
    pub(super) fn asks_since(&self) -> Option<i64> {
        self.asks.first().map(|ask| ask.since_ms)
    }

    /// Takes in an event; gives how its time is spent from now on, where the event tells.
    fn apply(&mut self, event: &Event) -> Option<Lane> {
        match &event.body {
            EventBody::TurnStart(_) => {
                self.does = Some(Doing::Thinks);
                self.asks.clear();
            }
            EventBody::ToolCallUpdate(call) => {
                self.does = Some(Doing::Calls { summary: call.summary.clone() });
                return (call.tool == WAIT && call.status == CallStatus::Executing).then_some(Lane::Waits);
            }
            EventBody::PermissionRequest(request) => {
                self.does = Some(Doing::Wants { summary: request.summary.clone() });
                self.ask(request.call_id.to_string(), event);
            }
            EventBody::Question(question) => {
                self.does = Some(Doing::Asks);
                self.ask(question.question_id.to_string(), event);
            }
            EventBody::PermissionDecision(decided) => self.answered(&decided.call_id.to_string()),
            EventBody::ToolCallEnd(end) => self.answered(&end.call_id.to_string()),
            EventBody::QuestionAnswer(answer) => self.answered(&answer.question_id.to_string()),
            EventBody::AgentComplete(_) => {
                self.does = None;
                self.asks.clear();
                return Some(Lane::Waits);
            }
            _ => return None,
        }
        Some(Lane::Works)
    }

    fn ask(&mut self, id: String, event: &Event) {
        self.asks.push(OpenAsk { id, since_ms: event.ts.as_millisecond() });
    }

    fn answered(&mut self, id: &str) {
        self.asks.retain(|ask| ask.id != id);
    }

    fn enter(&mut self, lane: Lane, now_ms: i64) {
        // Whoever has asked several things waits until all are answered.
        let lane = if lane == Lane::Works && !self.asks.is_empty() { Lane::Asks } else { lane };
        let is_new = match self.lanes.last() {
            None => true,
            // Who has ended does nothing until it is given something else to do.
            Some((_, Lane::Ended)) => lane == Lane::Works,
            Some((_, last)) => *last != lane,
        };
        if is_new {
            self.lanes.push((now_ms, lane));
            let beyond = self.lanes.len().saturating_sub(KEPT);
            self.lanes.drain(..beyond);
        }
    }
}

/// The activity of all agents, the root's among them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub(super) struct Activities(BTreeMap<AgentId, Activity>);

impl Activities {
    /// That of an agent of which something was told.
    pub(super) fn of(&self, agent: AgentId) -> Option<&Activity> {
        self.0.get(&agent)
    }

    /// How an agent spent its time; of what was before the first event only when it began and ended is known.
    pub(super) fn lanes(&self, node: &AgentNode) -> Vec<(i64, Lane)> {
        let mut changes = self.of(node.id).map(|activity| activity.lanes.clone()).unwrap_or_default();
        let created = node.created.as_millisecond();
        if changes.first().is_none_or(|(first, _)| *first > created) {
            changes.insert(0, (created, Lane::Works));
        }
        if !node.state.is_live() && changes.last().is_none_or(|(_, last)| *last != Lane::Ended) {
            changes.push((node.changed.as_millisecond(), Lane::Ended));
        }
        changes
    }

    /// An agent was asked for and stands so; that counts where no event has told how it stands.
    pub(super) fn found(&mut self, node: &AgentNode) {
        self.0.entry(node.id).or_default().state.get_or_insert(node.state);
    }

    /// Takes in an event.
    pub(super) fn apply(&mut self, event: &Event) {
        let (agent, lane) = match &event.body {
            EventBody::AgentUpdate(update) => {
                self.0.retain(|agent, _| !update.gone.contains(agent));
                let node = &update.node;
                let before = self.0.entry(node.id).or_default().state.replace(node.state);
                // What a node used is told often, and is no change of what it does.
                if before == Some(node.state) {
                    return;
                }
                (node.id, Some(Lane::from(node.state)))
            }
            EventBody::Message(message) => {
                if let Some(model) = &message.model {
                    self.0.entry(event.agent_id).or_default().model = Some(model.clone());
                }
                return;
            }
            EventBody::TurnStart(_)
            | EventBody::ToolCallUpdate(_)
            | EventBody::ToolCallEnd(_)
            | EventBody::PermissionRequest(_)
            | EventBody::PermissionDecision(_)
            | EventBody::Question(_)
            | EventBody::QuestionAnswer(_)
            | EventBody::AgentComplete(_) => (event.agent_id, None),
            // The rest is said or used.
            _ => return,
        };
        let activity = self.0.entry(agent).or_default();
        if let Some(lane) = lane.or_else(|| activity.apply(event)) {
            activity.enter(lane, event.ts.as_millisecond());
        }
    }

    /// Who waits for the person with a call or a question.
    pub(super) fn asker(&self, id: &str) -> Option<AgentId> {
        self.0.iter().find(|(_, activity)| activity.asks.iter().any(|ask| ask.id == id)).map(|(agent, _)| *agent)
    }

    /// Only what `waits` is still asked.
    pub(super) fn only_asks(&mut self, waits: &[String]) {
        self.0.values_mut().for_each(|activity| activity.asks.retain(|ask| waits.contains(&ask.id)));
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use neco_proto::SessionId;
    use serde_json::{Value, json};

    use super::*;

    fn node(id: AgentId) -> Value {
        let usage = json!({"input": 1, "output": 1, "cache_read": 0, "cache_write": 0, "reasoning": 0, "cost": 0.1});
        json!({
            "id": id, "name": "a-1", "type": "child", "role": "a", "parent": null, "children": [], "task": "t",
            "model_group": "default", "state": "running", "progress": 0.0, "usage": usage, "subtree_usage": usage,
            "created": "1970-01-01T00:00:00Z", "changed": "1970-01-01T00:00:00Z"
        })
    }

    fn take_in(activities: &mut Activities, agent: AgentId, at_ms: i64, body: Value) {
        let (ts, body) = (Timestamp::from_millisecond(at_ms).unwrap(), serde_json::from_value(body).unwrap());
        activities.apply(&Event::new(1, ts, SessionId::new(), agent, None, body));
    }

    #[test]
    fn what_a_node_used_does_not_end_its_waiting() {
        let (parent, child) = (AgentId::new(), AgentId::new());
        let update = |id: AgentId| json!({"type": "agent_update", "node": node(id)});
        let waits = json!({
            "type": "tool_call_update", "call_id": "c", "tool": WAIT, "status": "executing", "summary": "Wait"
        });
        let lanes = |activities: &Activities| activities.of(parent).map(|activity| activity.lanes.clone());
        let expected = Some(vec![(1, Lane::Works), (3, Lane::Waits)]);
        let mut activities = Activities::default();
        take_in(&mut activities, parent, 1, update(parent));
        take_in(&mut activities, child, 2, update(child));
        take_in(&mut activities, parent, 3, waits.clone());
        take_in(&mut activities, parent, 4, update(parent));
        assert_eq!(lanes(&activities), expected);
        let gone = json!({"type": "agent_update", "node": node(parent), "gone": [child]});
        take_in(&mut activities, parent, 5, gone);
        assert_eq!((lanes(&activities), activities.of(child)), (expected, None));
        // The same holds for whoever was asked for, and not told of.
        let mut activities = Activities::default();
        activities.found(&serde_json::from_value(node(parent)).unwrap());
        take_in(&mut activities, parent, 3, waits);
        take_in(&mut activities, parent, 4, update(parent));
        assert_eq!(lanes(&activities), Some(vec![(3, Lane::Waits)]));
    }
}
