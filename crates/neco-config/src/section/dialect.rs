//! How a provider's chat completions differ from others'.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a provider wants otherwise than others that speak OpenAI chat completions. What is not set
/// stays as it is built in.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DialectSection {
    /// The field that limits the answer's length, such as `max_completion_tokens`.
    pub max_tokens_field: Option<String>,
    /// The field that holds the seed, such as `random_seed`.
    pub seed_field: Option<String>,
    /// Whether `stream_options.include_usage` is understood.
    pub stream_usage: Option<bool>,
    /// Whether `prompt_cache_key` is understood.
    pub prompt_cache_key: Option<bool>,
    /// Whether what is to be cached is marked with `cache_control`, for Claude behind a gateway.
    pub cache_marks: Option<bool>,
    /// How the amount of thought is asked for.
    pub reasoning: Option<ReasoningParameter>,
    /// Which earlier thoughts go back.
    pub reasoning_back: Option<ReasoningBack>,
    /// Whether `<think>` at the beginning of an answer opens a thought.
    pub think_tags: Option<bool>,
    /// Which characters the ids of calls may have.
    pub call_ids: Option<CallIdForm>,
    /// The longest id of a call.
    #[schemars(range(min = 9, max = 1024))]
    pub call_id_length: Option<u32>,
    /// Whether the model must speak between results and what the user says next.
    pub answer_after_results: Option<bool>,
    /// How an answer is held to a form.
    pub output: Option<OutputForm>,
    /// Further fields of every request, each written as JSON: `extra = { reasoning_split = "true" }`.
    pub extra: BTreeMap<String, String>,
}

/// How the amount of thought is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningParameter {
    /// `reasoning_effort: "high"`.
    Effort,
    /// `reasoning: {effort: "high"}`.
    Object,
    /// `thinking: {type: "enabled"}`, with the effort beside it.
    Thinking,
    /// Not at all: the server refuses every such field.
    None,
}

/// Which earlier thoughts go back to the vendor. Thoughts of another provider never do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningBack {
    /// None: the vendor does not know the field, or drops what it holds.
    Never,
    /// All.
    Kept,
    /// All, and a message with calls must have the field even when nothing was thought.
    Required,
}

/// How an answer is held to a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OutputForm {
    /// By its schema.
    Schema,
    /// As some JSON object; the prompt says which.
    Object,
}

/// Which characters the ids of calls may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CallIdForm {
    /// Anything without spaces.
    Text,
    /// Letters, digits, `_` and `-`.
    Words,
    /// Nine letters and digits, no more and no less.
    Nine,
}
