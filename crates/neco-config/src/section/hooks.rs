//! Hooks: commands that run at the moments of an agent's work.

use neco_proto::event::HookEvent;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Commands that run at the moments of an agent's work; see docs/safety/hooks.md.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, rename_all = "PascalCase")]
pub struct HooksSection {
    /// A session was created or opened again.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub session_start: Vec<HookSection>,
    /// A session ends.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub session_end: Vec<HookSection>,
    /// You said something; the hook may block it or add to it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub user_prompt_submit: Vec<HookSection>,
    /// A call is about to be judged; the hook may block it, ask you, allow it or change it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pre_tool_use: Vec<HookSection>,
    /// You are about to be asked about a call; the hook may answer.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub permission_request: Vec<HookSection>,
    /// A call succeeded; the hook may tell the model something.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub post_tool_use: Vec<HookSection>,
    /// A call failed; the hook may tell the model something.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub post_tool_use_failure: Vec<HookSection>,
    /// The model has nothing more to do; the hook may make it go on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub stop: Vec<HookSection>,
    /// A child agent begins; the matcher is held against the name of its definition.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subagent_start: Vec<HookSection>,
    /// A child agent has nothing more to do; the hook may make it go on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub subagent_stop: Vec<HookSection>,
    /// The conversation is about to be made shorter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pre_compact: Vec<HookSection>,
    /// The conversation was made shorter.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub post_compact: Vec<HookSection>,
    /// A call waits for you.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notification: Vec<HookSection>,
    /// Something failed; the matcher is held against `model`, `tool` or `session`, and against the error's code.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub error: Vec<HookSection>,
}

/// One hook.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct HookSection {
    /// The tools it is for, such as `Bash|Edit`; a regular expression where it is more than names. Empty or `*`: all.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub matcher: String,
    /// The command line, run by the shell that runs commands; it reads JSON from its standard input.
    #[schemars(length(min = 1))]
    pub command: String,
    /// Seconds until it is killed; 60 when it is not given.
    #[schemars(range(max = 86_400), extend("exclusiveMinimum" = 0))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<f64>,
}

impl HooksSection {
    /// The hooks of an event.
    pub fn of(&self, event: HookEvent) -> &[HookSection] {
        match event {
            HookEvent::SessionStart => &self.session_start,
            HookEvent::SessionEnd => &self.session_end,
            HookEvent::UserPromptSubmit => &self.user_prompt_submit,
            HookEvent::PreToolUse => &self.pre_tool_use,
            HookEvent::PermissionRequest => &self.permission_request,
            HookEvent::PostToolUse => &self.post_tool_use,
            HookEvent::PostToolUseFailure => &self.post_tool_use_failure,
            HookEvent::Stop => &self.stop,
            HookEvent::SubagentStart => &self.subagent_start,
            HookEvent::SubagentStop => &self.subagent_stop,
            HookEvent::PreCompact => &self.pre_compact,
            HookEvent::PostCompact => &self.post_compact,
            HookEvent::Notification => &self.notification,
            HookEvent::Error => &self.error,
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        HookEvent::ALL.iter().all(|event| self.of(*event).is_empty())
    }
}
