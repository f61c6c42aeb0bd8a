//! What a person has open in an editor.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a person has open in an editor. Lines are counted from 1.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IdeContext {
    /// The file that is worked in; relative to the workspace where it lies inside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_file: Option<String>,
    /// The line of the cursor in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor_line: Option<u32>,
    /// What is selected in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<Selection>,
    /// Other files that are open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open_files: Vec<String>,
}

/// Selected lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Selection {
    /// The first line.
    pub first_line: u32,
    /// The last line.
    pub last_line: u32,
    /// The selected text.
    pub text: String,
}
