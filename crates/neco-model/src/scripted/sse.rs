//! A script over real HTTP: its turns as a chat completions server would send them.
//!
//! For test and benchmark servers: hold a [`Player`], and answer every request with [`Reply::next`].

use bytes::Bytes;
use serde_json::{Value, json};

use super::faults::{self, ERROR_EVENT, Fault};
use super::play::{Played, Player};
use crate::delta::{Delta, FinishReason};

/// One HTTP answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Reply {
    /// The status.
    pub status: u16,
    /// The headers, the content type among them.
    pub headers: Vec<(String, String)>,
    /// The body, one piece for each event.
    pub pieces: Vec<Bytes>,
    /// Milliseconds before the first piece.
    pub delay_ms: u64,
    /// Milliseconds between pieces.
    pub between_ms: u64,
    /// What comes after the last piece.
    pub end: ReplyEnd,
}

/// What comes after the last piece of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReplyEnd {
    /// It is whole.
    Whole,
    /// The connection breaks.
    Cut,
    /// Nothing, and the connection stays open.
    Stall,
}

impl Reply {
    /// The answer to the next request. What the turn expects is not checked: see [`Played`].
    ///
    /// # Errors
    /// When the script is used up.
    pub fn next(player: &Player) -> Result<Self, String> {
        player.next().map(|played| Self::of(&played))
    }

    /// A turn as an HTTP answer.
    #[must_use]
    pub fn of(played: &Played) -> Self {
        let turn = &played.turn;
        if let Some(Fault::Status { code, retry_after, message }) = &turn.fault {
            return status(*code, *retry_after, message.as_deref());
        }
        let fault_after = turn.fault.as_ref().and_then(Fault::after);
        let sent = played.pieces.iter().take(fault_after.unwrap_or(usize::MAX));
        let mut pieces: Vec<Bytes> = sent.map(event).collect();
        let end = match turn.fault {
            Some(Fault::DropAfter(_)) => ReplyEnd::Cut,
            Some(Fault::StallAfter(_)) => ReplyEnd::Stall,
            Some(Fault::ErrorAfter(_)) => {
                let error = json!({ "error": { "message": ERROR_EVENT, "type": "server_error", "code": null } });
                pieces.push(data(&error.to_string()));
                ReplyEnd::Whole
            }
            Some(Fault::Empty | Fault::Status { .. }) | None => {
                pieces.push(data("[DONE]"));
                ReplyEnd::Whole
            }
        };
        let headers = vec![("content-type".to_owned(), "text/event-stream; charset=utf-8".to_owned())];
        Self { status: 200, headers, pieces, delay_ms: turn.delay_ms, between_ms: turn.between_ms, end }
    }
}

fn status(code: u16, retry_after: Option<f64>, message: Option<&str>) -> Reply {
    let mut headers = vec![("content-type".to_owned(), "application/json".to_owned())];
    for (name, value) in &faults::headers(retry_after) {
        headers.push((name.to_string(), value.to_str().unwrap_or_default().to_owned()));
    }
    let pieces = vec![faults::body(code, message).into()];
    Reply { status: code, headers, pieces, delay_ms: 0, between_ms: 0, end: ReplyEnd::Whole }
}

fn event(piece: &Delta) -> Bytes {
    let delta = |delta: Value| json!({ "choices": [{ "index": 0, "delta": delta, "finish_reason": null }] });
    let call = |call: Value| delta(json!({ "tool_calls": [call] }));
    let chunk = match piece {
        Delta::Text(text) => delta(json!({ "content": text })),
        Delta::Reasoning { text, .. } => delta(json!({ "reasoning_content": text })),
        Delta::CallStart { index, id, name } => {
            let function = json!({ "name": name, "arguments": "" });
            call(match id {
                Some(id) => json!({ "index": index, "id": id, "type": "function", "function": function }),
                None => json!({ "index": index, "type": "function", "function": function }),
            })
        }
        Delta::CallArguments { index, text } => call(json!({ "index": index, "function": { "arguments": text } })),
        Delta::Usage(usage) => json!({ "choices": [], "usage": {
            "prompt_tokens": usage.input,
            "completion_tokens": usage.output,
            "total_tokens": usage.input + usage.output,
            "prompt_tokens_details": { "cached_tokens": usage.cache_read },
            "completion_tokens_details": { "reasoning_tokens": usage.reasoning },
        }}),
        Delta::Finish(reason) => {
            json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": finish(*reason) }] })
        }
        // Not part of any answer on the wire.
        Delta::Begin { .. } | Delta::CallOpaque { .. } | Delta::Retry(_) | Delta::Switch(_) => return Bytes::new(),
    };
    data(&chunk.to_string())
}

fn finish(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::Stop | FinishReason::Pause => "stop",
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::Length => "length",
        FinishReason::ContentFilter => "content_filter",
        FinishReason::Refusal => "refusal",
    }
}

fn data(text: &str) -> Bytes {
    format!("data: {text}\n\n").into()
}
