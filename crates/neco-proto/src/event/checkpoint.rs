//! Payloads about the state of the workspace: what was kept of it, and going back to it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::ids::{MessageId, Seq};
use crate::mode::names;

/// The workspace was kept as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Checkpoint {
    /// The name of this state.
    pub rev: String,
    /// The state it was compared with; absent when it is the first one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// When it was kept.
    pub when: CheckpointWhen,
    /// The state that is put in its place, where it was kept before that; absent in logs that are older than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// What was going on, in a few words.
    pub label: String,
    /// What is different from `parent`; 200 at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changed: Vec<FileChange>,
    /// How many more files are different.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub more: u64,
    /// What was not kept; 50 at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOut>,
    /// How many more were not kept.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub left_out_more: u64,
}

impl Checkpoint {
    /// How many files are different from `parent`.
    #[must_use]
    pub fn changed_count(&self) -> u64 {
        (self.changed.len() as u64).saturating_add(self.more)
    }
}

names! {
    /// When the workspace was kept.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum CheckpointWhen {
        /// Before the first change of a turn.
        Before = "before",
        /// After a turn.
        After = "after",
        /// Before another state was put in its place.
        Restore = "restore",
    }
}

/// A file that is different.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChange {
    /// Its path, relative to the workspace.
    pub path: String,
    /// How it is different.
    pub kind: FileChangeKind,
}

names! {
    /// How a file is different.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum FileChangeKind {
        /// It was not there before.
        Added = "added",
        /// It holds something else.
        Modified = "modified",
        /// It is gone.
        Deleted = "deleted",
    }
}

/// A file that is not part of a checkpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// Its path, relative to the workspace.
    pub path: String,
    /// Why not.
    pub why: LeftOutWhy,
}

names! {
    /// Why a file is not part of a checkpoint.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum LeftOutWhy {
        /// The project's own rules ignore it.
        Ignored = "ignored",
        /// It is too big.
        TooBig = "too_big",
        /// It holds, or may hold, secrets.
        Secret = "secret",
        /// It can't be read, or is no plain file.
        Other = "other",
    }
}

/// How far putting files back is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FilesBack {
    /// Files that are as they should be by now.
    pub done: u64,
    /// Files that are to be put back.
    pub total: u64,
}

/// The conversation, the files or both went back to an earlier point. Nothing is deleted: events
/// between `to` and this one are in the log and no longer count for the conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Rewind {
    /// The last event that still counts.
    pub to: Seq,
    /// The message that the session went back to before.
    pub message_id: MessageId,
    /// Whether the conversation went back.
    pub conversation: bool,
    /// The state that the files were to be put into; absent when they were left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<String>,
    /// The state of the files before that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo: Option<String>,
    /// The state of the files after that, where some may have been left; absent in logs that are older than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// The rewind that this one takes back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undoes: Option<Seq>,
    /// The files of which changes were put back, where not all files were; 200 at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reverted: Vec<FileReverted>,
    /// How many files were put back.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub changed: u64,
    /// How many of those were deleted, as there were none of them then.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub deleted: u64,
    /// Whether files were replaced or deleted that somebody else than the session had changed.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub over_others: bool,
    /// Who went back; absent in logs that are older than this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Actor>,
}

/// A file of which changes were put back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileReverted {
    /// Its path, relative to the workspace.
    pub path: String,
    /// How many of its changes; absent when all of it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<u64>,
}

names! {
    /// What goes back to an earlier point.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum RewindWhat {
        /// What was said; files stay as they are.
        Conversation = "conversation",
        /// The files of the workspace; what was said stays.
        Files = "files",
        /// Both.
        Both = "both",
    }
}

impl RewindWhat {
    /// Whether the conversation goes back.
    #[must_use]
    pub fn conversation(self) -> bool {
        match self {
            Self::Conversation | Self::Both => true,
            Self::Files => false,
        }
    }

    /// Whether the files go back.
    #[must_use]
    pub fn files(self) -> bool {
        match self {
            Self::Files | Self::Both => true,
            Self::Conversation => false,
        }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}
