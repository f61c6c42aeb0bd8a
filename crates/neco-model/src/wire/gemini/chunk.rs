//! What arrives: one event of a stream, or a whole answer.

use neco_proto::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::wire::loose::{Loose, or_default, or_ignored};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct Chunk<'a> {
    #[serde(deserialize_with = "or_default")]
    pub candidates: Vec<Candidate<'a>>,
    #[serde(deserialize_with = "or_default")]
    pub prompt_feedback: Feedback<'a>,
    #[serde(deserialize_with = "or_ignored")]
    pub usage_metadata: Option<Counts<'a>>,
    pub error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct Candidate<'a> {
    pub index: Loose<'a>,
    #[serde(deserialize_with = "or_default")]
    pub content: Content<'a>,
    pub finish_reason: Loose<'a>,
    pub finish_message: Loose<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Content<'a> {
    #[serde(deserialize_with = "or_default")]
    pub parts: Vec<Piece<'a>>,
}

/// A part of the answer. One that has nothing of this is of a kind that is skipped.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct Piece<'a> {
    pub text: Loose<'a>,
    /// A truth value, whatever type a server in between gives it.
    pub thought: Option<&'a RawValue>,
    pub thought_signature: Loose<'a>,
    pub function_call: Option<FunctionCall<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct FunctionCall<'a> {
    pub id: Loose<'a>,
    pub name: Loose<'a>,
    pub args: Option<&'a RawValue>,
}

impl Piece<'_> {
    pub(super) fn is_thought(&self) -> bool {
        self.thought.is_some_and(|value| !["false", "null", "0", "\"\"", "\"false\""].contains(&value.get()))
    }
}

/// What is said of the question rather than answered.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct Feedback<'a> {
    pub block_reason: Loose<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub(super) struct Counts<'a> {
    prompt_token_count: Loose<'a>,
    tool_use_prompt_token_count: Loose<'a>,
    cached_content_token_count: Loose<'a>,
    candidates_token_count: Loose<'a>,
    thoughts_token_count: Loose<'a>,
}

impl Counts<'_> {
    pub(super) fn usage(&self) -> Usage {
        let count = |field: &Loose<'_>| field.tokens().unwrap_or(0);
        let thoughts = count(&self.thoughts_token_count);
        Usage {
            input: count(&self.prompt_token_count).saturating_add(count(&self.tool_use_prompt_token_count)),
            // Thoughts are counted apart from the answer.
            output: count(&self.candidates_token_count).saturating_add(thoughts),
            cache_read: count(&self.cached_content_token_count),
            cache_write: 0,
            reasoning: thoughts,
            ..Usage::default()
        }
    }
}
