//! Payloads about hooks: commands that people plug into an agent's moments.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ids::{CallId, MessageId};
use crate::mode::names;

/// A moment that hooks can be plugged into, by the name that hook files use for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum HookEvent {
    /// A session was created or opened again.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// The person said something that the model has not seen yet.
    UserPromptSubmit,
    /// A call is about to be judged.
    PreToolUse,
    /// A person is about to be asked about a call.
    PermissionRequest,
    /// A call ran and did what it should.
    PostToolUse,
    /// A call ran and did not.
    PostToolUseFailure,
    /// The model has nothing more to do.
    Stop,
    /// A child agent begins.
    SubagentStart,
    /// A child agent has nothing more to do.
    SubagentStop,
    /// The conversation is about to be made shorter.
    PreCompact,
    /// The conversation was made shorter.
    PostCompact,
    /// The person should know something, such as that a call waits for them.
    Notification,
}

names!(HookEvent {
    HookEvent::SessionStart => "SessionStart",
    HookEvent::SessionEnd => "SessionEnd",
    HookEvent::UserPromptSubmit => "UserPromptSubmit",
    HookEvent::PreToolUse => "PreToolUse",
    HookEvent::PermissionRequest => "PermissionRequest",
    HookEvent::PostToolUse => "PostToolUse",
    HookEvent::PostToolUseFailure => "PostToolUseFailure",
    HookEvent::Stop => "Stop",
    HookEvent::SubagentStart => "SubagentStart",
    HookEvent::SubagentStop => "SubagentStop",
    HookEvent::PreCompact => "PreCompact",
    HookEvent::PostCompact => "PostCompact",
    HookEvent::Notification => "Notification",
});

impl HookEvent {
    /// Every event, in the order of a session's life.
    pub const ALL: &'static [Self] = &[
        Self::SessionStart,
        Self::SessionEnd,
        Self::UserPromptSubmit,
        Self::PreToolUse,
        Self::PermissionRequest,
        Self::PostToolUse,
        Self::PostToolUseFailure,
        Self::Stop,
        Self::SubagentStart,
        Self::SubagentStop,
        Self::PreCompact,
        Self::PostCompact,
        Self::Notification,
    ];

    /// The event of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|event| event.name() == name)
    }
}

/// What a hook came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HookOutcome {
    /// It had no objection, and may have had something to add.
    Passed,
    /// It allows the call.
    Allowed,
    /// It wants a person to decide.
    Asked,
    /// It objects: the call, the message or the end of the work is blocked.
    Blocked,
    /// It ends the agent's work.
    Stopped,
    /// It could not be run, crashed, or said something that can't be understood; it counts for nothing.
    Failed,
    /// It took too long and was killed; it counts for nothing.
    TimedOut,
    /// It was killed because the work was stopped.
    Cancelled,
}

names!(HookOutcome {
    HookOutcome::Passed => "passed",
    HookOutcome::Allowed => "allowed",
    HookOutcome::Asked => "asked",
    HookOutcome::Blocked => "blocked",
    HookOutcome::Stopped => "stopped",
    HookOutcome::Failed => "failed",
    HookOutcome::TimedOut => "timed_out",
    HookOutcome::Cancelled => "cancelled",
});

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
