//! Payloads about tool calls.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::display::Display;
use crate::error_code::ErrorCode;
use crate::ids::CallId;
use crate::mode::names;
use crate::origin::ToolOrigin;
use crate::result_part::ResultPart;

names! {
    /// Where a call is in its life.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum CallStatus {
        /// Name and arguments are being checked.
        Validating = "validating",
        /// It waits for the calls before it.
        Scheduled = "scheduled",
        /// It waits for a person.
        AwaitingApproval = "awaiting_approval",
        /// It runs. For a call that writes or runs something this is durable before it starts.
        Executing = "executing",
        /// It is over and did what it should.
        Success = "success",
        /// It is over and did not.
        Error = "error",
        /// It was stopped.
        Cancelled = "cancelled",
    }
}

/// A call went from one state to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallUpdate {
    /// The call.
    pub call_id: CallId,
    /// The tool's own name, aliases resolved.
    pub tool: String,
    /// Where the tool comes from; absent for what comes with the program.
    #[serde(default, skip_serializing_if = "ToolOrigin::is_built_in")]
    pub origin: ToolOrigin,
    /// Its new state.
    pub status: CallStatus,
    /// The call in one line, such as `Edit src/a.rs`.
    pub summary: String,
}

/// Which of a process's outputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputStream {
    /// Both merged in the order they were written, or what a tool has to say itself.
    Output,
    /// A note of the harness, such as that live output was thinned out.
    Note,
}

/// A running tool printed something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolOutputChunk {
    /// The call.
    pub call_id: CallId,
    /// Where it came from.
    pub stream: OutputStream,
    /// The text.
    pub text: String,
}

/// A call is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallEnd {
    /// The call.
    pub call_id: CallId,
    /// The tool's own name.
    pub tool: String,
    /// Where the tool comes from; absent for what comes with the program.
    #[serde(default, skip_serializing_if = "ToolOrigin::is_built_in")]
    pub origin: ToolOrigin,
    /// The call in one line.
    pub summary: String,
    /// `success`, `error` or `cancelled`.
    pub status: CallStatus,
    /// The text that the model gets.
    pub output: String,
    /// What it gave that is more than text.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<ResultPart>,
    /// Why it failed; absent on success.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error_code: Option<ErrorCode>,
    /// What `output` advises the model alone to do, behind a semicolon: people are shown the error without it. Absent in
    /// older logs, which show it whole.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
    /// The agent that it started, by its name: it goes on by itself, or has ended with the call. Absent in older logs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// How long it ran.
    pub duration_ms: u64,
    /// What the person sees.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub display: Option<Display>,
    /// The file that holds all of an output that was too big, readable with `read_file`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spilled_to: Option<String>,
    /// What the model knows of files by this call, so that a session that goes on need not read them again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<KnownFile>,
}

impl ToolCallEnd {
    /// What stands before the person's own words in the output of a call that they refused.
    pub const SAID: &str = " and said: ";

    /// What the person said with their no, in the words of a call that they refused.
    #[must_use]
    pub fn said_in(words: &str) -> Option<&str> {
        words.split_once(Self::SAID).map(|(_, said)| said)
    }

    /// What the tool itself says at the end of its output, in brackets; without the advice behind it.
    #[must_use]
    pub fn last_note(&self) -> Option<&str> {
        let note = self.output.lines().next_back()?.strip_prefix('[')?.trim_end_matches(']');
        Some(note.split_once("; ").map_or(note, |(what, _)| what))
    }
}

/// All that the model knows of one file: what was in it, and how much of that it was shown.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct KnownFile {
    /// Where it lies; relative to the workspace inside it.
    pub path: String,
    /// SHA-256 of its content, in hex.
    pub sha256: String,
    /// The lines that were shown, in order, each stretch as its first line and the one after its last, from 1;
    /// absent when all of it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lines: Option<Vec<(u64, u64)>>,
    /// How many lines there are, where only some were shown and that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<u64>,
}
