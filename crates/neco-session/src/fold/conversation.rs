//! The conversation: messages, results paired with their calls, and what is still open.

use neco_proto::event::{Admission, CallStatus, HookOutcome, ModelRetry, ModelSwitch};
use neco_proto::{CallId, Event, EventBody, Message, Role, ToolResult, TurnId};

use super::standing::Standing;

/// A call that has no result yet.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenCall {
    /// Its id.
    pub id: CallId,
    /// The tool as the model wrote it.
    pub name: String,
    /// Whether the mark that it is about to run is in the log.
    pub started: bool,
}

/// A whole session, as its log has it.
#[derive(Clone, Debug, Default)]
pub struct Fold {
    /// Everything but the conversation.
    pub standing: Standing,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// Said but not yet admitted.
    pub queued: Vec<(Admission, Message)>,
    /// Calls of the last assistant message that have no result.
    pub open: Vec<OpenCall>,
    /// Text of an answer that has not become a message.
    pub partial: String,
    /// The last turn, for events that mend it.
    pub turn: Option<TurnId>,
    /// Whether something was asked and the work on it has not ended.
    pub working: bool,
    results: Vec<ToolResult>,
}

impl Fold {
    /// The fold of a log.
    pub fn of<'a>(events: impl IntoIterator<Item = &'a Event>) -> Self {
        let mut fold = Self::default();
        for event in events {
            fold.apply(event);
        }
        fold
    }

    /// Takes in the next event.
    pub fn apply(&mut self, event: &Event) {
        self.standing.apply(event);
        match &event.body {
            EventBody::Message(message) => self.message(message),
            EventBody::MessageQueued(queued) => self.queued.push((queued.when, queued.message.clone())),
            EventBody::HookRun(run) if matches!(run.outcome, HookOutcome::Blocked | HookOutcome::Stopped) => {
                self.queued.retain(|(_, queued)| Some(queued.id) != run.message_id);
            }
            EventBody::TurnStart(_) => {
                self.partial.clear();
                self.turn = event.turn_id;
            }
            EventBody::StreamChunk(chunk) => self.partial.push_str(&chunk.text),
            EventBody::ModelRetry(ModelRetry { discards: true, .. })
            | EventBody::ModelSwitch(ModelSwitch { discards: true, .. }) => self.partial.clear(),
            EventBody::ToolCallUpdate(update) if update.status == CallStatus::Executing => {
                for call in self.open.iter_mut().filter(|call| call.id == update.call_id) {
                    call.started = true;
                }
            }
            EventBody::ToolCallEnd(end) => self.result(ToolResult {
                call_id: end.call_id.clone(),
                output: end.output.clone(),
                error_code: end.error_code,
            }),
            EventBody::SessionStart(_) | EventBody::AgentComplete(_) => self.working = false,
            EventBody::StateChange(_)
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
            | EventBody::ModeChange(_)
            | EventBody::Usage(_)
            | EventBody::Notification(_)
            | EventBody::Error(_)
            | EventBody::TurnEnd(_) => {}
        }
    }

    fn message(&mut self, message: &Message) {
        self.queued.retain(|(_, queued)| queued.id != message.id);
        self.working = true;
        if message.role == Role::Assistant {
            self.partial.clear();
            let call =
                |call: &neco_proto::ToolCall| OpenCall { id: call.id.clone(), name: call.name.clone(), started: false };
            self.open = message.tool_calls().map(call).collect();
        }
        self.messages.push(message.clone());
    }

    /// Results come in the order the calls ended; the model gets them in the order it asked.
    fn result(&mut self, result: ToolResult) {
        if !self.open.iter().any(|call| call.id == result.call_id) {
            return;
        }
        self.open.retain(|call| call.id != result.call_id);
        self.results.push(result);
        if !self.open.is_empty() {
            return;
        }
        let Some(asked) = self.messages.last() else { return };
        let order: Vec<CallId> = asked.tool_calls().map(|call| call.id.clone()).collect();
        let mut results = std::mem::take(&mut self.results);
        results.sort_by_key(|result| order.iter().position(|id| *id == result.call_id));
        self.messages.push(Message::results_of(asked.id, results));
    }
}
