//! OpenClaw, and others with its files: a tree by `id` and `parentId`; the conversation is the path from
//! the last entry to the root.

use std::collections::{HashMap, HashSet};

use neco_proto::{Part, Usage};
use serde_json::Value;

use super::foreign::{Foreign, Item, What, moment, picture, text, usage};

/// Reads the entries.
pub fn read(records: &[Value], foreign: &mut Foreign) {
    let current = current(records);
    for (at, record) in records.iter().enumerate() {
        let kind = text(record, "type").unwrap_or_default();
        match kind {
            "session" => {
                foreign.id = text(record, "id").map(str::to_owned);
                foreign.cwd = text(record, "cwd").map(str::to_owned);
            }
            "session_info" => foreign.title = text(record, "name").map(str::to_owned).or(foreign.title.take()),
            _ if !current.contains(&at) => foreign.skipped.count("on an abandoned branch"),
            "message" => message(record, foreign),
            "compaction" => compaction(record, foreign),
            "branch_summary" => {
                let summary = text(record, "summary").unwrap_or_default();
                let said = Part::Text { text: format!("[what happened on another branch] {summary}") };
                foreign.user(moment(record.get("timestamp")), vec![said]);
            }
            "model_change" | "thinking_level_change" | "custom" | "label" | "leaf" => {}
            "custom_message" => foreign.user(moment(record.get("timestamp")), content(record.get("content"))),
            other => foreign.skipped.count(other),
        }
    }
}

/// The places of the entries between the last one and the root; all of them where there is no tree.
fn current(records: &[Value]) -> HashSet<usize> {
    let by_id: HashMap<&str, usize> = records
        .iter()
        .enumerate()
        .filter(|(_, record)| text(record, "type") != Some("session"))
        .filter_map(|(at, record)| Some((text(record, "id")?, at)))
        .collect();
    if by_id.is_empty() {
        return (0..records.len()).collect();
    }
    let mut current = HashSet::new();
    let mut next = records.iter().rposition(|record| text(record, "id").is_some_and(|id| by_id.contains_key(id)));
    while let Some(at) = next.filter(|at| current.insert(*at)) {
        let parent = text(&records[at], "parentId");
        next = parent.and_then(|parent| by_id.get(parent)).copied();
        // The parent is lost: what stands before is the best guess.
        if parent.is_some() && next.is_none() {
            let has_id = |record: &Value| text(record, "id").is_some() && text(record, "type") != Some("session");
            next = records.get(..at).and_then(|before| before.iter().rposition(has_id));
        }
    }
    current
}

fn message(record: &Value, foreign: &mut Foreign) {
    let Some(message) = record.get("message") else { return foreign.skipped.count("message without content") };
    let at = moment(record.get("timestamp")).or_else(|| moment(message.get("timestamp")));
    match text(message, "role").unwrap_or_default() {
        "user" => foreign.user(at, content(message.get("content"))),
        "assistant" => assistant(message, at, foreign),
        "toolResult" => {
            let failed = message.get("isError").and_then(Value::as_bool).unwrap_or_default();
            let output = words(&content(message.get("content")));
            foreign.result(at, text(message, "toolCallId").unwrap_or_default(), output, failed);
        }
        "bashExecution" => {
            let field = |name: &str| text(message, name).unwrap_or_default();
            let said = format!("I ran this:\n\n$ {}\n{}", field("command"), field("output"));
            foreign.user(at, vec![Part::Text { text: said }]);
        }
        "compactionSummary" => {
            let summary = text(message, "summary").unwrap_or_default().to_owned();
            foreign.items.push(Item { at, what: What::Compacted(summary) });
        }
        other => foreign.skipped.count(&format!("message of {other}")),
    }
}

fn assistant(message: &Value, at: Option<jiff::Timestamp>, foreign: &mut Foreign) {
    foreign.items.push(Item { at, what: What::Assistant(Default::default()) });
    let answer = foreign.answer(at, None);
    answer.by(text(message, "model"));
    let unknown = answer.content(message.get("content"), "toolCall", "arguments");
    answer.usage = message.get("usage").map(|used| {
        let cost = used.pointer("/cost/total").and_then(Value::as_f64).filter(|cost| *cost > 0.0);
        Usage { cost, ..usage(used, ["input", "output", "cacheRead", "cacheWrite"]) }
    });
    unknown.iter().for_each(|kind| foreign.skipped.count(kind));
}

/// The summary stands for everything before the entry that was kept first.
fn compaction(record: &Value, foreign: &mut Foreign) {
    let summary = text(record, "summary").unwrap_or_default().to_owned();
    foreign.items.push(Item { at: moment(record.get("timestamp")), what: What::Compacted(summary) });
}

fn content(content: Option<&Value>) -> Vec<Part> {
    let part = |block: &Value| match text(block, "type")? {
        "text" => Some(Part::Text { text: text(block, "text")?.to_owned() }),
        "image" => Some(picture(text(block, "mimeType")?, text(block, "data")?)),
        _ => None,
    };
    match content {
        Some(Value::String(text)) => vec![Part::Text { text: text.clone() }],
        Some(Value::Array(blocks)) => blocks.iter().filter_map(part).collect(),
        _ => Vec::new(),
    }
}

fn words(parts: &[Part]) -> String {
    let text = |part: &Part| match part {
        Part::Text { text } => text.clone(),
        Part::Image { media_type, .. } => format!("[picture, {media_type}]"),
        Part::Reasoning { .. } | Part::ToolCall(_) | Part::ToolResult(_) => String::new(),
    };
    parts.iter().map(text).collect::<Vec<_>>().join("\n")
}
