//! What arrives: one event of a stream, or a whole answer.

use neco_proto::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::wire::loose::{Loose, or_default, or_ignored};

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Chunk<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    pub candidates: Vec<Candidate<'a>>,
    #[serde(borrow, deserialize_with = "or_default")]
    pub prompt_feedback: Feedback<'a>,
    #[serde(borrow, deserialize_with = "or_ignored")]
    pub usage_metadata: Option<Counts<'a>>,
    #[serde(borrow)]
    pub error: Option<&'a RawValue>,
}

#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Candidate<'a> {
    #[serde(borrow)]
    pub index: Loose<'a>,
    #[serde(borrow, deserialize_with = "or_default")]
    pub content: Content<'a>,
    #[serde(borrow)]
    pub finish_reason: Loose<'a>,
    #[serde(borrow)]
    pub finish_message: Loose<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Content<'a> {
    #[serde(borrow, deserialize_with = "or_default")]
    pub parts: Vec<Piece<'a>>,
}

/// A part of the answer. One that has nothing of this is of a kind that is skipped.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Piece<'a> {
    #[serde(borrow)]
    pub text: Loose<'a>,
    /// A truth value, whatever type a server in between gives it.
    #[serde(borrow)]
    pub thought: Option<&'a RawValue>,
    #[serde(borrow)]
    pub thought_signature: Loose<'a>,
    #[serde(borrow)]
    pub function_call: Option<FunctionCall<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct FunctionCall<'a> {
    #[serde(borrow)]
    pub id: Loose<'a>,
    #[serde(borrow)]
    pub name: Loose<'a>,
    #[serde(borrow)]
    pub args: Option<&'a RawValue>,
}

impl Piece<'_> {
    pub(super) fn is_thought(&self) -> bool {
        self.thought.is_some_and(|value| !["false", "null", "0", "\"\"", "\"false\""].contains(&value.get()))
    }
}

/// What is said of the question rather than answered.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Feedback<'a> {
    #[serde(borrow)]
    pub block_reason: Loose<'a>,
}

/// Token counts.
#[derive(Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub(super) struct Counts<'a> {
    #[serde(borrow)]
    prompt_token_count: Loose<'a>,
    #[serde(borrow)]
    tool_use_prompt_token_count: Loose<'a>,
    #[serde(borrow)]
    cached_content_token_count: Loose<'a>,
    #[serde(borrow)]
    candidates_token_count: Loose<'a>,
    #[serde(borrow)]
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
