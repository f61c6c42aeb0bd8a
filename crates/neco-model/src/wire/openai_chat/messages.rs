//! One message, with a comma before it.
//!
//! What is kept of an assistant message is `body ‖ reasoning ‖ length of reasoning (4 bytes, little
//! endian)`, where `body` lacks its closing brace. So one kept form serves vendors that want the
//! thoughts back and those that do not, and a switch between them serialises nothing again.

use bytes::Bytes;
use neco_proto::{Message, Part, Role, ToolCall};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::wire::arguments;
use crate::wire::text_calls::told;

/// The length of the reasoning behind an assistant message.
pub(super) const TRAILER: usize = size_of::<u32>();

/// A message with calls and results in the format's own fields.
pub(super) fn encode(message: &Message) -> Bytes {
    let mut out = Vec::new();
    match message.role {
        Role::User => {
            add_message(&mut out, &json!({ "role": "user", "content": user_content(message) }));
        }
        Role::Tool => {
            for part in &message.parts {
                if let Part::ToolResult(result) = part {
                    let id = result.call_id.as_str();
                    add_message(&mut out, &json!({ "role": "tool", "tool_call_id": id, "content": result.output }));
                }
            }
        }
        Role::Assistant => {
            let text = message.text();
            let calls: Vec<Value> = message.tool_calls().map(call).collect();
            encode_assistant(message, text, calls, &mut out);
        }
    }
    out.into()
}

/// A message with calls and results in its text.
pub(super) fn encode_as_text(message: &Message) -> Bytes {
    let mut out = Vec::new();
    match message.role {
        Role::User => return encode(message),
        Role::Tool => add_message(&mut out, &json!({ "role": "user", "content": told::results(message) })),
        Role::Assistant => encode_assistant(message, told::assistant(message), Vec::new(), &mut out),
    }
    out.into()
}

/// Plain text where that is all, which every server knows; else parts.
fn user_content(message: &Message) -> Value {
    let has_pictures = message.parts.iter().any(|part| matches!(part, Part::Image { .. }));
    if !has_pictures {
        return message.text().into();
    }
    let part = |part: &Part| match part {
        Part::Text { text } => Some(json!({ "type": "text", "text": text })),
        Part::Image { media_type, data } => {
            let url = format!("data:{media_type};base64,{data}");
            Some(json!({ "type": "image_url", "image_url": { "url": url } }))
        }
        Part::Reasoning { .. } | Part::ToolCall(_) | Part::ToolResult(_) => None,
    };
    message.parts.iter().filter_map(part).collect()
}

fn encode_assistant(message: &Message, text: String, calls: Vec<Value>, out: &mut Vec<u8>) {
    let mut fields = Map::new();
    fields.insert("role".to_owned(), "assistant".into());
    // Servers disagree about a missing and about an empty content; all of them know null beside calls.
    fields.insert("content".to_owned(), if text.is_empty() { Value::Null } else { text.into() });
    if !calls.is_empty() {
        fields.insert("tool_calls".to_owned(), calls.into());
    }
    add_message(out, &fields);
    out.pop();
    let before = out.len();
    encode_reasoning(message, out);
    let length = u32::try_from(out.len() - before).unwrap_or_else(|_| {
        // Four gigabytes of thought are left out rather than sent half.
        out.truncate(before);
        0
    });
    out.extend(length.to_le_bytes());
}

/// What the vendor gave: the very items it wants back, or else the text.
fn encode_reasoning(message: &Message, out: &mut Vec<u8>) {
    let mut thought = String::new();
    let mut details = Vec::new();
    for part in &message.parts {
        if let Part::Reasoning { text, opaque } = part {
            thought.push_str(text);
            let items = opaque.as_ref().and_then(|opaque| opaque.get("reasoning_details"));
            details.extend(items.and_then(Value::as_array).into_iter().flatten());
        }
    }
    if !details.is_empty() {
        out.extend_from_slice(b",\"reasoning_details\":");
        out.extend(to_bytes(&details));
    } else if !thought.is_empty() {
        out.extend_from_slice(b",\"reasoning_content\":");
        out.extend(to_bytes(&thought));
    }
}

fn call(call: &ToolCall) -> Value {
    json!({
        "id": call.id.as_str(),
        "type": "function",
        "function": { "name": call.name, "arguments": arguments::as_object(&call.arguments) },
    })
}

fn add_message(out: &mut Vec<u8>, message: &impl Serialize) {
    out.push(b',');
    out.extend(to_bytes(message));
}

/// Our own values always have a JSON form; writing into memory does not fail.
pub(super) fn to_bytes(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}
