//! Gemini CLI: a log of changes to one conversation, or, in older files, the conversation itself.
//!
//! A record whose id was seen replaces that message; `$set` changes fields of the whole; `$rewindTo`
//! drops a message and all after it.

use neco_proto::{Part, Usage};
use serde_json::{Map, Value};

use super::foreign::{Foreign, moment, number, picture, text};

/// How messages begin that the program itself puts in the person's place.
const OWN: [&str; 4] = ["<session_context>", "This is the Gemini CLI.", "<state_snapshot>", "System: Please continue."];

/// Reads the records.
pub fn read(records: &[Value], foreign: &mut Foreign) {
    let mut messages: Vec<Value> = Vec::new();
    for record in records {
        let Some(fields) = record.as_object() else {
            foreign.skipped.count("no object");
            continue;
        };
        if let Some(id) = text(record, "$rewindTo") {
            let from = messages.iter().position(|message| text(message, "id") == Some(id));
            messages.truncate(from.unwrap_or(messages.len()));
        } else if let Some(set) = record.get("$set").and_then(Value::as_object) {
            head(set, &mut messages, foreign);
        } else if fields.contains_key("id") && fields.contains_key("type") {
            put(&mut messages, record);
        } else if fields.contains_key("sessionId") {
            head(fields, &mut messages, foreign);
        } else {
            foreign.skipped.count("of an unknown kind");
        }
    }
    messages.iter().for_each(|message| told(message, foreign));
}

/// Fields of the whole conversation.
fn head(fields: &Map<String, Value>, messages: &mut Vec<Value>, foreign: &mut Foreign) {
    let field = |name: &str| fields.get(name).and_then(Value::as_str).map(str::to_owned);
    foreign.id = field("sessionId").or(foreign.id.take());
    foreign.title = field("summary").or(foreign.title.take());
    foreign.cwd = field("cwd").or_else(|| field("projectRoot")).or(foreign.cwd.take());
    if let Some(all) = fields.get("messages").and_then(Value::as_array) {
        messages.clone_from(all);
    }
}

/// A message in the place of the one with its id. What the newer one does not say holds on.
fn put(messages: &mut Vec<Value>, record: &Value) {
    let id = text(record, "id");
    let Some(old) = messages.iter_mut().find(|message| text(message, "id") == id) else {
        messages.push(record.clone());
        return;
    };
    if let (Some(old), Some(new)) = (old.as_object_mut(), record.as_object()) {
        new.iter().for_each(|(name, value)| drop(old.insert(name.clone(), value.clone())));
    }
}

fn told(message: &Value, foreign: &mut Foreign) {
    let at = moment(message.get("timestamp"));
    match text(message, "type").unwrap_or_default() {
        "user" => {
            let parts = content(message.get("content"));
            let own = |part: &Part| match part {
                Part::Text { text } => OWN.iter().any(|own| text.trim_start().starts_with(own)),
                Part::Image { .. } | Part::Reasoning { .. } | Part::ToolCall(_) | Part::ToolResult(_) => false,
            };
            if !parts.iter().any(own) {
                foreign.user(at, parts);
            }
        }
        "gemini" | "model" | "assistant" => answer(message, at, foreign),
        // Notices of the program.
        "info" | "error" | "warning" | "about" | "help" | "stats" | "quit" => {}
        other => foreign.skipped.count(other),
    }
}

fn answer(message: &Value, at: Option<jiff::Timestamp>, foreign: &mut Foreign) {
    let calls = message.get("toolCalls").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let answer = foreign.answer(at, text(message, "id").or(Some("")));
    answer.by(text(message, "model"));
    let thoughts = message.get("thoughts").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let thought = |thought: &Value| {
        let said = ["description", "subject"].iter().filter_map(|field| text(thought, field));
        said.map(str::trim).find(|said| !said.is_empty()).map(str::to_owned)
    };
    answer.thought(&thoughts.iter().filter_map(thought).collect::<Vec<_>>().join("\n\n"));
    for part in content(message.get("content")) {
        if let Part::Text { text } = part {
            answer.text(&text);
        }
    }
    answer.usage = message.get("tokens").map(usage);
    for call in calls {
        let arguments = call.get("args").map(Value::to_string).unwrap_or_else(|| "{}".to_owned());
        answer.call(text(call, "id").unwrap_or_default(), text(call, "name").unwrap_or_default(), arguments);
    }
    for call in calls {
        let status = text(call, "status").unwrap_or_default();
        let Some(output) = output(call) else { continue };
        let at = moment(call.get("timestamp")).or(at);
        foreign.result(at, text(call, "id").unwrap_or_default(), output, matches!(status, "error" | "cancelled"));
    }
}

/// What was said: text, or parts as the vendor has them. Results are with their calls already.
fn content(content: Option<&Value>) -> Vec<Part> {
    let part = |part: &Value| match part {
        Value::String(text) => Some(Part::Text { text: text.clone() }),
        part => match (text(part, "text"), part.get("inlineData")) {
            (Some(_), _) if part.get("thought").and_then(Value::as_bool) == Some(true) => None,
            (Some(text), _) => Some(Part::Text { text: text.to_owned() }),
            (None, Some(data)) => Some(picture(text(data, "mimeType")?, text(data, "data")?)),
            (None, None) => None,
        },
    };
    match content {
        Some(Value::Array(parts)) => parts.iter().filter_map(part).collect(),
        Some(one) => part(one).into_iter().collect(),
        None => Vec::new(),
    }
}

/// What a call gave; nothing when it never ended.
fn output(call: &Value) -> Option<String> {
    let responses = match call.get("result") {
        Some(Value::Array(parts)) => parts.as_slice(),
        Some(one @ Value::Object(_)) => std::slice::from_ref(one),
        Some(Value::String(text)) => return Some(text.clone()),
        _ => return text(call, "resultDisplay").map(str::to_owned),
    };
    let shown = |part: &Value| match part.pointer("/functionResponse/response") {
        Some(response) => ["output", "error", "content", "result"]
            .iter()
            .find_map(|field| text(response, field))
            .map_or_else(|| response.to_string(), str::to_owned),
        None => text(part, "text").unwrap_or_default().to_owned(),
    };
    Some(responses.iter().map(shown).filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n"))
}

fn usage(tokens: &Value) -> Usage {
    let thoughts = number(tokens, "thoughts");
    Usage {
        input: number(tokens, "input"),
        output: number(tokens, "output").saturating_add(thoughts),
        cache_read: number(tokens, "cached"),
        reasoning: thoughts,
        ..Usage::default()
    }
}
