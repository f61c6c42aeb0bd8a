//! Messages as blocks of content. Each block begins with a comma.

use bytes::Bytes;
use neco_proto::{Message, Part, ToolCall, ToolResult};
use serde_json::{Value, json};

use crate::wire::arguments;
use crate::wire::kept::{For, Kept};

/// The blocks of one message; thoughts are only for the model that thought them.
pub(super) fn encode(message: &Message) -> Bytes {
    let mut kept = Kept::default();
    for part in &message.parts {
        match part {
            Part::Text { text } => add(&mut kept, &json!({ "type": "text", "text": text })),
            Part::Image { media_type, data } => {
                let source = json!({ "type": "base64", "media_type": media_type, "data": data });
                add(&mut kept, &json!({ "type": "image", "source": source }));
            }
            Part::Reasoning { text, opaque } => {
                if let Some(block) = opaque.as_ref().and_then(|opaque| thought(text, opaque)) {
                    kept.only_for(For::Author, |kept| add(kept, &block));
                }
            }
            Part::ToolCall(call) => add_call(&mut kept, call),
            Part::ToolResult(result) => add(&mut kept, &tool_result(result)),
        }
    }
    kept.finish()
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
