//! Payloads about hooks: commands that people plug into an agent's moments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{CallId, MessageId};
use crate::mode::names;

names! {
    /// A moment that hooks can be plugged into, by the name that hook files use for it.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
    pub enum HookEvent {
        /// A session was created or opened again.
        SessionStart = "SessionStart",
        /// A session ends.
        SessionEnd = "SessionEnd",
        /// The person said something that the model has not seen yet.
        UserPromptSubmit = "UserPromptSubmit",
        /// A call is about to be judged.
        PreToolUse = "PreToolUse",
        /// A person is about to be asked about a call.
        PermissionRequest = "PermissionRequest",
        /// A call ran and did what it should.
        PostToolUse = "PostToolUse",
        /// A call ran and did not.
        PostToolUseFailure = "PostToolUseFailure",
        /// The model has nothing more to do.
        Stop = "Stop",
        /// A child agent begins.
        SubagentStart = "SubagentStart",
        /// A child agent has nothing more to do.
        SubagentStop = "SubagentStop",
        /// The conversation is about to be made shorter.
        PreCompact = "PreCompact",
        /// The conversation was made shorter.
        PostCompact = "PostCompact",
        /// The person should know something, such as that a call waits for them.
        Notification = "Notification",
        /// Something failed: the model, a call, or the session.
        Error = "Error",
    }
}

names! {
    /// What a hook came to.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum HookOutcome {
        /// It had no objection, and may have had something to add.
        Passed = "passed",
        /// It allows the call.
        Allowed = "allowed",
        /// It wants a person to decide.
        Asked = "asked",
        /// It objects: the call, the message or the end of the work is blocked.
        Blocked = "blocked",
        /// It ends the agent's work.
        Stopped = "stopped",
        /// It could not be run, crashed, or said something that can't be understood; it counts for nothing.
        Failed = "failed",
        /// It took too long and was killed; it counts for nothing.
        TimedOut = "timed_out",
        /// It was killed because the work was stopped.
        Cancelled = "cancelled",
    }
}

/// A hook ran.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookRun {
    /// The moment.
    pub event: HookEvent,
    /// Its command, in one line.
    pub hook: String,
    /// What it came to.
    pub outcome: HookOutcome,
    /// How long it took.
    pub duration_ms: u64,
    /// What the person should read: the hook's own words, or why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The call it was about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<CallId>,
    /// The message it was about. A message that was blocked never enters the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message_id: Option<MessageId>,
}

impl HookRun {
    /// Whether the end of the call that it was about says the same: the hook kept it from running.
    #[must_use]
    pub fn is_told_by_call(&self) -> bool {
        let is_before = matches!(self.event, HookEvent::PreToolUse | HookEvent::PermissionRequest);
        is_before && self.outcome == HookOutcome::Blocked && self.call_id.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_is_written_as_it_is_named() {
        for event in HookEvent::ALL {
            assert_eq!(serde_json::to_value(event).unwrap(), event.name());
            assert_eq!(HookEvent::named(event.name()), Some(*event));
        }
        assert_eq!(HookEvent::named("pretooluse"), None);
    }
}
