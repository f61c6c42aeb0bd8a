//! Chat completions.

use bytes::Bytes;
use neco_model::{Delta, FinishReason};
use serde_json::{Value, json};

use super::{Spoken, data};

pub(super) fn speak(pieces: &[Delta], message: &str) -> Spoken {
    Spoken {
        events: pieces.iter().enumerate().map(|(at, piece)| event(piece, at == 0)).collect(),
        end: vec![Bytes::from_static(b"data: [DONE]\n\n")],
        error: data(&json!({ "error": { "message": message, "type": "server_error", "code": null } })),
    }
}

/// The first event says who speaks.
fn event(piece: &Delta, is_first: bool) -> Bytes {
    let delta = |delta: Value| json!([{ "index": 0, "delta": delta, "finish_reason": null }]);
    let call = |call: Value| delta(json!({ "tool_calls": [call] }));
    let (choices, usage) = match piece {
        Delta::Text(text) => (delta(json!({ "content": text })), None),
        Delta::Reasoning { text, .. } => (delta(json!({ "reasoning_content": text })), None),
        Delta::CallStart { index, id, name } => {
            let function = json!({ "name": name, "arguments": "" });
            let call = call(match id {
                Some(id) => json!({ "index": index, "id": id, "type": "function", "function": function }),
                None => json!({ "index": index, "type": "function", "function": function }),
            });
            (call, None)
        }
        Delta::CallArguments { index, text } => {
            (call(json!({ "index": index, "function": { "arguments": text } })), None)
        }
        Delta::Usage(usage) => {
            let usage = json!({
                "prompt_tokens": usage.input,
                "completion_tokens": usage.output,
                "total_tokens": usage.input + usage.output,
                "prompt_tokens_details": { "cached_tokens": usage.cache_read },
                "completion_tokens_details": { "reasoning_tokens": usage.reasoning },
            });
            (json!([]), Some(usage))
        }
        Delta::Finish(reason) => (json!([{ "index": 0, "delta": {}, "finish_reason": finish(*reason) }]), None),
        // Not part of any answer on the wire.
        Delta::Begin { .. } | Delta::CallOpaque { .. } | Delta::Retry(_) | Delta::Switch(_) => return Bytes::new(),
    };
    let mut chunk = json!({
        "id": "chatcmpl-script", "object": "chat.completion.chunk", "created": 0, "model": "script", "choices": choices,
    });
    if let Some(delta) = chunk.pointer_mut("/choices/0/delta").filter(|_| is_first)
        && let Value::Object(delta) = delta
    {
        delta.insert("role".to_owned(), "assistant".into());
    }
    if let (Some(usage), Value::Object(fields)) = (usage, &mut chunk) {
        fields.insert("usage".to_owned(), usage);
    }
    data(&chunk)
}

fn finish(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::Stop | FinishReason::Pause => "stop",
        FinishReason::ToolCalls => "tool_calls",
        FinishReason::Length | FinishReason::Bound(_) => "length",
        FinishReason::ContentFilter => "content_filter",
        FinishReason::Refusal => "refusal",
    }
}
