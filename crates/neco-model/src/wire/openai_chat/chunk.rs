//! What arrives: one event of a stream, or a whole answer.

use neco_proto::Usage;
use serde::Deserialize;
use serde_json::Value;

use crate::wire::counts::dollars;
use crate::wire::loose::{Loose, or_default, or_ignored};

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Chunk<'a> {
    #[serde(deserialize_with = "or_default")]
    pub choices: Vec<Choice<'a>>,
    #[serde(deserialize_with = "or_ignored")]
    pub usage: Option<Counts<'a>>,
    #[serde(deserialize_with = "or_ignored")]
    pub x_groq: Option<Groq<'a>>,
    pub error: Option<Value>,
    pub object: Loose<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Groq<'a> {
    #[serde(deserialize_with = "or_ignored")]
    pub usage: Option<Counts<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Choice<'a> {
    pub index: Loose<'a>,
    #[serde(deserialize_with = "or_default")]
    pub delta: Piece<'a>,
    /// In an answer that is not streamed.
    #[serde(deserialize_with = "or_default")]
    pub message: Option<Piece<'a>>,
    pub finish_reason: Loose<'a>,
    #[serde(deserialize_with = "or_ignored")]
    pub usage: Option<Counts<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Piece<'a> {
    /// A text, or parts of which some are thoughts.
    pub content: Loose<'a>,
    pub reasoning_content: Loose<'a>,
    pub reasoning: Loose<'a>,
    #[serde(deserialize_with = "or_default")]
    pub reasoning_details: Vec<Value>,
    pub refusal: Loose<'a>,
    #[serde(deserialize_with = "or_default")]
    pub tool_calls: Vec<CallPiece<'a>>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct CallPiece<'a> {
    pub index: Loose<'a>,
    pub id: Loose<'a>,
    #[serde(deserialize_with = "or_default")]
    pub function: FunctionPiece<'a>,
    /// What Gemini behind this format wants back with the call.
    pub extra_content: Loose<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct FunctionPiece<'a> {
    pub name: Loose<'a>,
    /// Text, or the object itself from servers that parsed it.
    pub arguments: Loose<'a>,
}

/// Token counts under all the names vendors have for them.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Counts<'a> {
    pub prompt_tokens: Loose<'a>,
    pub completion_tokens: Loose<'a>,
    pub total_tokens: Loose<'a>,
    #[serde(deserialize_with = "or_ignored")]
    pub prompt_tokens_details: PromptDetails<'a>,
    #[serde(deserialize_with = "or_ignored")]
    pub completion_tokens_details: CompletionDetails<'a>,
    pub prompt_cache_hit_tokens: Loose<'a>,
    pub cached_tokens: Loose<'a>,
    pub cost: Option<Value>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct PromptDetails<'a> {
    pub cached_tokens: Loose<'a>,
    pub cache_write_tokens: Loose<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct CompletionDetails<'a> {
    pub reasoning_tokens: Loose<'a>,
}

impl Counts<'_> {
    pub(super) fn usage(&self) -> Usage {
        let cached = [&self.prompt_tokens_details.cached_tokens, &self.prompt_cache_hit_tokens, &self.cached_tokens];
        let count = |field: &Loose<'_>| field.tokens().unwrap_or(0);
        let (input, written) = (count(&self.prompt_tokens), count(&self.completion_tokens));
        let reasoning = count(&self.completion_tokens_details.reasoning_tokens);
        // Some count thoughts apart from the answer; their total tells.
        let apart = reasoning > 0
            && self.total_tokens.number() == input.checked_add(written).and_then(|sum| sum.checked_add(reasoning));
        let output = if apart { written.saturating_add(reasoning) } else { written };
        Usage {
            input,
            output,
            cache_read: cached.into_iter().find_map(Loose::tokens).unwrap_or(0),
            cache_write: self.prompt_tokens_details.cache_write_tokens.tokens().unwrap_or(0),
            reasoning,
            cost: dollars(self.cost.as_ref()),
            ..Usage::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thoughts_that_are_counted_apart_are_output_too() {
        let output = |total: u64| {
            let counts = serde_json::json!({
                "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": total,
                "completion_tokens_details": { "reasoning_tokens": 15 },
            })
            .to_string();
            let usage = serde_json::from_str::<Counts<'_>>(&counts).unwrap().usage();
            (usage.output, usage.reasoning)
        };
        assert_eq!(output(135), (35, 15));
        assert_eq!(output(120), (20, 15));
    }
}
