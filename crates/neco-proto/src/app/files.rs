//! The files of a folder, as people name them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::request::request;

/// Lists the files and folders below a folder, what git ignores left out; as many as there are in a few seconds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ListFiles {
    /// The folder.
    pub folder: String,
}

request!(ListFiles => FileList, "files.list", Get "/files", Read, repeatable);

/// Names of files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileList {
    /// The names, in their order; those of folders end with a slash.
    pub names: Vec<String>,
}

/// Reads text of a file of a session's folder, a megabyte at a time at most. What may hold secrets is not read, nor what a
/// rule closes or what lies elsewhere.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ReadText {
    /// The folder, which a session works in.
    pub folder: String,
    /// The file, from the folder on.
    pub path: String,
    /// The first byte; the first of the file when neither this nor a line is named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
    /// The first line, from 1, in place of the first byte.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// So many lines at most.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<u64>,
}

impl ReadText {
    /// Most bytes that are read at once.
    pub const MOST: u64 = 1 << 20;
}

request!(ReadText => TextPiece, "files.read", Get "/files/text", Read, repeatable);

/// A piece of a text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TextPiece {
    /// The text: whole lines, unless one is longer than a piece; `[redacted: …]` stands for what looks like a secret. Nothing where
    /// it is no text.
    pub text: String,
    /// Whether the file is no text.
    #[serde(default)]
    pub binary: bool,
    /// The number of the first line of the piece, from 1.
    pub line: u64,
    /// Where in the file the piece begins, in bytes.
    pub start: u64,
    /// Where it ends: what follows begins there.
    pub end: u64,
    /// How many bytes the file has.
    pub total: u64,
}

/// Tells the branch that a folder is on.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowBranch {
    /// The folder.
    pub folder: String,
}

request!(ShowBranch => Branch, "files.branch", Get "/files/branch", Read, repeatable);

/// Where a repository stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Branch {
    /// The branch, or the commit in brackets; none where there is no repository.
    pub name: Option<String>,
}
