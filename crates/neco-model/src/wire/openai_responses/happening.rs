//! What arrives: one event of a stream, or the whole response.
//!
//! Items and responses are read only where they matter: most events that carry a response repeat
//! the request in it.

use neco_proto::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::wire::loose::{Loose, or_default, or_ignored};

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Happening<'a> {
    #[serde(rename = "type")]
    pub kind: Loose<'a>,
    pub delta: Loose<'a>,
    pub output_index: Loose<'a>,
    pub item_id: Loose<'a>,
    pub item: Option<&'a RawValue>,
    pub response: Option<&'a RawValue>,
    pub error: Option<&'a RawValue>,
}

/// A response that ended in one way or another.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Response<'a> {
    pub status: Loose<'a>,
    pub error: Option<&'a RawValue>,
    #[serde(deserialize_with = "or_default")]
    pub incomplete_details: Incomplete<'a>,
    pub output: Option<&'a RawValue>,
    #[serde(deserialize_with = "or_ignored")]
    pub usage: Option<Counts<'a>>,
}

/// Why a response is not complete.
#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Incomplete<'a> {
    pub reason: Loose<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub(super) struct Counts<'a> {
    input_tokens: Loose<'a>,
    #[serde(deserialize_with = "or_ignored")]
    input_tokens_details: InputDetails<'a>,
    output_tokens: Loose<'a>,
    #[serde(deserialize_with = "or_ignored")]
    output_tokens_details: OutputDetails<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct InputDetails<'a> {
    cached_tokens: Loose<'a>,
    cache_write_tokens: Loose<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct OutputDetails<'a> {
    reasoning_tokens: Loose<'a>,
}

impl Counts<'_> {
    pub(super) fn usage(&self) -> Usage {
        let count = |field: &Loose<'_>| field.tokens().unwrap_or(0);
        Usage {
            input: count(&self.input_tokens),
            output: count(&self.output_tokens),
            cache_read: count(&self.input_tokens_details.cached_tokens),
            cache_write: count(&self.input_tokens_details.cache_write_tokens),
            reasoning: count(&self.output_tokens_details.reasoning_tokens),
            ..Usage::default()
        }
    }
}
