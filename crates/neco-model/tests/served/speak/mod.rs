//! The pieces of a turn as the events of each wire format, for servers that play a script.
//!
//! Reading order: [`chat`], [`anthropic`], [`responses`], [`gemini`]; each gives the events of the
//! pieces, those of an end where the answer is whole, and an error event.

mod anthropic;
mod chat;
mod gemini;
mod responses;

use bytes::Bytes;
use neco_config::section::ProviderType;
use neco_model::Delta;
use serde_json::Value;

/// How an answer goes on the wire.
pub(super) struct Spoken {
    /// The events of the pieces.
    pub(super) events: Vec<Bytes>,
    /// What says that the answer is whole.
    pub(super) end: Vec<Bytes>,
    /// What says that the vendor failed.
    pub(super) error: Bytes,
}

/// `pieces` in the format of `kind`, with an error event that says `message`. A model that plays a
/// script itself has no format: chat completions stand for it.
pub(super) fn speak(kind: ProviderType, pieces: &[Delta], message: &str) -> Spoken {
    match kind {
        ProviderType::Openai | ProviderType::Scripted => chat::speak(pieces, message),
        ProviderType::Responses => responses::speak(pieces, message),
        ProviderType::Anthropic => anthropic::speak(pieces, message),
        ProviderType::Gemini => gemini::speak(pieces, message),
    }
}

fn data(value: &Value) -> Bytes {
    format!("data: {value}\n\n").into()
}

/// An event under the name that its `type` is.
fn named(value: &Value) -> Bytes {
    let name = value.get("type").and_then(Value::as_str).unwrap_or_default();
    format!("event: {name}\ndata: {value}\n\n").into()
}

/// The tokens that a turn says it used.
fn usage(pieces: &[Delta]) -> neco_proto::Usage {
    let used = pieces.iter().find_map(|piece| if let Delta::Usage(usage) = piece { Some(*usage) } else { None });
    used.unwrap_or_default()
}
