//! What arrives: one event of a stream, or a whole answer.

use neco_proto::Usage;
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::wire::loose::{Loose, or_default, or_ignored};

/// One event. Only its `type` says what the other fields are.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Happening<'a> {
    #[serde(rename = "type")]
    pub kind: Loose<'a>,
    pub index: Loose<'a>,
    #[serde(deserialize_with = "or_ignored")]
    pub message: Whole<'a>,
    #[serde(deserialize_with = "or_ignored")]
    pub content_block: Block<'a>,
    #[serde(deserialize_with = "or_ignored")]
    pub delta: Piece<'a>,
    #[serde(deserialize_with = "or_ignored")]
    pub usage: Counts<'a>,
}

/// A whole answer, or its empty beginning.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Whole<'a> {
    #[serde(rename = "type")]
    pub kind: Loose<'a>,
    #[serde(deserialize_with = "or_default")]
    pub content: Vec<Block<'a>>,
    pub stop_reason: Loose<'a>,
    #[serde(deserialize_with = "or_ignored")]
    pub usage: Counts<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Block<'a> {
    #[serde(rename = "type")]
    pub kind: Loose<'a>,
    pub text: Loose<'a>,
    pub thinking: Loose<'a>,
    pub signature: Loose<'a>,
    pub data: Loose<'a>,
    pub id: Loose<'a>,
    pub name: Loose<'a>,
    #[serde(deserialize_with = "or_ignored")]
    pub input: Map<String, Value>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Piece<'a> {
    #[serde(rename = "type")]
    pub kind: Loose<'a>,
    pub text: Loose<'a>,
    pub thinking: Loose<'a>,
    pub signature: Loose<'a>,
    pub partial_json: Loose<'a>,
    pub stop_reason: Loose<'a>,
}

/// Token counts; those of a later event replace the earlier ones, and what it leaves out stays.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Counts<'a> {
    input_tokens: Loose<'a>,
    output_tokens: Loose<'a>,
    cache_read_input_tokens: Loose<'a>,
    cache_creation_input_tokens: Loose<'a>,
}

/// The counts so far. The vendor's input is what neither was in the cache nor went into it.
#[derive(Default)]
pub(super) struct Tally {
    fresh: u64,
    output: u64,
    cache_read: u64,
    cache_write: u64,
    seen: bool,
}

impl Tally {
    pub(super) fn add(&mut self, counts: &Counts<'_>) {
        for (count, new) in [
            (&mut self.fresh, &counts.input_tokens),
            (&mut self.output, &counts.output_tokens),
            (&mut self.cache_read, &counts.cache_read_input_tokens),
            (&mut self.cache_write, &counts.cache_creation_input_tokens),
        ] {
            if let Some(new) = new.tokens() {
                self.seen = true;
                // Servers in between fill what they do not know with zeros.
                *count = if new > 0 { new } else { *count };
            }
        }
    }

    pub(super) fn usage(&self) -> Option<Usage> {
        let Self { fresh, output, cache_read, cache_write, seen } = *self;
        let input = fresh.saturating_add(cache_read).saturating_add(cache_write);
        seen.then(|| Usage { input, output, cache_read, cache_write, ..Usage::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_another_form_hide_nothing() {
        for event in [
            r#"{"type":"error","message":"prompt is too long"}"#,
            r#"{"type":"content_block_start","content_block":{"type":"tool_use","name":"a","input":""}}"#,
            r#"{"type":"message_delta","delta":[],"usage":"none"}"#,
        ] {
            let happening: Happening<'_> = serde_json::from_str(event).unwrap();
            assert!(!happening.kind.text().is_empty(), "{event}");
        }
    }

    #[test]
    fn a_later_zero_erases_nothing() {
        let mut tally = Tally::default();
        for counts in [r#"{"input_tokens":100,"output_tokens":1}"#, r#"{"input_tokens":0,"output_tokens":20}"#] {
            tally.add(&serde_json::from_str(counts).unwrap());
        }
        assert_eq!(tally.usage().map(|usage| (usage.input, usage.output)), Some((100, 20)));
        assert!(Tally::default().usage().is_none());
    }
}
