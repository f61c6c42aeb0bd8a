//! What the work adds up to: what was refused, what runs on, what was used, who answered.

use std::collections::HashSet;

use neco_proto::event::{AgentComplete, ToolCallEnd};
use neco_proto::{CallId, Decision, ErrorCode, Event, EventBody, Message, Role, Usage};
use serde_json::Value;

use super::block::{Background, WorkEnd};

/// What `bash` says of a command that runs on.
const RUNS_ON: &str = "[runs in the background as ";

/// The tool that hands a plan in: a plan that is sent back or dropped was looked at, which is no refusal.
const EXIT_PLAN_MODE: &str = "exit_plan_mode";

/// What the work adds up to.
#[derive(Clone, Debug, Default)]
pub struct Work {
    /// Calls whose change the person has seen when they were asked.
    pub(super) change_seen: HashSet<CallId>,
    /// Calls that were to run in the background.
    pub(super) background: HashSet<CallId>,
    left: Vec<Background>,
    refused: Vec<String>,
    models: Vec<String>,
    /// What agents below the root used since the work was last over.
    below: Usage,
    /// What came of the root's work so far, while others still work, and whether the plan was dropped.
    so_far: Option<(AgentComplete, bool)>,
    /// When the work began that others are still at, in milliseconds.
    began_ms: Option<i64>,
    /// When the last event happened, in milliseconds.
    at_ms: i64,
    /// Whether it was over when the last turn ended.
    over: bool,
}

impl Work {
    /// Takes in the next event; `own` are the root's.
    pub fn apply(&mut self, event: &Event, own: bool) {
        self.at_ms = event.ts.as_millisecond();
        match &event.body {
            EventBody::TurnStart(_) if own && std::mem::take(&mut self.over) => {
                // Other work begins.
                self.refused.clear();
                self.models.clear();
            }
            // What others were still at ended with the process that did it.
            EventBody::SessionStart(_) if own => (self.so_far, self.began_ms) = (None, None),
            EventBody::Message(message) => {
                if own {
                    note_model(&mut self.models, message);
                }
                for call in message.tool_calls() {
                    let arguments = serde_json::from_str(&call.arguments).unwrap_or_default();
                    self.note_background(&call.id, &arguments);
                }
            }
            EventBody::PermissionRequest(request) if !request.diff.is_empty() => {
                self.change_seen.insert(request.call_id.clone());
            }
            EventBody::PermissionDecision(decided) => {
                if let Decision::Edit { arguments } = &decided.decision {
                    // Other arguments make another change.
                    self.change_seen.remove(&decided.call_id);
                    self.note_background(&decided.call_id, arguments);
                }
            }
            EventBody::ToolCallEnd(end) => self.ended(end),
            EventBody::Usage(used) if !own => self.below += used.usage,
            // Nothing else adds to it.
            _ => {}
        }
    }

    /// The root is done; when nobody else works, that is all. Work that others had a part in took from
    /// its beginning until now.
    pub fn complete(&mut self, complete: &AgentComplete, over: bool, plan_dropped: bool) -> WorkEnd {
        let took_ms = i64::try_from(complete.duration_ms).unwrap_or(i64::MAX);
        let began_ms = *self.began_ms.get_or_insert(self.at_ms.saturating_sub(took_ms));
        let mut complete = joined(self.so_far.take().map(|(complete, _)| complete), complete);
        let passed_ms = u64::try_from(self.at_ms.saturating_sub(began_ms)).unwrap_or_default();
        complete.duration_ms = complete.duration_ms.max(passed_ms);
        let end = self.end(&complete, over, plan_dropped);
        match over {
            true => (self.below, self.over, self.began_ms) = (Usage::default(), true, None),
            false => self.so_far = Some((complete, plan_dropped)),
        }
        end
    }

    /// The end of work that others were still at.
    pub fn close(&mut self) -> Option<WorkEnd> {
        let (complete, plan_dropped) = self.so_far.take()?;
        self.began_ms = None;
        Some(self.end(&complete, false, plan_dropped))
    }

    fn end(&self, complete: &AgentComplete, over: bool, plan_dropped: bool) -> WorkEnd {
        let mut usage = complete.usage;
        usage += self.below;
        WorkEnd {
            reason: complete.reason,
            error_code: complete.error_code,
            over,
            turns: complete.turns,
            duration_ms: complete.duration_ms,
            waited_ms: complete.waited_ms,
            usage,
            session_usage: complete.session_usage,
            budget: complete.budget,
            models: self.models.clone(),
            context: None,
            refused: self.refused.clone(),
            background: self.left.clone(),
            plan_dropped,
        }
    }

    /// A call of another than the root is over: nothing of it is asked for any more.
    pub(super) fn forget(&mut self, call: &CallId) {
        self.background.remove(call);
        self.change_seen.remove(call);
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
            self.refused.push(end.summary.clone());
        }
        let name = end.output.split_once(RUNS_ON).and_then(|(_, rest)| rest.split_once(']'));
        if let Some((name, _)) = name.filter(|_| self.background.contains(&end.call_id)) {
            self.left.push(Background { name: name.to_owned(), summary: end.summary.clone() });
        }
    }
}

/// The end of work that went on after `before`.
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

/// Adds the model that said `message` to those that answered, the last one last.
pub fn note_model(models: &mut Vec<String>, message: &Message) {
    if let Some(model) = message.model.as_ref().filter(|_| message.role == Role::Assistant) {
        models.retain(|known| known != model);
        models.push(model.clone());
    }
}

/// Whether a call with this code was refused, rather than failed.
pub fn is_refusal(code: ErrorCode) -> bool {
    matches!(code, ErrorCode::BlockedByPolicy | ErrorCode::CommandBlocked | ErrorCode::RejectedByUser)
}

/// The code with which a call was refused, be it for a path outside the workspace. A plan that is sent back or dropped
/// was looked at, which is another matter.
pub fn refused_with(end: &ToolCallEnd) -> Option<ErrorCode> {
    let counts = |code: ErrorCode| is_refusal(code) || code == ErrorCode::PathOutsideWorkspace;
    end.error_code.filter(|code| counts(*code) && end.tool != EXIT_PLAN_MODE)
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
