//! How the servers that speak this format differ.

use serde::Deserialize;
use serde_json::{Map, Value};

use crate::adapt::CallIds;

/// What one provider wants otherwise than the rest.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dialect {
    /// The field that limits the answer's length.
    pub max_tokens_field: String,
    /// Whether `stream_options.include_usage` is understood.
    pub stream_usage: bool,
    /// Whether `prompt_cache_key` is understood.
    pub prompt_cache_key: bool,
    /// How the amount of thought is asked for.
    pub reasoning: ReasoningParameter,
    /// Which earlier thoughts go back.
    pub reasoning_back: ReasoningBack,
    /// Which ids of calls are accepted.
    pub call_ids: CallIds,
    /// Whether the model must speak between results and what the user says next.
    pub answer_after_results: bool,
    /// Whether headers say who asks (the user, or the agent that goes on by itself) and that there
    /// are pictures: GitHub Copilot charges for what the user asks.
    pub initiator: bool,
    /// How an answer is held to a form.
    pub output: OutputForm,
    /// Further fields of every request.
    pub extra: Map<String, Value>,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            max_tokens_field: "max_tokens".to_owned(),
            stream_usage: true,
            prompt_cache_key: false,
            reasoning: ReasoningParameter::Effort,
            reasoning_back: ReasoningBack::Never,
            call_ids: CallIds::Text(128),
            answer_after_results: false,
            initiator: false,
            output: OutputForm::Schema,
            extra: Map::new(),
        }
    }
}

/// How the amount of thought is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningParameter {
    /// `reasoning_effort: "high"`.
    Effort,
    /// `reasoning: {effort: "high"}`.
    Object,
    /// `thinking: {type: "enabled"}`, with the effort beside it.
    Thinking,
}

/// How an answer is held to a form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OutputForm {
    /// By its schema.
    Schema,
    /// As some JSON object; the prompt says which.
    Object,
}

/// Which earlier thoughts go back to the vendor. Thoughts of another provider never do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReasoningBack {
    /// None: the vendor does not know the field, or drops what it holds.
    Never,
    /// All.
    Kept,
    /// All, and a message with calls must have the field even when nothing was thought: DeepSeek
    /// refuses a conversation in which one lacks it.
    Required,
}
