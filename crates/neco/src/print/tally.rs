//! What is known of calls beyond their own events: what the person has seen, what runs on, what was
//! refused.

use std::collections::HashSet;

use neco_proto::event::ToolCallEnd;
use neco_proto::{AgentId, CallId, Decision, Event, EventBody, Usage};
use serde_json::Value;

use super::clean::clean_line;
use super::figures;
use super::wrap::fitting;
use crate::outcome::refused_with;

/// Calls that are named.
const NAMED: usize = 3;
/// Columns of a name.
const NAME: usize = 40;
/// What `bash` says of a command that runs on.
const RUNS_ON: &str = "[runs in the background as ";

/// What is known of the calls of a run.
#[derive(Debug, Default)]
pub struct Tally {
    /// Calls whose change the person has seen when they were asked.
    diff_seen: HashSet<CallId>,
    /// Calls that were to run in the background.
    background: HashSet<CallId>,
    /// What was started there, by its name.
    left: Vec<String>,
    refused: Vec<String>,
    root: Option<AgentId>,
    /// What agents below the root used since that was last asked.
    below: Usage,
}

impl Tally {
    /// Takes in the next event.
    pub fn apply(&mut self, event: &Event) {
        match &event.body {
            EventBody::Message(message) => {
                for call in message.tool_calls() {
                    let arguments = serde_json::from_str(&call.arguments).unwrap_or_default();
                    self.note_background(&call.id, &arguments);
                }
            }
            EventBody::PermissionRequest(request) if !request.diff.is_empty() => {
                self.diff_seen.insert(request.call_id.clone());
            }
            EventBody::PermissionDecision(decided) => {
                if let Decision::Edit { arguments } = &decided.decision {
                    // Other arguments make another change.
                    self.diff_seen.remove(&decided.call_id);
                    self.note_background(&decided.call_id, arguments);
                }
            }
            EventBody::ToolCallEnd(end) => self.ended(end),
            EventBody::SessionStart(_) => self.root = Some(event.agent_id),
            EventBody::Usage(used) if self.root.is_some_and(|root| root != event.agent_id) => {
                self.below += used.usage;
            }
            EventBody::StateChange(_)
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
            | EventBody::HookRun(_)
            | EventBody::Question(_)
            | EventBody::QuestionAnswer(_)
            | EventBody::TodoUpdate(_)
            | EventBody::PlanUpdate(_)
            | EventBody::MemoryUpdate(_)
            | EventBody::ModeChange(_)
            | EventBody::Usage(_)
            | EventBody::Notification(_)
            | EventBody::Environment(_)
            | EventBody::Checkpoint(_)
            | EventBody::FilesBack(_)
            | EventBody::Rewind(_)
            | EventBody::Title(_)
            | EventBody::Imported(_)
            | EventBody::AgentUpdate(_)
            | EventBody::AgentMessage(_)
            | EventBody::Stop(_)
            | EventBody::WorkflowUpdate(_)
            | EventBody::IdeContext(_)
            | EventBody::RulesTold(_)
            | EventBody::ContextTrim(_)
            | EventBody::Compaction(_)
            | EventBody::MessageQueued(_)
            | EventBody::Error(_)
            | EventBody::TurnEnd(_)
            | EventBody::AgentComplete(_)
            | EventBody::Unknown(_) => {}
        }
    }

    /// Whether the person has seen the change of a call; asked once.
    pub fn take_diff_seen(&mut self, call: &CallId) -> bool {
        self.diff_seen.remove(call)
    }

    /// Whether a call runs in the background.
    #[must_use]
    pub fn is_background(&self, call: &CallId) -> bool {
        self.background.contains(call)
    }

    /// What agents below the root used since this was last asked.
    pub fn take_below(&mut self) -> Usage {
        std::mem::take(&mut self.below)
    }

    /// `2 calls were refused (Run make; Write b)`; `None` when none was.
    #[must_use]
    pub fn refused(&self) -> Option<String> {
        let were = if self.refused.len() == 1 { "was" } else { "were" };
        let count = figures::count(u64::try_from(self.refused.len()).unwrap_or(u64::MAX), "call");
        (!self.refused.is_empty()).then(|| format!("{count} {were} refused ({})", named(&self.refused)))
    }

    /// What a run leaves behind in the background, which ends with it.
    #[must_use]
    pub fn left_in_background(&self) -> Option<String> {
        let names = named(&self.left);
        (!self.left.is_empty()).then(|| format!("what still ran in the background is ended with this run: {names}"))
    }

    fn note_background(&mut self, call: &CallId, arguments: &Value) {
        if arguments.get("background").and_then(Value::as_bool) == Some(true) {
            self.background.insert(call.clone());
        } else {
            self.background.remove(call);
        }
    }

    fn ended(&mut self, end: &ToolCallEnd) {
        if refused_with(end).is_some() {
            self.refused.push(clean_line(&end.summary));
        }
        let id = end.output.split_once(RUNS_ON).and_then(|(_, rest)| rest.split_once(']'));
        if let Some((id, _)) = id.filter(|_| self.is_background(&end.call_id)) {
            self.left.push(format!("{}: {}", clean_line(id), clean_line(&end.summary)));
        }
    }
}

fn named(names: &[String]) -> String {
    let mut words: Vec<String> = names.iter().take(NAMED).map(|name| fitting(name, NAME)).collect();
    if names.len() > NAMED {
        words.push("…".to_owned());
    }
    words.join("; ")
}
