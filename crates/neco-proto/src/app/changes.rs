//! What a session changed, to be reviewed: files, their changes line by line, and what of it a person keeps.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::history::PlaceNote;
use super::request::request;
use crate::event::FileChangeKind;
use crate::line_count::LineCount;

/// Lists the files that are different between two points of a session, as [`DiffSession`](super::history::DiffSession)
/// names points, without their lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListChanges {
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

request!(ListChanges => SessionChanges, "sessions.changes", Get "/sessions/{session}/changes", Read, repeatable);

/// The files that are different between two points of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionChanges {
    /// The files by path; none when nothing changed.
    pub files: Vec<ChangedFile>,
    /// What is to be known of the session's folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<PlaceNote>,
}

/// A file that is different.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangedFile {
    /// Its path, relative to the workspace.
    pub path: String,
    /// What happened to it.
    pub kind: FileChangeKind,
    /// Whether it has no lines that could be compared.
    #[serde(default)]
    pub binary: bool,
    /// Lines added.
    #[serde(default)]
    pub added: u64,
    /// Lines removed.
    #[serde(default)]
    pub removed: u64,
    /// Whether no turn of the session changed it, but somebody else did meanwhile.
    #[serde(default)]
    pub by_others: bool,
    /// The lines of it that the session's work added and removed, where somebody else changed it too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<LineCount>,
    /// How many lines of it somebody else changed since the session's work ended.
    #[serde(default)]
    pub since: u64,
    /// A name for exactly this change of this file: another content has another one.
    pub mark: String,
    /// Whether a person keeps all of it.
    #[serde(default)]
    pub kept: bool,
    /// How many changes it has.
    #[serde(default)]
    pub hunks: u64,
    /// How many of them a person keeps.
    #[serde(default)]
    pub hunks_kept: u64,
    /// The names of the agents that edited it, as far as their calls say so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<String>,
    /// The numbers of the messages that it was edited because of, as far as calls say so.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub messages: Vec<u64>,
}

/// Shows how one file is different between two points of a session, change by change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowChange {
    /// The session, by the beginning of its id.
    pub session: String,
    /// The folder that is worked in.
    pub folder: String,
    /// The file, relative to the workspace.
    pub path: String,
    /// The earlier point; the first message when none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The later point; now when none is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

request!(ShowChange => FileChanges, "sessions.change", Get "/sessions/{session}/changes/file", Read, repeatable);

/// How one file is different, change by change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChanges {
    /// Its path, relative to the workspace.
    pub path: String,
    /// What happened to it.
    pub kind: FileChangeKind,
    /// Whether it has no lines that could be compared.
    #[serde(default)]
    pub binary: bool,
    /// A name for exactly this change of this file, as in [`ChangedFile`].
    pub mark: String,
    /// Whether a person keeps all of it.
    #[serde(default)]
    pub kept: bool,
    /// How many lines it had.
    #[serde(default)]
    pub lines_before: u64,
    /// How many lines it has.
    #[serde(default)]
    pub lines_after: u64,
    /// The changes, first to last.
    #[serde(default)]
    pub hunks: Vec<Hunk>,
    /// Whether lines are left out because there are too many.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

/// A change of a file, with the lines around it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Hunk {
    /// A name for exactly this change, wherever in the file it stands; empty where not all of it is shown, so that it can't
    /// be kept or put back by itself.
    pub id: String,
    /// Whether a person keeps it.
    #[serde(default)]
    pub kept: bool,
    /// The number that its first line had, from 1.
    pub before: u64,
    /// The number that its first line has, from 1.
    pub after: u64,
    /// What it stands in, such as the head of a function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading: Option<String>,
    /// Its lines.
    pub lines: Vec<HunkLine>,
}

/// A line of a change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HunkLine {
    /// What happened to it.
    pub kind: LineChange,
    /// What stands in it, without its end.
    pub text: String,
    /// Whether the file ends with it, and without a line break.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unended: bool,
    /// The words of it that are different, each from and to which UTF-16 unit; none where the whole line is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<[u32; 2]>,
}

/// What happened to a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LineChange {
    /// It stayed.
    Same,
    /// It went.
    Removed,
    /// It came.
    Added,
    /// Something that only a newer version knows.
    #[serde(other)]
    Other,
}

/// Notes that a person keeps changes of a session, or takes that back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct KeepChanges {
    /// The session, by the beginning of its id.
    pub session: String,
    /// The folder that is worked in.
    pub folder: String,
    /// The marks of files, and the ids of changes.
    pub marks: Vec<String>,
    /// Whether they are kept.
    pub kept: bool,
    /// What is kept from now on although `marks` are not: the other changes of a file that was kept as a whole.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub instead: Vec<String>,
}

request!(KeepChanges => KeptChanges, "sessions.keep", Put "/sessions/{session}/review", Work, repeatable);

/// What a person keeps of a session's changes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KeptChanges {
    /// The marks of files, and the ids of changes.
    pub kept: Vec<String>,
}
