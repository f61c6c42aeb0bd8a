//! What of an event is searched.

use neco_proto::app::sessions::FoundRole;
use neco_proto::clean::without_marks;
use neco_proto::{EventBody, Message, Part, Role};
use serde_json::Value;

/// Most bytes of one event that are searched; what a tool gives is far below.
const MOST_BYTES: usize = 200_000;

/// The types of the events that are searched: what was said, and what tools gave.
pub(crate) const KINDS: [&str; 2] = ["message", "tool_call_end"];

/// Who said it and the words; `None` where there is nothing to be found. What Neco or a hook puts into a conversation
/// nobody said.
pub(crate) fn text_of(body: &EventBody) -> Option<(FoundRole, String)> {
    let (role, mut text) = match body {
        EventBody::Message(message) if message.is_neco() => return None,
        EventBody::Message(message) => (role_of(message), words_in(message)),
        EventBody::ToolCallEnd(end) => (FoundRole::Tool, without_marks(&end.output).into_owned()),
        _ => return None,
    };
    text.truncate(text.floor_char_boundary(MOST_BYTES));
    (!text.trim().is_empty()).then_some((role, text))
}

fn role_of(message: &Message) -> FoundRole {
    match message.role {
        Role::User => FoundRole::User,
        Role::Assistant => FoundRole::Assistant,
        Role::Tool => FoundRole::Tool,
    }
}

fn words_in(message: &Message) -> String {
    let mut text = String::new();
    for part in &message.parts {
        if !text.is_empty() {
            text.push('\n');
        }
        match part {
            Part::Text { text: words } | Part::Reasoning { text: words, .. } => text.push_str(words),
            Part::Image { .. } => {}
            Part::ToolCall(call) => {
                text.push_str(&call.name);
                match serde_json::from_str(&call.arguments) {
                    Ok(arguments) => push_strings(&mut text, &arguments),
                    Err(_) => text.extend([" ", &call.arguments]),
                }
            }
            Part::ToolResult(result) => text.push_str(&without_marks(&result.output)),
        }
    }
    text
}

/// The arguments without their names and signs, as people remember them.
fn push_strings(text: &mut String, value: &Value) {
    match value {
        Value::String(string) => text.extend([" ", string]),
        Value::Array(values) => values.iter().for_each(|value| push_strings(text, value)),
        Value::Object(fields) => fields.values().for_each(|value| push_strings(text, value)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}
