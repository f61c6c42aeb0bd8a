//! What a run came to, gathered from its events.

use std::collections::HashMap;

use neco_proto::event::{AgentComplete, ToolCallEnd, UsageEvent};
use neco_proto::{AgentId, CallId, ErrorCode, Event, EventBody, TurnId, Usage};
use neco_view::reduce::work::{joined, note_model, refused_with};
use neco_view::wording::calls::error_words;
use serde::Serialize;
use serde_json::Value;

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// The end of the agent's work; `None` when the run broke off before it.
    pub complete: Option<AgentComplete>,
    /// The models that answered, each once, the last one last.
    pub models: Vec<String>,
    /// What the last call of a model used: how long the conversation has become.
    pub last_call: Option<UsageEvent>,
    /// What went wrong last.
    pub error: Option<RunError>,
    /// What agents below the root used.
    pub below: Usage,
    /// Whether the last turn that had calls had one that was refused.
    pub refused_last: bool,
    /// Every call that was refused.
    pub denials: Vec<Denial>,
    /// Of each agent below the root, its last turn that had calls and whether one of them was refused.
    refused_below: HashMap<AgentId, (Option<TurnId>, bool)>,
    root: Option<AgentId>,
    turn: Option<TurnId>,
    arguments: HashMap<CallId, String>,
}

/// What went wrong, for a person and for a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunError {
    /// The stable code, where there is one.
    pub code: Option<ErrorCode>,
    /// What happened.
    pub message: String,
}

/// A call that the policy or the person refused.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Denial {
    /// The call.
    pub call_id: CallId,
    /// The tool.
    pub tool: String,
    /// The call in one line.
    pub summary: String,
    /// The arguments; a string when the model did not write JSON.
    pub arguments: Value,
    /// 1003, 1006 or 3001.
    pub code: ErrorCode,
    /// Why, as the model was told.
    pub reason: String,
}

impl Outcome {
    /// The outcome of a run that never began.
    #[must_use]
    pub fn of_failure(error: RunError) -> Self {
        Self { error: Some(error), ..Self::default() }
    }

    /// Of a session whose root is known.
    #[must_use]
    pub fn of_root(root: AgentId) -> Self {
        Self { root: Some(root), ..Self::default() }
    }

    /// Takes in the next event. What agents below the root do is theirs; only what they were refused is told.
    pub fn apply(&mut self, event: &Event) {
        if matches!(event.body, EventBody::SessionStart(_)) {
            self.root = Some(event.agent_id);
        }
        if self.root.is_some_and(|root| root != event.agent_id) {
            return self.below(event);
        }
        match &event.body {
            EventBody::Message(message) => {
                note_model(&mut self.models, message);
                for call in message.tool_calls() {
                    self.arguments.insert(call.id.clone(), call.arguments.clone());
                }
            }
            EventBody::ToolCallEnd(end) => self.call_ended(event.turn_id, end),
            EventBody::Error(error) => {
                self.error = Some(RunError { code: Some(error.code), message: error.message.clone() });
            }
            EventBody::AgentComplete(complete) => self.completed(complete),
            EventBody::Usage(used) => self.last_call = Some(used.clone()),
            // Nothing else decides what a run came to.
            _ => {}
        }
    }

    /// Whether the last thing that somebody wanted to do, the root or one below it, was refused.
    #[must_use]
    pub fn was_refused(&self) -> bool {
        self.refused_last || self.refused_below.values().any(|(_, refused)| *refused)
    }

    /// A root that was woken by what came of others goes on with the same request.
    fn completed(&mut self, complete: &AgentComplete) {
        self.complete = Some(joined(self.complete.take(), complete));
    }

    fn below(&mut self, event: &Event) {
        match &event.body {
            EventBody::Message(message) => {
                for call in message.tool_calls() {
                    self.arguments.insert(call.id.clone(), call.arguments.clone());
                }
            }
            EventBody::ToolCallEnd(end) => {
                let refused = self.denied(end);
                let last = self.refused_below.entry(event.agent_id).or_default();
                last.1 = refused || (last.1 && last.0 == event.turn_id);
                last.0 = event.turn_id;
            }
            EventBody::Usage(used) => self.below += used.usage,
            // How they end is told to whom they work for.
            _ => {}
        }
    }

    fn call_ended(&mut self, turn: Option<TurnId>, end: &ToolCallEnd) {
        if self.turn != turn {
            self.turn = turn;
            self.refused_last = false;
        }
        self.refused_last |= self.denied(end);
    }

    /// Whether a call was refused, which is kept then.
    fn denied(&mut self, end: &ToolCallEnd) -> bool {
        let arguments = self.arguments.remove(&end.call_id).unwrap_or_default();
        let Some(code) = refused_with(end) else { return false };
        self.denials.push(Denial {
            call_id: end.call_id.clone(),
            tool: end.tool.clone(),
            summary: end.summary.clone(),
            arguments: serde_json::from_str(&arguments).unwrap_or(Value::String(arguments)),
            code,
            reason: error_words(end),
        });
        true
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use neco_proto::event::CallStatus;
    use neco_proto::{AgentId, Message, Part, Role, SessionId, ToolCall};
    use serde_json::json;

    use super::*;

    fn event(turn: TurnId, body: EventBody) -> Event {
        let (session_id, agent_id) = (SessionId::new(), AgentId::new());
        Event::new(1, Timestamp::UNIX_EPOCH, session_id, agent_id, Some(turn), body)
    }

    fn end(code: Option<ErrorCode>) -> EventBody {
        EventBody::ToolCallEnd(ToolCallEnd {
            call_id: "c".into(),
            origin: neco_proto::ToolOrigin::BuiltIn,
            parts: Vec::new(),
            tool: "bash".into(),
            summary: "Run make".into(),
            status: CallStatus::Error,
            output: code.map_or_else(String::new, |code| format!("Error {code}: nobody to ask\nmore")),
            error_code: code,
            advice: None,
            agent: None,
            duration_ms: 0,
            display: None,
            spilled_to: None,
            known: Vec::new(),
        })
    }

    #[test]
    fn only_the_last_turn_with_calls_counts() {
        let (one, two, three) = (TurnId::new(), TurnId::new(), TurnId::new());
        let mut outcome = Outcome::default();
        outcome.apply(&event(one, end(Some(ErrorCode::CommandBlocked))));
        outcome.apply(&event(one, end(None)));
        assert!(outcome.refused_last, "another call of the same turn does not make it good");
        outcome.apply(&event(two, end(Some(ErrorCode::ToolFailed))));
        assert!(!outcome.refused_last);
        outcome.apply(&event(three, end(Some(ErrorCode::RejectedByUser))));
        assert!(outcome.refused_last);
        assert_eq!(outcome.denials.len(), 2);
        let EventBody::ToolCallEnd(back) = end(Some(ErrorCode::RejectedByUser)) else { panic!("not an end") };
        let back = ToolCallEnd { tool: "exit_plan_mode".to_owned(), ..back };
        assert_eq!(refused_with(&back), None, "a plan that is sent back was looked at");
    }

    #[test]
    fn a_denial_tells_what_was_wanted_and_why_not() {
        let turn = TurnId::new();
        let call =
            ToolCall { id: "c".into(), name: "bash".into(), arguments: "{\"command\":\"make\"}".into(), opaque: None };
        let message = Message::new(Role::Assistant, vec![Part::ToolCall(call)]);
        let mut outcome = Outcome::default();
        outcome.apply(&event(turn, EventBody::Message(message)));
        outcome.apply(&event(turn, end(Some(ErrorCode::CommandBlocked))));
        let denial = serde_json::to_value(&outcome.denials[0]).unwrap();
        assert_eq!(denial["arguments"], json!({ "command": "make" }));
        assert_eq!((denial["code"].as_u64(), denial["reason"].as_str()), (Some(3001), Some("nobody to ask")));
    }
}
