//! What a tool shows the person, apart from what it tells the model.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A picture of a call's outcome that any window can draw its own way.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Display {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// Changes to files.
    Diff {
        /// One entry a file.
        files: Vec<Diff>,
    },
    /// A command and what it printed.
    Terminal {
        /// The command line.
        command: String,
        /// The end of its output.
        tail: String,
        /// Its exit code; absent when it was killed or still runs.
        exit_code: Option<i32>,
        /// The name of the background process that it goes on as; absent when it is over.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        background: Option<String>,
    },
    /// A list of things found.
    List {
        /// What the list is of, for its heading.
        title: String,
        /// The entries; may be shorter than `total`.
        items: Vec<String>,
        /// How many there are in all.
        total: u64,
    },
}

/// The change of one file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Diff {
    /// Path relative to the workspace where it lies inside it.
    pub path: String,
    /// The change as a unified diff without file headers.
    pub unified: String,
    /// Lines added.
    pub added: u32,
    /// Lines removed.
    pub removed: u32,
    /// Whether the file is new.
    pub created: bool,
    /// Whether the file is deleted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleted: bool,
}

impl Diff {
    /// The folders in which version control keeps its own: they are in no checkpoint.
    pub const REPOSITORIES: [&'static str; 5] = [".git", ".jj", ".hg", ".svn", ".sl"];

    /// Whether the file lies in one of them, so that no way back changes it.
    #[must_use]
    pub fn is_in_repository(&self) -> bool {
        let is_one = |folder: &str| Self::REPOSITORIES.iter().any(|own| folder.eq_ignore_ascii_case(own));
        self.path.split('/').rev().skip(1).any(is_one)
    }
}
