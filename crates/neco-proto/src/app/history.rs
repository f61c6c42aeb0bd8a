//! What happened in one session: its agents, its files, and the way back.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::request::request;
use super::sessions::SessionRow;
use crate::event::{AgentNode, FileChange, FileChangeKind, RewindWhat};
use crate::ids::{Seq, SessionId};
use crate::line_count::LineCount;
use crate::query::{RewindPoint, RewindPreview};

/// Lists the agents of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListSessionAgents {
    /// The session, by the beginning of its id; the last one of the folder when none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// The folder that is worked in.
    pub folder: String,
}

request!(ListSessionAgents => SessionAgents, "sessions.agents", Get "/sessions/{session}/agents", Read, repeatable);

/// The agents of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionAgents {
    /// The session.
    pub session_id: SessionId,
    /// The root first, parents before their children.
    pub nodes: Vec<AgentNode>,
}

/// Compares the files between two points of a session. A point is the number of a message (the files as they were when it
/// was said), the beginning of a checkpoint's name, `end` (as the work of the session left them) or `now`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DiffSession {
    /// The session, by the beginning of its id.
    pub session: String,
    /// The folder that is worked in.
    pub folder: String,
    /// The earlier point; the first message when none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The later point; now when none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

request!(DiffSession => SessionDiff, "sessions.diff", Get "/sessions/{session}/diff", Read, repeatable);

/// What is different between two points of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionDiff {
    /// The files that are different; none when nothing changed.
    pub files: Vec<FileDiff>,
    /// What is to be known of the session's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<PlaceNote>,
}

/// How a file is different.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileDiff {
    /// Its path, relative to the workspace.
    pub path: String,
    /// What happened to it.
    pub kind: FileChangeKind,
    /// As a unified diff, with its head; for a binary file a line that says so.
    pub diff: String,
    /// Whether no turn of the session changed it, but somebody else did meanwhile.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_others: bool,
    /// The lines of it that the session's work added and removed, where somebody else changed it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<LineCount>,
    /// How many lines of it somebody else changed since the session's work ended.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub since: u64,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// What is to be known of the folder that a session goes on in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PlaceNote {
    /// It was elsewhere.
    Moved {
        /// Where it was.
        from: String,
        /// Where it is.
        folder: String,
    },
    /// It is a worktree that was removed, and is made again when the session goes on. Until then its files are those that
    /// the session left.
    Removed {
        /// Where it was.
        folder: String,
    },
    /// It is a worktree that was made again.
    MadeAgain {
        /// Where it is.
        folder: String,
    },
    /// Another folder is in its place.
    Replaced {
        /// Where that is.
        folder: String,
    },
    /// Something that only a newer version knows.
    #[serde(other)]
    Other,
}

/// Lists the messages that a session can go back to before, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListRewindPoints {
    /// The session, by the beginning of its id.
    pub session: String,
}

request!(
    ListRewindPoints => RewindPoints,
    "sessions.rewind_points", Get "/sessions/{session}/rewind_points", Read, repeatable
);

/// The messages that a session can go back to before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RewindPoints {
    /// The session.
    pub session_id: SessionId,
    /// The messages.
    pub messages: Vec<RewindPoint>,
    /// Whether anything was said, also what was gone back over.
    pub is_said: bool,
}

/// Looks at what going back in a session would change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PreviewRewind {
    /// The session, by the beginning of its id.
    pub session: String,
    /// The folder that is worked in.
    pub folder: String,
    /// Where to.
    pub to: RewindTo,
    /// Whether files go back too that only others changed since.
    #[serde(default)]
    pub others: bool,
}

request!(
    PreviewRewind => RewindOutlook,
    "sessions.preview_rewind", Get "/sessions/{session}/rewind", Read, repeatable
);

/// Where a session goes back to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum RewindTo {
    /// Before a message, or to a state of the files.
    Point {
        /// The number or id of the message, or the beginning of the state's name.
        point: String,
        /// What goes back.
        what: RewindWhat,
    },
    /// To before the last rewind.
    Undo,
    /// To before the last undo.
    Redo,
}

/// What going back would change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RewindOutlook {
    /// The session, with the folder that it works in now.
    pub session: SessionRow,
    /// What would change.
    pub preview: RewindPreview,
    /// The rewind that it takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<Seq>,
    /// Whether it brings back what was there before a rewind that was cut short.
    #[serde(default)]
    pub is_mending: bool,
    /// Whether there is nothing to do.
    #[serde(default)]
    pub is_nothing: bool,
    /// The last event that was looked at.
    pub last_seq: Seq,
    /// What is to be known of the session's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<PlaceNote>,
}

/// Goes back in a session that nobody has open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RewindSession {
    /// The session, by the beginning of its id.
    pub session: String,
    /// The folder that is worked in.
    pub folder: String,
    /// Where to.
    pub to: RewindTo,
    /// What of others' work, or of what may be theirs, may be overwritten.
    pub agreed: AgreedTo,
    /// The last event when it was looked at: a session that has gone on since does not go back.
    pub last_seq: Seq,
}

request!(RewindSession => RewoundSession, "sessions.rewind", Post "/sessions/{session}/rewind", Work, once);

/// What of others' work, or of what may be theirs, a person agreed to have overwritten.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum AgreedTo {
    /// Nothing.
    Nothing,
    /// These files, by the names that they were shown.
    Files {
        /// Their names.
        files: Vec<String>,
    },
    /// Whatever it is: files that only others changed go back too.
    Anything,
}

/// What going back did to the files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RewoundSession {
    /// What was done.
    pub changes: Vec<FileChange>,
    /// What was left alone although it is different, and why; and what else a person should know.
    pub kept: Vec<String>,
    /// Whether another process did it, which has the session open; what exactly it did stands in the session's log.
    #[serde(default)]
    pub elsewhere: bool,
}
