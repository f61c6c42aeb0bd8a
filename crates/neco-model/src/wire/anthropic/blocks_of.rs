//! Messages as blocks of content. Each block begins with a comma.

use bytes::Bytes;
use neco_proto::{Message, Part, ToolCall, ToolResult};
use serde_json::{Value, json};

use crate::wire::arguments;
use crate::wire::kept::{For, Kept};

/// The blocks of one message; thoughts are only for the model that thought them. A message may not end
/// with a thought, as it does when an answer was cut off.
pub(super) fn encode(message: &Message) -> Bytes {
    let mut kept = Kept::default();
    let last = message.parts.iter().rposition(|part| !matches!(part, Part::Reasoning { .. }));
    for part in message.parts.iter().take(last.map_or(0, |last| last + 1)) {
        match part {
            Part::Text { text } => add(&mut kept, &json!({ "type": "text", "text": text })),
            Part::Image { media_type, data } => {
                let source = json!({ "type": "base64", "media_type": media_type, "data": data });
                add(&mut kept, &json!({ "type": "image", "source": source }));
            }
            Part::Reasoning { text, opaque } => {
                if let Some(block) = opaque.as_ref().and_then(|opaque| thought(text, opaque)) {
                    kept.only_for(For::AUTHOR, |kept| add(kept, &block));
                }
            }
            Part::ToolCall(call) => add_call(&mut kept, call),
            Part::ToolResult(result) => add(&mut kept, &tool_result(result)),
        }
    }
    kept.finish()
}

/// Whether the message begins with a thought that its author takes back.
pub(super) fn begins_with_thought(message: &Message) -> bool {
    let mut parts = message.parts.iter().filter_map(|part| match part {
        Part::Reasoning { text, opaque } => opaque.as_ref().and_then(|opaque| thought(text, opaque)).map(|_| true),
        Part::Text { .. } | Part::Image { .. } | Part::ToolCall(_) | Part::ToolResult(_) => Some(false),
    });
    parts.next() == Some(true)
}

fn add(kept: &mut Kept, block: &Value) {
    kept.add(b",");
    kept.add_json(block);
}

/// A thought as it came. One without its signature is refused, so it stays here.
fn thought(text: &str, opaque: &Value) -> Option<Value> {
    let field = |name: &str| opaque.get(name).and_then(Value::as_str);
    match field("type")? {
        "thinking" => Some(json!({ "type": "thinking", "thinking": text, "signature": field("signature")? })),
        "redacted_thinking" => Some(json!({ "type": "redacted_thinking", "data": field("data")? })),
        _ => None,
    }
}

fn add_call(kept: &mut Kept, call: &ToolCall) {
    kept.add(b",{\"type\":\"tool_use\",\"id\":");
    kept.add_json(&call.id.as_str());
    kept.add(b",\"name\":");
    kept.add_json(&call.name);
    kept.add(b",\"input\":");
    kept.add(arguments::as_object(&call.arguments).as_bytes());
    kept.add(b"}");
}

fn tool_result(result: &ToolResult) -> Value {
    let ToolResult { call_id, output, error_code } = result;
    match error_code {
        Some(_) => {
            json!({ "type": "tool_result", "tool_use_id": call_id.as_str(), "content": output, "is_error": true })
        }
        None => json!({ "type": "tool_result", "tool_use_id": call_id.as_str(), "content": output }),
    }
}
