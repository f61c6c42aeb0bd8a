//! One message, with a comma before it.
//!
//! What is kept of an assistant message lacks its closing brace, and its thoughts come last: so one kept
//! form serves vendors that want them back, those that do not, and those that want an empty field, and
//! a switch between them serialises nothing again.

use bytes::Bytes;
use neco_proto::{Message, Part, Role, ToolCall, ToolResult};
use serde::Serialize;
use serde_json::{Value, json};

use crate::wire::arguments;
use crate::wire::kept::{For, Kept};
use crate::wire::text_calls::told;

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
                    add_message(&mut out, &tool_result(result));
                }
            }
        }
        Role::Assistant => return encode_assistant(message, &message.text(), Calls::AsFields),
    }
    out.into()
}

/// A message of the user's or of tools, marked as the end of what is to be cached.
pub(super) fn encode_marked(message: &Message) -> Bytes {
    let mut out = Vec::new();
    match message.role {
        Role::User => {
            let mut content = parts(message);
            if let Some(last) = content.iter_mut().rfind(|part| part["type"] == "text") {
                mark(last);
            }
            add_message(&mut out, &json!({ "role": "user", "content": content }));
        }
        Role::Tool => {
            let results = message.parts.iter().filter_map(|part| match part {
                Part::ToolResult(result) => Some(tool_result(result)),
                Part::Text { .. } | Part::Image { .. } | Part::Reasoning { .. } | Part::ToolCall(_) => None,
            });
            let mut results: Vec<Value> = results.collect();
            if let Some(last) = results.last_mut() {
                mark(last);
            }
            results.iter().for_each(|result| add_message(&mut out, result));
        }
        Role::Assistant => return encode(message),
    }
    out.into()
}

/// The same for the system prompt.
pub(super) fn marked_system(text: &str) -> Value {
    let mut part = json!({ "type": "text", "text": text });
    mark(&mut part);
    json!({ "role": "system", "content": [part] })
}

fn mark(value: &mut Value) {
    if let Value::Object(fields) = value {
        fields.insert("cache_control".to_owned(), json!({ "type": "ephemeral" }));
    }
}

fn tool_result(result: &ToolResult) -> Value {
    json!({ "role": "tool", "tool_call_id": result.call_id.as_str(), "content": result.output })
}

/// A message with calls and results in its text.
pub(super) fn encode_as_text(message: &Message) -> Bytes {
    let mut out = Vec::new();
    match message.role {
        Role::User => return encode(message),
        Role::Tool => add_message(&mut out, &json!({ "role": "user", "content": told::results(message, false) })),
        Role::Assistant => return encode_assistant(message, &told::assistant(message), Calls::InText),
    }
    out.into()
}

/// Results in the text that close a circle.
pub(super) fn encode_circle_as_text(message: &Message) -> Bytes {
    let mut out = Vec::new();
    add_message(&mut out, &json!({ "role": "user", "content": told::results(message, true) }));
    out.into()
}

/// Plain text where that is all, which every server knows; else parts.
fn user_content(message: &Message) -> Value {
    let has_pictures = message.parts.iter().any(|part| matches!(part, Part::Image { .. }));
    if !has_pictures {
        return message.text().into();
    }
    parts(message).into()
}

fn parts(message: &Message) -> Vec<Value> {
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

/// Where the calls of a message stand.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Calls {
    AsFields,
    InText,
}

fn encode_assistant(message: &Message, text: &str, calls: Calls) -> Bytes {
    let mut kept = Kept::default();
    kept.add(b",{\"role\":\"assistant\",\"content\":");
    // Servers disagree about a missing and about an empty content; all of them know null beside calls.
    kept.add_json(&Some(text).filter(|text| !text.is_empty()));
    if calls == Calls::AsFields {
        add_calls(message, &mut kept);
    }
    add_reasoning(message, &mut kept);
    kept.finish()
}

fn add_calls(message: &Message, kept: &mut Kept) {
    let mut begin: &[u8] = b",\"tool_calls\":[";
    for call in message.tool_calls() {
        kept.add(begin);
        add_call(call, kept);
        begin = b",";
    }
    if begin == b"," {
        kept.add(b"]");
    }
}

/// What the vendor gave: the very items it wants back, or else the text, which is also for its other
/// models.
fn add_reasoning(message: &Message, kept: &mut Kept) {
    let mut thought = String::new();
    let mut details = Vec::new();
    for part in &message.parts {
        if let Part::Reasoning { text, opaque } = part {
            thought.push_str(text);
            let items = opaque.as_ref().and_then(|opaque| opaque.get("reasoning_details"));
            details.extend(items.and_then(Value::as_array).into_iter().flatten());
        }
    }
    let mut plain = For::PLAIN.and(For::SIGNED);
    if !details.is_empty() {
        plain = For::PLAIN;
        kept.only_for(For::SIGNED, |kept| {
            kept.add(b",\"reasoning_details\":");
            kept.add_json(&details);
        });
    }
    if !thought.is_empty() {
        kept.only_for(plain, |kept| {
            kept.add(b",\"reasoning_content\":");
            kept.add_json(&thought);
        });
    }
}

fn add_call(call: &ToolCall, kept: &mut Kept) {
    kept.add(b"{\"id\":");
    kept.add_json(&call.id.as_str());
    kept.add(b",\"type\":\"function\",\"function\":");
    kept.add_json(&json!({ "name": call.name, "arguments": arguments::as_object(&call.arguments) }));
    if let Some(extra) = call.opaque.as_ref().and_then(|opaque| opaque.get("extra_content")) {
        kept.only_for(For::AUTHOR, |kept| {
            kept.add(b",\"extra_content\":");
            kept.add_json(extra);
        });
    }
    kept.add(b"}");
}

fn add_message(out: &mut Vec<u8>, message: &impl Serialize) {
    out.push(b',');
    out.extend(to_bytes(message));
}

/// Our own values always have a JSON form; writing into memory does not fail.
pub(super) fn to_bytes(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}
