//! How sessions stand: what the ends of their logs tell of the last work and of what was used, and their branches.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use neco_proto::app::sessions::{SessionRow, SessionState};
use neco_proto::event::{CompleteReason, NodeState};
use neco_proto::{AgentId, CallId, Event, EventBody, QuestionId, Role, Usage};
use neco_store::{EventLog, SessionRecord};

use super::worktrees::branch_of;
use crate::app::LocalApp;

/// Events that are read first, from the end of a log back: most sessions end with their work.
const FIRST: u64 = 16;

/// And at a time after those.
const PAGE: u64 = 256;

/// Most events that are read of a log.
const MOST: u64 = 4096;

/// How a session stands, as far as that was looked up.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Standing {
    state: Option<SessionState>,
    work: Option<NodeState>,
    asks: bool,
    usage: Option<Usage>,
    branch: Option<String>,
}

impl Standing {
    /// The row of a session that stands so.
    pub(super) fn in_row(self, row: SessionRow) -> SessionRow {
        let Self { state, work, asks, usage, branch } = self;
        SessionRow { state, work, asks, usage, branch, ..row }
    }

    /// How a session stands of which a process says this, and the end of its log that.
    fn new(state: SessionState, tail: Tail, branch: Option<String>) -> Self {
        let work = match (state, tail.work) {
            // Nobody goes on with it now.
            (SessionState::Stopped, _) | (SessionState::AtRest, Some(NodeState::Running)) => Some(NodeState::Paused),
            (SessionState::Open | SessionState::AtRest | SessionState::Other, work) => work,
        };
        let asks = tail.asks && state == SessionState::Open;
        Self { state: Some(state), work, asks, usage: tail.usage, branch }
    }
}

/// How sessions stand, in their order.
pub(super) async fn standings(app: &LocalApp, records: &[SessionRecord]) -> Vec<Standing> {
    let data_dir = app.env.data_dir().to_owned();
    let folders: Vec<String> = records.iter().map(|record| record.cwd.clone()).collect();
    let look = move || folders.iter().map(|folder| branch_of(Path::new(folder), &data_dir)).collect::<Vec<_>>();
    let mut branches = tokio::task::spawn_blocking(look).await.unwrap_or_default().into_iter();
    let states = app.hub.stages(records).await;
    let mut standings = Vec::with_capacity(records.len());
    for (record, state) in records.iter().zip(states) {
        let tail = read(app.store.as_ref(), record).await.unwrap_or_default();
        standings.push(Standing::new(state, tail, branches.next().flatten()));
    }
    standings
}

/// What the end of a log tells.
#[derive(Debug, Default, PartialEq)]
struct Tail {
    /// How the last work stands or ended.
    work: Option<NodeState>,
    /// Whether a person is asked something.
    asks: bool,
    /// What was used in all.
    usage: Option<Usage>,
}

/// The end of a log, from the last end of its work on; nothing where it can't be read.
async fn read(log: &dyn EventLog, record: &SessionRecord) -> Option<Tail> {
    let root = log.read(record.id, 0, 1).await.ok()?.first()?.agent_id;
    let is_end = |event: &Event| event.agent_id == root && matches!(event.body, EventBody::AgentComplete(_));
    let (mut events, mut since, mut page) = (Vec::<Event>::new(), record.events, FIRST);
    while since > 0 && !events.iter().any(is_end) && record.events - since < MOST {
        let from = since.saturating_sub(page);
        let mut earlier = log.read(record.id, from, usize::try_from(since - from).unwrap_or_default()).await.ok()?;
        earlier.append(&mut events);
        (events, since, page) = (earlier, from, PAGE);
    }
    Some(told(&events, root, since == 0))
}

/// What events at the end of a log tell; `is_whole` when they are all there are.
fn told(events: &[Event], root: AgentId, is_whole: bool) -> Tail {
    let mut tail = Tail { usage: is_whole.then(Usage::default), ..Tail::default() };
    let (mut calls, mut questions) = (HashSet::<(AgentId, &CallId)>::new(), HashSet::<QuestionId>::new());
    // Agents below the root that are not done, and whether they rest.
    let mut below = HashMap::<AgentId, bool>::new();
    for event in events {
        let is_own = event.agent_id == root;
        match &event.body {
            EventBody::AgentComplete(complete) if is_own => {
                (tail.work, tail.usage) = (Some(ended(complete.reason)), Some(complete.session_usage));
            }
            EventBody::TurnStart(_) if is_own => tail.work = Some(NodeState::Running),
            EventBody::Message(message) if is_own && message.role == Role::User && !message.is_neco() => {
                tail.work = Some(NodeState::Running);
            }
            // What was under way when it was opened again had been cut short, and nobody waits for an answer.
            EventBody::SessionStart(_) if is_own => {
                (calls, questions) = Default::default();
                below.values_mut().for_each(|rests| *rests = true);
                tail.work = tail.work.map(|work| if work == NodeState::Running { NodeState::Paused } else { work });
            }
            EventBody::AgentUpdate(update) => {
                below.retain(|agent, _| !update.gone.contains(agent));
                match update.node.state {
                    state @ (NodeState::Running | NodeState::Paused) if update.node.id != root => {
                        below.insert(update.node.id, state == NodeState::Paused);
                    }
                    _ => drop(below.remove(&update.node.id)),
                }
            }
            EventBody::Usage(used) => tail.usage.iter_mut().for_each(|usage| *usage += used.usage),
            EventBody::PermissionRequest(asked) => drop(calls.insert((event.agent_id, &asked.call_id))),
            EventBody::PermissionDecision(decided) => drop(calls.remove(&(event.agent_id, &decided.call_id))),
            EventBody::ToolCallEnd(end) => drop(calls.remove(&(event.agent_id, &end.call_id))),
            EventBody::Question(question) => drop(questions.insert(question.question_id)),
            EventBody::QuestionAnswer(answer) => drop(questions.remove(&answer.question_id)),
            // Nothing else tells how the work stands.
            _ => {}
        }
    }
    tail.asks = !calls.is_empty() || !questions.is_empty();
    // The root is done, and somebody whom it started is not.
    if tail.work == Some(NodeState::Completed) && !below.is_empty() {
        let all_rest = below.values().all(|rests| *rests);
        tail.work = Some(if all_rest { NodeState::Paused } else { NodeState::Running });
    }
    tail
}

/// How work stands that ended so: what reached a limit can go on.
fn ended(reason: CompleteReason) -> NodeState {
    match reason {
        CompleteReason::Natural => NodeState::Completed,
        CompleteReason::IterationLimit | CompleteReason::Budget => NodeState::Paused,
        CompleteReason::Cancelled | CompleteReason::Stopped | CompleteReason::LoopDetected => NodeState::Cancelled,
        CompleteReason::Failed => NodeState::Failed,
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use neco_proto::{Message, SessionId};
    use serde_json::json;

    use super::*;

    fn body(value: serde_json::Value) -> EventBody {
        serde_json::from_value(value).unwrap()
    }

    fn used(cost: f64) -> EventBody {
        body(json!({ "type": "usage", "model": "a/b", "input": 10, "output": 1, "cost": cost }))
    }

    fn completes(reason: &str, cost: f64) -> EventBody {
        let usage = json!({ "input": 1, "output": 1, "cost": cost });
        body(json!({
            "type": "agent_complete", "reason": reason, "final": "", "turns": 1, "usage": usage,
            "session_usage": usage, "duration_ms": 1
        }))
    }

    fn asks() -> EventBody {
        body(json!({
            "type": "permission_request", "call_id": "c1", "tool": "bash", "summary": "Run ls", "args": {},
            "risk": "low", "reason": ""
        }))
    }

    fn tail(bodies: Vec<EventBody>, is_whole: bool) -> Tail {
        let (session, root) = (SessionId::new(), AgentId::new());
        let event = |(seq, body)| Event::new(seq, Timestamp::UNIX_EPOCH, session, root, None, body);
        told(&(1..).zip(bodies).map(event).collect::<Vec<_>>(), root, is_whole)
    }

    fn cost(tail: &Tail) -> Option<f64> {
        tail.usage.and_then(|usage| usage.cost)
    }

    #[test]
    fn what_a_session_cost_is_known_from_its_last_end_on() {
        let said = || EventBody::Message(Message::user("fix it"));
        let done = tail(vec![used(0.25), completes("natural", 4.0), used(0.5)], false);
        assert_eq!((done.work, cost(&done)), (Some(NodeState::Completed), Some(4.5)));
        let first = tail(vec![said(), used(0.25), used(0.5)], true);
        assert_eq!((first.work, cost(&first)), (Some(NodeState::Running), Some(0.75)));
        let cut = tail(vec![used(0.25)], false);
        assert_eq!((cut.work, cut.usage), (None, None), "what came before is not known");
    }

    #[test]
    fn work_stands_as_it_ended_or_goes_on() {
        let said = || EventBody::Message(Message::user("fix it"));
        let work = |bodies| tail(bodies, true).work;
        assert_eq!(work(vec![said(), completes("failed", 0.0)]), Some(NodeState::Failed));
        assert_eq!(work(vec![said(), completes("cancelled", 0.0)]), Some(NodeState::Cancelled));
        assert_eq!(work(vec![completes("natural", 0.0), said()]), Some(NodeState::Running));
        let agent = AgentId::new();
        let usage = json!({ "input": 1, "output": 1 });
        let update = |state: &str| {
            body(json!({ "type": "agent_update", "node": {
                "id": agent, "name": "coder-1", "type": "child", "role": "coder", "children": [], "task": "mend it",
                "model_group": "default", "state": state, "progress": 0.0, "usage": usage, "subtree_usage": usage,
                "created": "2026-01-01T00:00:00Z", "changed": "2026-01-01T00:00:00Z"
            } }))
        };
        let paused = || vec![said(), completes("natural", 0.0), update("paused")];
        assert_eq!(work(paused()), Some(NodeState::Paused), "an agent of it is");
        let works = paused().into_iter().chain([update("running")]).collect();
        assert_eq!(work(works), Some(NodeState::Running), "an agent of it works");
        let over = paused().into_iter().chain([update("cancelled")]).collect();
        assert_eq!(work(over), Some(NodeState::Completed));
        let running = || tail(vec![said(), asks()], true);
        assert!(running().asks);
        let decision = json!({ "type": "permission_decision", "call_id": "c1", "decision": { "kind": "once" } });
        assert!(!tail(vec![said(), asks(), body(decision)], true).asks);
        let open = Standing::new(SessionState::Open, running(), None);
        assert_eq!((open.work, open.asks), (Some(NodeState::Running), true));
        let left = Standing::new(SessionState::Stopped, running(), None);
        assert_eq!((left.work, left.asks), (Some(NodeState::Paused), false), "nobody is there to be asked");
    }
}
