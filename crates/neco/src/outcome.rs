//! What a run came to, gathered from its events.

use std::collections::HashMap;

use neco_agent::plan::EXIT_PLAN_MODE;
use neco_proto::event::{AgentComplete, ToolCallEnd, UsageEvent};
use neco_proto::{AgentId, CallId, ErrorCode, Event, EventBody, Message, Role, TurnId, Usage};
use neco_safety::untrusted;
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

/// The end of work that went on after `before`.
#[must_use]
pub fn joined(before: Option<AgentComplete>, complete: &AgentComplete) -> AgentComplete {
    let mut all = complete.clone();
    if let Some(before) = before {
        all.turns += before.turns;
        all.usage += before.usage;
        all.duration_ms += before.duration_ms;
        all.waited_ms += before.waited_ms;
    }
    all
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
            EventBody::SessionStart(_)
            | EventBody::StateChange(_)
            | EventBody::TurnStart(_)
            | EventBody::StreamChunk(_)
            | EventBody::ReasoningChunk(_)
            | EventBody::StreamToolCallStart(_)
            | EventBody::StreamToolCallDelta(_)
            | EventBody::ModelRetry(_)
            | EventBody::ModelSwitch(_)
            | EventBody::ToolCallUpdate(_)
            | EventBody::ToolOutputChunk(_)
            | EventBody::PermissionRequest(_)
            | EventBody::PermissionDecision(_)
            | EventBody::HookRun(_)
            | EventBody::Question(_)
            | EventBody::QuestionAnswer(_)
            | EventBody::TodoUpdate(_)
            | EventBody::PlanUpdate(_)
            | EventBody::MemoryUpdate(_)
            | EventBody::ModeChange(_)
            | EventBody::Notification(_)
            | EventBody::Environment(_)
            | EventBody::IdeContext(_)
            | EventBody::RulesTold(_)
            | EventBody::ContextTrim(_)
            | EventBody::Checkpoint(_)
            | EventBody::FilesBack(_)
            | EventBody::Rewind(_)
            | EventBody::Title(_)
            | EventBody::Imported(_)
            | EventBody::AgentUpdate(_)
            | EventBody::AgentMessage(_)
            | EventBody::Stop(_)
            | EventBody::WorkflowUpdate(_)
            | EventBody::Compaction(_)
            | EventBody::MessageQueued(_)
            | EventBody::TurnEnd(_)
            | EventBody::Unknown(_) => {}
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

/// Adds the model that said `message` to those that answered, the last one last.
pub fn note_model(models: &mut Vec<String>, message: &Message) {
    if let Some(model) = message.model.as_ref().filter(|_| message.role == Role::Assistant) {
        models.retain(|known| known != model);
        models.push(model.clone());
    }
}

/// Whether a call with this code was refused, rather than failed.
#[must_use]
pub fn is_refusal(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::BlockedByPolicy | ErrorCode::CommandBlocked | ErrorCode::RejectedByUser)
}

/// The code with which a call was refused. A plan that is sent back or dropped was looked at, which is another
/// matter.
#[must_use]
pub fn refused_with(end: &ToolCallEnd) -> Option<ErrorCode> {
    end.error_code.filter(|code| is_refusal(*code) && end.tool != EXIT_PLAN_MODE)
}

/// Lines of an error that belong to what it says, when each but the last ends with a colon.
const ERROR_LINES: usize = 3;

/// What a failed call says in its first line, without the code before it, and what follows a colon.
#[must_use]
pub fn error_words(end: &ToolCallEnd) -> String {
    let output = untrusted::unwrapped(&end.output);
    let mut words: Vec<&str> = Vec::new();
    // What the model is advised to do is not for the person.
    let advice = |line: &&str| end.error_code.is_some_and(|code| code.for_model() == *line);
    let lines = output.lines().map(str::trim).filter(|line| !line.is_empty() && !advice(line));
    for line in lines.take(ERROR_LINES) {
        words.push(line);
        if !line.ends_with(':') {
            break;
        }
    }
    let words = words.join(" ");
    let bare = end.error_code.and_then(|code| words.strip_prefix(&format!("Error {code}: ")));
    to_person(bare.unwrap_or(&words))
}

/// How errors speak of the person to the model, and how to the person.
const SPOKEN: &[(&str, &str)] = &[
    ("Tell the user that they can ", "You can "),
    ("tell the user that they can ", "you can "),
    ("have the user open ", "open "),
    ("the user can ", "you can "),
    ("The user can ", "You can "),
    (" in their config.toml", " in your config.toml"),
];

/// Words that are written for the model, as they are said to the person.
fn to_person(words: &str) -> String {
    SPOKEN.iter().fold(words.to_owned(), |words, (model, person)| words.replace(model, person))
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use neco_proto::event::CallStatus;
    use neco_proto::{AgentId, Part, SessionId, ToolCall};
    use serde_json::json;

    use super::*;

    fn event(turn: TurnId, body: EventBody) -> Event {
        let (session_id, agent_id) = (SessionId::new(), AgentId::new());
        Event { seq: 1, ts: Timestamp::UNIX_EPOCH, session_id, agent_id, turn_id: Some(turn), needs: None, body }
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
        let back = ToolCallEnd { tool: EXIT_PLAN_MODE.to_owned(), ..back };
        assert_eq!(refused_with(&back), None, "a plan that is sent back was looked at");
    }

    #[test]
    fn words_after_a_colon_belong_to_the_error() {
        let EventBody::ToolCallEnd(end) = end(Some(ErrorCode::ToolFailed)) else { panic!("not an end") };
        let words = |output: &str| error_words(&ToolCallEnd { output: output.into(), ..end.clone() });
        assert_eq!(words("Error 1005: two problems:\n\n  first:\n  second\nadvice"), "two problems: first: second");
        assert_eq!(words("Error 1005: one problem\nadvice"), "one problem");
        let told = "Error 1005: no engine. Tell the user that they can choose one in their config.toml.";
        assert_eq!(words(told), "no engine. You can choose one in your config.toml.");
        let advice = ErrorCode::ToolFailed.for_model();
        assert_eq!(words(&format!("Error 1005: none such, not file:\n{advice}")), "none such, not file:");
    }

    #[test]
    fn each_model_that_answered_is_named_once() {
        let mut models = Vec::new();
        let said =
            |model: Option<&str>, role| Message { model: model.map(str::to_owned), ..Message::new(role, Vec::new()) };
        for model in ["a/one", "b/two", "a/one"] {
            note_model(&mut models, &said(Some(model), Role::Assistant));
        }
        note_model(&mut models, &said(None, Role::Assistant));
        note_model(&mut models, &said(Some("c/three"), Role::User));
        assert_eq!(models, ["b/two", "a/one"]);
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
