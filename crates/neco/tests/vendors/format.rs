//! The four formats as their vendors write them, piece by piece.

use serde_json::{Value, json};

/// A format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    Openai,
    Responses,
    Anthropic,
    Gemini,
}

pub const ALL: [Format; 4] = [Format::Openai, Format::Responses, Format::Anthropic, Format::Gemini];

/// One piece of an answer.
#[derive(Clone, Copy, Debug)]
pub enum Piece<'a> {
    Text(&'a str),
    Thought(&'a str),
    /// The call of this number begins.
    Call(usize, &'a str),
    /// Its arguments go on; Gemini sends calls whole.
    Arguments(usize, &'a str),
    /// The answer ends for this reason, as the format calls it.
    End(&'a str),
    /// What it cost.
    Usage(&'a Value),
}

impl Format {
    /// The type in the settings.
    pub fn kind(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::Responses => "responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
        }
    }

    /// Why an answer ends that is done.
    pub fn done(self) -> &'static str {
        match self {
            Self::Openai => "stop",
            Self::Responses => "completed",
            Self::Anthropic => "end_turn",
            Self::Gemini => "STOP",
        }
    }

    /// A piece as events of a stream.
    pub fn events(self, piece: Piece<'_>) -> String {
        let events = match self {
            Self::Openai => openai(piece),
            Self::Responses => responses(piece),
            Self::Anthropic => anthropic(piece),
            Self::Gemini => gemini(piece),
        };
        let end = if matches!((self, piece), (Self::Openai, Piece::End(_))) { "data: [DONE]\n\n" } else { "" };
        events.iter().map(|event| format!("data: {event}\n\n")).collect::<String>() + end
    }

    /// What comes before and after one long text in a whole answer.
    pub fn whole(self) -> (&'static str, &'static str) {
        match self {
            Self::Openai => (r#"{"choices":[{"message":{"content":""#, r#""},"finish_reason":"stop"}]}"#),
            Self::Responses => (
                r#"{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":""#,
                r#""}]}]}"#,
            ),
            Self::Anthropic => {
                (r#"{"type":"message","content":[{"type":"text","text":""#, r#""}],"stop_reason":"end_turn"}"#)
            }
            Self::Gemini => (r#"{"candidates":[{"content":{"parts":[{"text":""#, r#""}]},"finishReason":"STOP"}]}"#),
        }
    }
}

fn openai(piece: Piece<'_>) -> Vec<Value> {
    let delta = |delta: Value| vec![json!({ "choices": [{ "index": 0, "delta": delta }] })];
    match piece {
        Piece::Text(text) => delta(json!({ "content": text })),
        Piece::Thought(text) => delta(json!({ "reasoning_content": text })),
        Piece::Call(index, name) => {
            let function = json!({ "name": name, "arguments": "{" });
            delta(json!({ "tool_calls": [{ "index": index, "id": format!("c{index}"), "function": function }] }))
        }
        Piece::Arguments(index, text) => {
            delta(json!({ "tool_calls": [{ "index": index, "function": { "arguments": text } }] }))
        }
        Piece::End(reason) => vec![json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": reason }] })],
        Piece::Usage(counts) => vec![json!({ "choices": [], "usage": counts })],
    }
}

fn responses(piece: Piece<'_>) -> Vec<Value> {
    let event = |kind: &str, index: usize, text: &str| {
        vec![json!({ "type": kind, "output_index": index, "item_id": format!("i{index}"), "delta": text })]
    };
    match piece {
        Piece::Text(text) => event("response.output_text.delta", 0, text),
        Piece::Thought(text) => event("response.reasoning_text.delta", 0, text),
        Piece::Call(index, name) => {
            let item = json!({ "type": "function_call", "id": format!("i{index}"), "call_id": format!("c{index}"), "name": name });
            let mut events = vec![json!({ "type": "response.output_item.added", "output_index": index, "item": item })];
            events.extend(event("response.function_call_arguments.delta", index, "{"));
            events
        }
        Piece::Arguments(index, text) => event("response.function_call_arguments.delta", index, text),
        Piece::End("completed") => {
            vec![json!({ "type": "response.completed", "response": { "status": "completed" } })]
        }
        Piece::End(reason) => vec![json!({
            "type": "response.incomplete",
            "response": { "status": "incomplete", "incomplete_details": { "reason": reason } },
        })],
        Piece::Usage(counts) => {
            vec![json!({ "type": "response.completed", "response": { "status": "completed", "usage": counts } })]
        }
    }
}

fn anthropic(piece: Piece<'_>) -> Vec<Value> {
    let part = |index: usize, begin: Value, delta: Value| {
        vec![
            json!({ "type": "content_block_start", "index": index, "content_block": begin }),
            json!({ "type": "content_block_delta", "index": index, "delta": delta }),
            json!({ "type": "content_block_stop", "index": index }),
        ]
    };
    match piece {
        Piece::Text(text) => {
            part(0, json!({ "type": "text", "text": "" }), json!({ "type": "text_delta", "text": text }))
        }
        Piece::Thought(text) => {
            let begin = json!({ "type": "thinking", "thinking": "" });
            part(0, begin, json!({ "type": "thinking_delta", "thinking": text }))
        }
        Piece::Call(index, name) => {
            let block = json!({ "type": "tool_use", "id": format!("c{index}"), "name": name, "input": {} });
            let mut events = vec![json!({ "type": "content_block_start", "index": index + 1, "content_block": block })];
            events.extend(anthropic(Piece::Arguments(index, "{")));
            events
        }
        Piece::Arguments(index, text) => {
            let delta = json!({ "type": "input_json_delta", "partial_json": text });
            vec![json!({ "type": "content_block_delta", "index": index + 1, "delta": delta })]
        }
        Piece::End(reason) => vec![
            json!({ "type": "message_delta", "delta": { "stop_reason": reason }, "usage": {} }),
            json!({ "type": "message_stop" }),
        ],
        Piece::Usage(counts) => vec![json!({ "type": "message_delta", "delta": {}, "usage": counts })],
    }
}

fn gemini(piece: Piece<'_>) -> Vec<Value> {
    let parts = |part: Value| vec![json!({ "candidates": [{ "content": { "parts": [part] } }] })];
    match piece {
        Piece::Text(text) => parts(json!({ "text": text })),
        Piece::Thought(text) => parts(json!({ "text": text, "thought": true })),
        Piece::Call(_, name) => parts(json!({ "functionCall": { "name": name, "args": {} } })),
        Piece::Arguments(..) => Vec::new(),
        Piece::End(reason) => vec![json!({ "candidates": [{ "finishReason": reason }] })],
        Piece::Usage(counts) => vec![json!({ "usageMetadata": counts })],
    }
}
