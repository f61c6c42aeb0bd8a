//! The items that a message becomes. Each begins with the comma that separates it from the one
//! before.

use bytes::Bytes;
use neco_proto::{Message, Part, Role, ToolCall};
use serde_json::{Value, json};

use crate::wire::arguments;
use crate::wire::kept::{For, Kept};

/// The items of `message`; `before` is the message before it, whose calls a tool message answers.
pub(super) fn encode(message: &Message, before: Option<&Message>) -> Bytes {
    let mut kept = Kept::default();
    match message.role {
        Role::User => add_user(message, &mut kept),
        Role::Assistant => add_assistant(message, &mut kept),
        Role::Tool => add_results(message, before, &mut kept),
    }
    kept.finish()
}

fn add_user(message: &Message, kept: &mut Kept) {
    let content: Vec<Value> = message.parts.iter().filter_map(user_part).collect();
    add_item(&json!({ "type": "message", "role": "user", "content": content }), kept);
}

fn user_part(part: &Part) -> Option<Value> {
    match part {
        Part::Text { text } => Some(json!({ "type": "input_text", "text": text })),
        Part::Image { media_type, data } => Some(json!({
            "type": "input_image", "detail": "auto", "image_url": format!("data:{media_type};base64,{data}"),
        })),
        Part::Reasoning { .. } | Part::ToolCall(_) | Part::ToolResult(_) => None,
    }
}

fn add_assistant(message: &Message, kept: &mut Kept) {
    let mut rest = message.parts.as_slice();
    while let Some((part, after)) = rest.split_first() {
        rest = after;
        match part {
            Part::Text { text } => add_text(text, after.first(), kept),
            Part::Reasoning { opaque, .. } => {
                if let Some(item) = opaque.as_ref().filter(|item| is_thought(item) && leads_to_something(after)) {
                    kept.only_for(For::AUTHOR, |kept| add_item(item, kept));
                }
            }
            Part::ToolCall(call) => add_item(&call_item(call), kept),
            Part::Image { .. } | Part::ToolResult(_) => {}
        }
    }
}

fn add_text(text: &str, next: Option<&Part>, kept: &mut Kept) {
    let content = json!([{ "type": "output_text", "text": text }]);
    kept.add(b",{\"type\":\"message\",\"role\":\"assistant\",\"content\":");
    kept.add_json(&content);
    if let Some(Part::Reasoning { opaque: Some(opaque), .. }) = next
        && let Some(phase) = opaque.get("phase")
    {
        kept.only_for(For::AUTHOR, |kept| {
            kept.add(b",\"phase\":");
            kept.add_json(phase);
        });
    }
    kept.add(b"}");
}

fn is_thought(item: &Value) -> bool {
    item.get("type").is_some_and(|kind| kind == "reasoning")
}

/// The vendor refuses a thought that nothing follows, as in an answer that was cut off.
fn leads_to_something(after: &[Part]) -> bool {
    after.iter().any(|part| match part {
        Part::Text { .. } | Part::ToolCall(_) => true,
        Part::Image { .. } | Part::Reasoning { .. } | Part::ToolResult(_) => false,
    })
}

fn call_item(call: &ToolCall) -> Value {
    let ToolCall { id, name, arguments, .. } = call;
    if is_custom(call) {
        return json!({ "type": "custom_tool_call", "call_id": id, "name": name, "input": arguments });
    }
    json!({ "type": "function_call", "call_id": id, "name": name, "arguments": arguments::as_object(arguments) })
}

fn add_results(message: &Message, before: Option<&Message>, kept: &mut Kept) {
    for part in &message.parts {
        if let Part::ToolResult(result) = part {
            let call = before.and_then(|before| before.tool_calls().find(|call| call.id == result.call_id));
            let kind = if call.is_some_and(is_custom) { "custom_tool_call_output" } else { "function_call_output" };
            add_item(&json!({ "type": kind, "call_id": result.call_id, "output": result.output }), kept);
        }
    }
}

/// Whether its arguments were free text rather than JSON.
fn is_custom(call: &ToolCall) -> bool {
    call.opaque.as_ref().and_then(|opaque| opaque.get("type")).is_some_and(|kind| kind == "custom_tool_call")
}

fn add_item(item: &Value, kept: &mut Kept) {
    kept.add(b",");
    kept.add_json(item);
}
