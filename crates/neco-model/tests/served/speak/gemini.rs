//! Gemini: parts, of which a call comes whole.

use bytes::Bytes;
use neco_model::{Delta, FinishReason};
use serde_json::{Value, json};

use super::{Spoken, data, usage};

pub(super) fn speak(pieces: &[Delta], message: &str) -> Spoken {
    let used = usage(pieces);
    let mut parts = Parts::default();
    for piece in pieces {
        parts.piece(piece);
        if let Delta::Finish(reason) = piece {
            parts.events.push(data(&json!({
                "candidates": [{ "content": { "role": "model", "parts": [] }, "finishReason": finish(*reason), "index": 0 }],
                "usageMetadata": {
                    "promptTokenCount": used.input,
                    "cachedContentTokenCount": used.cache_read,
                    "candidatesTokenCount": used.output.saturating_sub(used.reasoning),
                    "thoughtsTokenCount": used.reasoning,
                    "totalTokenCount": used.input + used.output,
                },
                "modelVersion": "script",
            })));
        }
    }
    let error = json!({ "error": { "code": 500, "message": message, "status": "INTERNAL" } });
    Spoken { events: parts.events, end: Vec::new(), error: data(&error) }
}

#[derive(Default)]
struct Parts {
    events: Vec<Bytes>,
    /// Name, id and arguments of the call that is being written.
    call: Option<(String, Option<String>, String)>,
}

impl Parts {
    fn piece(&mut self, piece: &Delta) {
        match piece {
            Delta::CallArguments { text, .. } => {
                if let Some((_, _, arguments)) = &mut self.call {
                    arguments.push_str(text);
                }
                return;
            }
            Delta::Text(_)
            | Delta::Reasoning { .. }
            | Delta::CallStart { .. }
            | Delta::CallOpaque { .. }
            | Delta::Usage(_)
            | Delta::Finish(_)
            | Delta::Begin { .. }
            | Delta::Retry(_)
            | Delta::Switch(_) => self.end_call(),
        }
        match piece {
            Delta::Text(text) => self.add(json!({ "text": text })),
            Delta::Reasoning { text, .. } => self.add(json!({ "text": text, "thought": true })),
            Delta::CallStart { id, name, .. } => self.call = Some((name.clone(), id.clone(), String::new())),
            Delta::CallArguments { .. }
            | Delta::CallOpaque { .. }
            | Delta::Usage(_)
            | Delta::Finish(_)
            | Delta::Begin { .. }
            | Delta::Retry(_)
            | Delta::Switch(_) => {}
        }
    }

    fn end_call(&mut self) {
        let Some((name, id, arguments)) = self.call.take() else { return };
        let arguments: Value = serde_json::from_str(&arguments).unwrap_or_else(|_| json!({}));
        self.add(json!({ "functionCall": match id {
            Some(id) => json!({ "name": name, "args": arguments, "id": id }),
            None => json!({ "name": name, "args": arguments }),
        }}));
    }

    fn add(&mut self, part: Value) {
        let candidate = json!({ "content": { "role": "model", "parts": [part] }, "index": 0 });
        self.events.push(data(&json!({ "candidates": [candidate], "modelVersion": "script" })));
    }
}

fn finish(reason: FinishReason) -> &'static str {
    match reason {
        FinishReason::Stop | FinishReason::ToolCalls | FinishReason::Pause => "STOP",
        FinishReason::Length | FinishReason::Bound(_) => "MAX_TOKENS",
        FinishReason::ContentFilter | FinishReason::Refusal => "SAFETY",
    }
}
