//! Payloads about the session as a whole.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error_code::ErrorCode;
use crate::ids::{Seq, SessionId};
use crate::mode::{ApprovalMode, Mode, names};

/// A session was created or opened again. The agent that this is told of is the root.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionStart {
    /// The version of Neco that wrote it.
    pub version: String,
    /// The workspace.
    pub cwd: String,
    /// The model or group the root agent asks.
    pub model: String,
    /// Whether that model is a script rather than a model.
    pub scripted: bool,
    /// The mode.
    pub mode: Mode,
    /// The approval mode.
    pub approval: ApprovalMode,
    /// The generation; 0 in logs that are older than generations.
    #[serde(default)]
    pub generation: u8,
    /// What stands between commands and the machine.
    pub sandbox: String,
    /// Whether that is as strong as it is by default: commands are held to the workspace, without the network.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub usual_sandbox: bool,
    /// Whether an earlier conversation goes on.
    pub resumed: bool,
    /// Whether a single request is meant, and no window; absent in logs that are older than this.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub single: bool,
    /// Where the conversation comes from, when it began in another session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<ForkedFrom>,
}

/// Where the conversation of a fork comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ForkedFrom {
    /// The session.
    pub session_id: SessionId,
    /// The last event that both have.
    pub seq: Seq,
}

/// The session has another title.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionTitle {
    /// The title.
    pub title: String,
    /// Who made it.
    pub by: TitleSource,
}

names! {
    /// Who made a title. A later one in this list is never replaced by an earlier one.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
    pub enum TitleSource {
        /// Nobody: they are the first words of the first message.
        FirstWords = "first_words",
        /// The model.
        Model = "model",
        /// A person.
        Person = "person",
    }
}

/// The events that follow come from a file that another program wrote.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Imported {
    /// The program, such as `claude-code` or `codex`.
    pub from: String,
    /// The file.
    pub file: String,
    /// The id that the conversation had there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// How many entries of the file have no place here.
    pub skipped: u64,
}

/// Mode, approval mode, model or generation changed; only what changed is there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModeChange {
    /// The new mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// The new approval mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<ApprovalMode>,
    /// The new model or group.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The new generation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generation: Option<u8>,
    /// Why the agent itself changed it; absent when a person did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Who wanted it; absent when it follows from something else, and in logs that are older than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
}

/// How loud a notification is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotificationLevel {
    /// Good to know.
    Info,
    /// Something is not as it should be.
    Warning,
}

/// Something the person should know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Notification {
    /// How loud.
    pub level: NotificationLevel,
    /// What.
    pub text: String,
    /// What a window does not have to read the words for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<NotificationTopic>,
    /// Files that act later without being called and were changed without a question.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changed: Option<ActingChange>,
    /// The generation that was taken because it fits the model's window, where nobody chose one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fitted: Option<u8>,
}

/// Files that act later without being called and were changed without a question.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ActingChange {
    /// What they do.
    pub does: ActsLater,
    /// Which they are, from the workspace on.
    pub files: Vec<String>,
    /// The state of the workspace before the turn that changed them; absent when none was kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<String>,
}

/// What a file does later without being called.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActsLater {
    /// It runs on this machine, or decides what does.
    Runs,
    /// It runs on another machine that builds the project.
    RunsElsewhere,
    /// It tells agents what to do.
    Instructs,
}

/// What a notification is about, where a window stands otherwise because of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NotificationTopic {
    /// The conversation is being compacted while nobody works: the notes take their time, and a cancel ends it.
    CompactionBegins,
    /// It was not compacted.
    CompactionFailed,
    /// Changes were made, or are about to be, that no state of the files shows.
    NotKept,
    /// The process that has the session open hands it over as it is: whoever opens it next goes on with its work.
    HandedOver,
}

/// How notifications of older versions begin that changes were not kept.
const NOT_KEPT_WORDS: &str = "no checkpoint was kept";

impl Notification {
    /// About nothing that a window has to know. Its text is a sentence, with a capital in front: windows show it as it is.
    #[must_use]
    pub fn new(level: NotificationLevel, text: String) -> Self {
        Self { level, text, about: None, changed: None, fitted: None }
    }

    /// The same, with what it is about.
    #[must_use]
    pub fn about(self, about: NotificationTopic) -> Self {
        Self { about: Some(about), ..self }
    }

    /// What it is about. Older logs say one of the topics in words alone.
    #[must_use]
    pub fn topic(&self) -> Option<NotificationTopic> {
        let old = || self.text.starts_with(NOT_KEPT_WORDS).then_some(NotificationTopic::NotKept);
        self.about.or_else(old)
    }
}

/// Something went wrong.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorEvent {
    /// The stable code.
    pub code: ErrorCode,
    /// What happened, for a person.
    pub message: String,
    /// Whether the same thing can succeed when it is tried again.
    pub retryable: bool,
}
