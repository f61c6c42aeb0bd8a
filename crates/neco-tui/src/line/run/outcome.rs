//! What a run came to, gathered from its events.

use std::collections::HashMap;

use neco_proto::event::{AgentComplete, CallStatus, ToolCallEnd, UsageEvent};
use neco_proto::{AgentId, CallId, Display, ErrorCode, Event, EventBody, TurnId, Usage};
use neco_view::reduce::work::{joined, note_model, refused_with};
use neco_view::wording::calls::error_words;
use serde::Serialize;
use serde_json::Value;

/// Tools that only look: what one of them was refused is found another way by whatever works after it.
const LOOKS: [&str; 10] = [
    "read_file",
    "list_directory",
    "glob",
    "grep",
    "code_search",
    "code_index",
    "web_fetch",
    "web_search",
    "memory_search",
    "memory_get",
];

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
    /// What the root was refused and did not do another way since.
    pub refused: Refused,
    /// Every call that was refused.
    pub denials: Vec<Denial>,
    /// What each agent below the root was refused and did not do another way since.
    refused_below: HashMap<AgentId, Refused>,
    root: Option<AgentId>,
    arguments: HashMap<CallId, String>,
}

/// What an agent was refused and did not do another way since.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refused {
    /// Something that may have changed something: only what changes something is another way to it.
    pub change: bool,
    /// Something that only looks.
    pub look: bool,
    /// The turn of the last refusal: other calls of the same turn do not make it good.
    turn: Option<TurnId>,
}

impl Refused {
    fn is_any(self) -> bool {
        self.change || self.look
    }

    fn refuse(&mut self, turn: Option<TurnId>, tool: &str) {
        self.turn = turn;
        if LOOKS.contains(&tool) {
            self.look = true;
        } else {
            self.change = true;
        }
    }

    fn make_good(&mut self, turn: Option<TurnId>, end: &ToolCallEnd) {
        if end.status == CallStatus::Success && self.turn != turn {
            self.look = false;
            self.change &= !changes(end);
        }
    }
}

/// Whether a call that succeeded is of a kind that changes something: it wrote files, or ran a command.
fn changes(end: &ToolCallEnd) -> bool {
    match &end.display {
        Some(Display::Diff { .. }) => true,
        Some(Display::Terminal { exit_code, background, .. }) => *exit_code == Some(0) || background.is_some(),
        Some(Display::Text { .. } | Display::List { .. }) | None => false,
    }
}

/// What went wrong, for a person and for a program.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RunError {
    /// The stable code, where there is one.
    pub code: Option<ErrorCode>,
    /// What happened.
    pub message: String,
}

/// A call that the policy or the person refused, or that named a path outside the workspace.
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
    /// 1003, 1006, 2002 or 3001.
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
            EventBody::ToolCallEnd(end) => match self.denied(end) {
                true => self.refused.refuse(event.turn_id, &end.tool),
                false => self.refused.make_good(event.turn_id, end),
            },
            EventBody::Error(error) => {
                self.error = Some(RunError { code: Some(error.code), message: error.message.clone() });
            }
            EventBody::AgentComplete(complete) => self.completed(complete),
            EventBody::Usage(used) => self.last_call = Some(used.clone()),
            // Nothing else decides what a run came to.
            _ => {}
        }
    }

    /// Whether the root or one below it was refused something that it did not do another way.
    #[must_use]
    pub fn was_refused(&self) -> bool {
        self.refused.is_any() || self.refused_below.values().any(|refused| refused.is_any())
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
                let denied = self.denied(end);
                let refused = self.refused_below.entry(event.agent_id).or_default();
                match denied {
                    true => refused.refuse(event.turn_id, &end.tool),
                    false => refused.make_good(event.turn_id, end),
                }
            }
            EventBody::Usage(used) => self.below += used.usage,
            // How they end is told to whom they work for.
            _ => {}
        }
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
    use neco_proto::{AgentId, Message, Part, Role, SessionId, ToolCall};
    use serde_json::json;

    use super::*;

    fn event(turn: TurnId, body: EventBody) -> Event {
        let (session_id, agent_id) = (SessionId::new(), AgentId::new());
        Event::new(1, Timestamp::UNIX_EPOCH, session_id, agent_id, Some(turn), body)
    }

    fn ended(tool: &str, code: Option<ErrorCode>) -> ToolCallEnd {
        ToolCallEnd {
            call_id: "c".into(),
            origin: neco_proto::ToolOrigin::BuiltIn,
            parts: Vec::new(),
            tool: tool.into(),
            summary: "Run make".into(),
            status: if code.is_some() { CallStatus::Error } else { CallStatus::Success },
            output: code.map_or_else(String::new, |code| format!("Error {code}: nobody to ask\nmore")),
            error_code: code,
            advice: None,
            agent: None,
            duration_ms: 0,
            display: None,
            spilled_to: None,
            known: Vec::new(),
        }
    }

    fn end(code: Option<ErrorCode>) -> EventBody {
        EventBody::ToolCallEnd(ended("bash", code))
    }

    fn ran(exit_code: i32) -> EventBody {
        let (command, tail, background) = ("make".to_owned(), String::new(), None);
        let display = Some(Display::Terminal { command, tail, exit_code: Some(exit_code), background });
        EventBody::ToolCallEnd(ToolCallEnd { display, ..ended("bash", None) })
    }

    fn looked(code: Option<ErrorCode>) -> EventBody {
        EventBody::ToolCallEnd(ended("read_file", code))
    }

    #[test]
    fn what_was_refused_is_done_another_way_by_what_changes_something_in_a_later_turn() {
        let (one, two, three) = (TurnId::new(), TurnId::new(), TurnId::new());
        let mut outcome = Outcome::default();
        outcome.apply(&event(one, end(Some(ErrorCode::CommandBlocked))));
        outcome.apply(&event(one, ran(0)));
        assert!(outcome.was_refused(), "another call of the same turn does not make it good");
        for other in [looked(None), ran(1), end(Some(ErrorCode::ToolFailed))] {
            outcome.apply(&event(two, other));
            assert!(outcome.was_refused(), "nothing was changed");
        }
        outcome.apply(&event(two, ran(0)));
        assert!(!outcome.was_refused());
        outcome.apply(&event(three, end(Some(ErrorCode::RejectedByUser))));
        assert!(outcome.was_refused());
        assert_eq!(outcome.denials.len(), 2);
        let back = ended("exit_plan_mode", Some(ErrorCode::RejectedByUser));
        assert_eq!(refused_with(&back), None, "a plan that is sent back was looked at");
    }

    #[test]
    fn what_only_looks_is_found_another_way_by_whatever_works_later() {
        let (one, two, three) = (TurnId::new(), TurnId::new(), TurnId::new());
        let mut outcome = Outcome::default();
        outcome.apply(&event(one, looked(Some(ErrorCode::BlockedByPolicy))));
        assert!(outcome.was_refused());
        outcome.apply(&event(two, looked(None)));
        assert!(!outcome.was_refused());
        outcome.apply(&event(two, end(Some(ErrorCode::CommandBlocked))));
        outcome.apply(&event(three, looked(None)));
        assert!(outcome.was_refused(), "a command is not made good by a look");
        let mut outcome = Outcome::default();
        outcome.apply(&event(one, looked(Some(ErrorCode::PathOutsideWorkspace))));
        assert!(outcome.was_refused() && outcome.denials.len() == 1, "a path outside is refused too");
        outcome.apply(&event(two, looked(None)));
        assert!(!outcome.was_refused());
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
