//! Payloads about one turn: what the model says and what that costs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error_code::ErrorCode;
use crate::ids::CallId;
use crate::message::Message;
use crate::mode::names;
use crate::usage::Usage;

/// An iteration of the loop begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnStart {
    /// From 1, counted since the last user message.
    pub iteration: u32,
    /// The model or group that is asked.
    pub model: String,
}

/// A piece of text.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct StreamChunk {
    /// The text.
    pub text: String,
}

/// The model begins to write a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallStart {
    /// Position among the calls of this turn.
    pub index: u32,
    /// The id the call will keep.
    pub call_id: CallId,
    /// The tool's own name, as in every later event of the call; what the model wrote where there is no such tool.
    pub name: String,
}

/// The model wrote a part of a call's arguments.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCallDelta {
    /// The call.
    pub call_id: CallId,
    /// The next piece of the arguments' JSON text.
    pub partial_args: String,
}

/// A model call failed and will be tried again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelRetry {
    /// Which attempt comes next, from 2.
    pub attempt: u32,
    /// How many attempts there are at most; 0 when nobody said.
    #[serde(default)]
    pub attempts: u32,
    /// What is tried again: `provider/model`, with the number of the key where there are several.
    #[serde(default)]
    pub model: String,
    /// How long is waited before it.
    pub wait_ms: u64,
    /// Why the last one failed.
    pub code: ErrorCode,
    /// The same for a person.
    pub message: String,
    /// Whether text and calls streamed so far in this turn are void.
    pub discards: bool,
}

/// Another key or another model of the group takes over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ModelSwitch {
    /// What failed: `provider/model`, with the number of the key where there are several.
    pub from: String,
    /// What is tried next.
    pub to: String,
    /// Why.
    pub code: ErrorCode,
    /// The same for a person.
    pub message: String,
    /// Whether text and calls streamed so far in this turn are void.
    pub discards: bool,
}

/// A model call used tokens.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UsageEvent {
    /// `provider/model` that answered.
    pub model: String,
    /// What it used.
    #[serde(flatten)]
    pub usage: Usage,
    /// Tokens that fit into one request and its answer; absent when that is not known. What the
    /// conversation takes of them is `input` and `output` together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_window: Option<u64>,
    /// What it was asked for beside the conversation; absent when an agent asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aside: Option<SidePurpose>,
}

/// The session itself asks a model something beside its agents, or is done with that.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SideCall {
    /// What for.
    pub purpose: SidePurpose,
    /// Whether it is under way; `false` when it is over, whatever came of it.
    pub running: bool,
}

names! {
    /// What a session asks a model for beside its agents.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
    pub enum SidePurpose {
        /// Its title; `sessions.model_title = false` switches that off.
        Title = "title",
        /// What of it is worth remembering; `memory.extract = false` switches that off.
        Memory = "memory",
        /// The order of a search's hits; `context.rerank = true` switches that on.
        Rerank = "rerank",
        /// What an MCP server wants answered; `sampling` of the server says whether it may.
        Sampling = "sampling",
    }
}

impl UsageEvent {
    /// What one call of `model` used. A script has no price, and every other call without one is counted.
    #[must_use]
    pub fn of(model: &str, usage: Usage, scripted: bool) -> Self {
        let unpriced = u32::from(usage.cost.is_none() && !scripted);
        Self { model: model.to_owned(), usage: Usage { unpriced, ..usage }, context_window: None, aside: None }
    }
}

/// An iteration of the loop is over.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TurnEnd {
    /// The same as in its `turn_start`.
    pub iteration: u32,
}

/// When a message that came while the agent works is given to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Admission {
    /// Before the next model call.
    TurnBoundary,
    /// When the present work is done.
    AfterWork,
    /// Not at all: it waited, and the person took it back.
    Withdrawn,
}

/// The person said something while the agent works; told again when they take it back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageQueued {
    /// When it is given to the agent.
    pub when: Admission,
    /// What was said.
    pub message: Message,
}
