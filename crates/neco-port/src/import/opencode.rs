//! opencode: one document with the session and its messages, each of parts; call and result are one part.

use neco_proto::{Part, Usage};
use serde_json::Value;

use super::foreign::{Foreign, Item, What, moment, number, picture_of_address, text};

/// Reads the document.
pub fn read(records: &[Value], foreign: &mut Foreign) {
    let Some(document) = records.iter().find(|record| record.get("messages").is_some()) else {
        return foreign.skipped.count("document without messages");
    };
    if let Some(info) = document.get("info") {
        foreign.id = text(info, "id").map(str::to_owned);
        foreign.cwd = text(info, "directory").map(str::to_owned);
        foreign.title = text(info, "title").map(str::to_owned);
    }
    // What the person took back is still there, after this message.
    let reverted = document.pointer("/info/revert/messageID").and_then(Value::as_str);
    for message in document.get("messages").and_then(Value::as_array).into_iter().flatten() {
        let Some(info) = message.get("info") else {
            foreign.skipped.count("message without info");
            continue;
        };
        if reverted.is_some() && text(info, "id") == reverted {
            break;
        }
        let parts = message.get("parts").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        match text(info, "role").unwrap_or_default() {
            "user" => user(info, parts, foreign),
            "assistant" => assistant(info, parts, foreign),
            other => foreign.skipped.count(&format!("message of {other}")),
        }
    }
}

fn user(info: &Value, parts: &[Value], foreign: &mut Foreign) {
    let mut said = Vec::new();
    for part in parts.iter().filter(|part| !is_own(part)) {
        match text(part, "type").unwrap_or_default() {
            "text" => said.extend(text(part, "text").map(|text| Part::Text { text: text.to_owned() })),
            "file" => said.extend(file(part)),
            // Said again in words, or about the session itself.
            "compaction" | "agent" | "subtask" | "snapshot" | "patch" => {}
            other => foreign.skipped.count(other),
        }
    }
    foreign.user(moment(info.pointer("/time/created")), said);
}

fn is_own(part: &Value) -> bool {
    let flag = |name: &str| part.get(name).and_then(Value::as_bool).unwrap_or_default();
    flag("synthetic") || flag("ignored")
}

fn file(part: &Value) -> Option<Part> {
    let name = || text(part, "filename").or_else(|| text(part, "url")).unwrap_or("a file");
    match text(part, "url").filter(|_| text(part, "mime").is_some_and(|mime| mime.starts_with("image/"))) {
        Some(address) => picture_of_address(address),
        None => Some(Part::Text { text: format!("[{}]", name()) }),
    }
}

fn assistant(info: &Value, parts: &[Value], foreign: &mut Foreign) {
    let at = moment(info.pointer("/time/created"));
    if info.get("summary").and_then(Value::as_bool) == Some(true) {
        let words: Vec<&str> = parts
            .iter()
            .filter(|part| text(part, "type") == Some("text"))
            .filter_map(|part| text(part, "text"))
            .collect();
        foreign.items.push(Item { at, what: What::Compacted(words.join("\n\n")) });
        return;
    }
    let model = text(info, "modelID");
    let first = foreign.items.len();
    // Messages do not run into each other.
    foreign.items.push(Item { at, what: What::Assistant(Default::default()) });
    for part in parts.iter().filter(|part| !is_own(part)) {
        match text(part, "type").unwrap_or_default() {
            "text" => foreign.fresh_after_calls(at).text(text(part, "text").unwrap_or_default()),
            "reasoning" => foreign.fresh_after_calls(at).thought(text(part, "text").unwrap_or_default()),
            "tool" => call(part, at, foreign),
            "step-start" | "step-finish" | "snapshot" | "patch" | "retry" | "agent" => {}
            other => foreign.skipped.count(other),
        }
    }
    for item in foreign.items.iter_mut().skip(first) {
        if let What::Assistant(answer) = &mut item.what {
            answer.by(model);
        }
    }
    if let Some(answer) = foreign.last_answer() {
        answer.usage = info.get("tokens").map(|tokens| usage(tokens, info.get("cost").and_then(Value::as_f64)));
    }
}

fn call(part: &Value, at: Option<jiff::Timestamp>, foreign: &mut Foreign) {
    let id = text(part, "callID").unwrap_or_default();
    let state = part.get("state").cloned().unwrap_or_default();
    let arguments = state.get("input").map(Value::to_string).unwrap_or_else(|| "{}".to_owned());
    // Calls of one step stand side by side, with their results between them.
    let is_open = |item: &Item| match &item.what {
        What::Assistant(_) => Some(true),
        What::Result(_) => None,
        What::User(_) | What::Compacted(_) | What::Interrupted => Some(false),
    };
    match foreign.items.iter().rev().find_map(is_open) {
        Some(true) => {}
        Some(false) | None => drop(foreign.fresh_after_calls(at)),
    }
    if let Some(answer) = foreign.last_answer() {
        answer.call(id, text(part, "tool").unwrap_or_default(), arguments);
    }
    let ended = moment(state.pointer("/time/end")).filter(|end| at.is_none_or(|at| *end >= at)).or(at);
    match text(&state, "status").unwrap_or_default() {
        "completed" => foreign.result(ended, id, text(&state, "output").unwrap_or_default().to_owned(), false),
        "error" => foreign.result(ended, id, text(&state, "error").unwrap_or_default().to_owned(), true),
        // It never ended.
        _ => {}
    }
}

fn usage(tokens: &Value, cost: Option<f64>) -> Usage {
    let cache = |field: &str| tokens.get("cache").map(|cache| number(cache, field)).unwrap_or_default();
    let (read, written, reasoning) = (cache("read"), cache("write"), number(tokens, "reasoning"));
    Usage {
        input: number(tokens, "input").saturating_add(read).saturating_add(written),
        output: number(tokens, "output").saturating_add(reasoning),
        cache_read: read,
        cache_write: written,
        reasoning,
        cost: cost.filter(|cost| *cost > 0.0),
        ..Usage::default()
    }
}
