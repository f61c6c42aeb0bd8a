//! What arrives: one event of a stream, or the whole response.
//!
//! Items and responses are read only where they matter: most events that carry a response repeat
//! the request in it.

use neco_proto::Usage;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::wire::loose::{Loose, or_default, or_ignored};

/// One event.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Happening<'a> {
    #[serde(borrow, rename = "type")]
    pub kind: Loose<'a>,
    #[serde(borrow)]
    pub delta: Loose<'a>,
    #[serde(borrow)]
    pub output_index: Loose<'a>,
    #[serde(borrow)]
    pub item_id: Loose<'a>,
    #[serde(borrow)]
    pub item: Option<&'a RawValue>,
    #[serde(borrow)]
    pub response: Option<&'a RawValue>,
    #[serde(borrow)]
    pub error: Option<&'a RawValue>,
}

/// A response that ended in one way or another.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Response<'a> {
    #[serde(borrow)]
    pub status: Loose<'a>,
    #[serde(borrow)]
    pub error: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "or_default")]
    pub incomplete_details: Incomplete<'a>,
    #[serde(borrow)]
    pub output: Option<&'a RawValue>,
    #[serde(borrow, deserialize_with = "or_ignored")]
    pub usage: Option<Counts<'a>>,
}

/// Why a response is not complete.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Incomplete<'a> {
    #[serde(borrow)]
    pub reason: Loose<'a>,
}

/// Token counts.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Counts<'a> {
    #[serde(borrow)]
    input_tokens: Loose<'a>,
    #[serde(borrow, deserialize_with = "or_ignored")]
    input_tokens_details: InputDetails<'a>,
    #[serde(borrow)]
    output_tokens: Loose<'a>,
    #[serde(borrow, deserialize_with = "or_ignored")]
    output_tokens_details: OutputDetails<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct InputDetails<'a> {
    #[serde(borrow)]
    cached_tokens: Loose<'a>,
    #[serde(borrow)]
    cache_write_tokens: Loose<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct OutputDetails<'a> {
    #[serde(borrow)]
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
