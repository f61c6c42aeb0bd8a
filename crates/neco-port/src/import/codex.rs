//! Codex: a line a record; `response_item` is what the model said and read, the rest is for its window.

use neco_proto::{Part, Usage};
use serde_json::Value;

use super::foreign::{Foreign, Item, What, moment, number, picture_of_address, text};

/// How messages begin that the program itself puts in the person's place.
const OWN: [&str; 9] = [
    "<environment_context>",
    "<user_instructions>",
    "<permissions instructions>",
    "<collaboration_mode>",
    "<skills_instructions>",
    "<subagent_notification>",
    "<INSTRUCTIONS>",
    "# AGENTS.md instructions",
    "<user_shell_command>",
];
const STOPPED: &str = "<turn_aborted>";

/// Reads the records.
pub fn read(records: &[Value], foreign: &mut Foreign) {
    let mut state = State::default();
    for record in records {
        let at = moment(record.get("timestamp"));
        let payload = record.get("payload").unwrap_or(record);
        match text(record, "type").unwrap_or_default() {
            "session_meta" => meta(payload, foreign),
            "turn_context" => {
                state.model = text(payload, "model").map(str::to_owned).or(state.model);
                if foreign.cwd.is_none() {
                    foreign.cwd = text(payload, "cwd").map(str::to_owned);
                }
            }
            "response_item" => item(payload, at, &state, foreign),
            "compacted" => compacted(payload, at, &state, foreign),
            "event_msg" => window(payload, &mut state, foreign),
            "world_state" | "security_risk_score" => {}
            // Files of before the records had an envelope: an item a line, the first one about the session.
            "message"
            | "reasoning"
            | "function_call"
            | "function_call_output"
            | "custom_tool_call"
            | "custom_tool_call_output"
            | "local_shell_call" => item(record, at, &state, foreign),
            "" if record.get("id").is_some() && foreign.id.is_none() => meta(record, foreign),
            "" if record.get("record_type").is_some() => {}
            "" => foreign.skipped.count("without a type"),
            other => foreign.skipped.count(other),
        }
    }
}

#[derive(Default)]
struct State {
    model: Option<String>,
    total: Usage,
}

/// The first one counts: a session that goes on from another one repeats that one's.
fn meta(payload: &Value, foreign: &mut Foreign) {
    if foreign.id.is_none() {
        foreign.id = text(payload, "id").or_else(|| text(payload, "session_id")).map(str::to_owned);
        foreign.cwd = text(payload, "cwd").map(str::to_owned);
    }
}

fn item(item: &Value, at: Option<jiff::Timestamp>, state: &State, foreign: &mut Foreign) {
    let field = |name: &str| text(item, name).unwrap_or_default();
    match field("type") {
        "message" => message(item, at, state, foreign),
        "reasoning" => {
            let thought = thoughts(item);
            let answer = foreign.fresh_after_calls(at);
            answer.by(state.model.as_deref());
            answer.thought(&thought);
        }
        "function_call" => {
            let answer = foreign.answer(at, None);
            answer.by(state.model.as_deref());
            answer.call(field("call_id"), field("name"), field("arguments").to_owned());
        }
        "custom_tool_call" => {
            let arguments = serde_json::json!({ "input": field("input") }).to_string();
            let answer = foreign.answer(at, None);
            answer.by(state.model.as_deref());
            answer.call(field("call_id"), field("name"), arguments);
        }
        "local_shell_call" => {
            let command = item.pointer("/action/command").cloned().unwrap_or_default();
            let arguments = serde_json::json!({ "command": command }).to_string();
            let id = text(item, "call_id").or_else(|| text(item, "id")).unwrap_or_default();
            foreign.answer(at, None).call(id, "local_shell", arguments);
        }
        "function_call_output" | "custom_tool_call_output" => {
            let (output, failed) = output(item.get("output"));
            foreign.result(at, field("call_id"), output, failed);
        }
        // Done by the vendor, or kept by the program for itself.
        "web_search_call" | "ghost_snapshot" | "compaction" | "compaction_summary" => {}
        "" => foreign.skipped.count("item without a type"),
        other => foreign.skipped.count(other),
    }
}

fn message(item: &Value, at: Option<jiff::Timestamp>, state: &State, foreign: &mut Foreign) {
    match text(item, "role").unwrap_or_default() {
        "user" => {
            let parts = content(item);
            let beginning = parts.iter().find_map(|part| match part {
                Part::Text { text } => Some(text.trim_start().to_owned()),
                Part::Image { .. } | Part::Reasoning { .. } | Part::ToolCall(_) | Part::ToolResult(_) => None,
            });
            let beginning = beginning.unwrap_or_default();
            if beginning.starts_with(STOPPED) {
                foreign.items.push(Item { at, what: What::Interrupted });
            } else if !OWN.iter().any(|own| beginning.starts_with(own)) {
                foreign.user(at, parts);
            }
        }
        "assistant" => {
            let parts = content(item);
            let answer = foreign.fresh_after_calls(at);
            answer.by(state.model.as_deref());
            for part in &parts {
                if let Part::Text { text } = part {
                    answer.text(text);
                }
            }
        }
        // The program's own instructions.
        "developer" | "system" => {}
        other => foreign.skipped.count(&format!("message of {other}")),
    }
}

fn content(item: &Value) -> Vec<Part> {
    match item.get("content") {
        Some(Value::String(text)) => vec![Part::Text { text: text.clone() }],
        Some(Value::Array(blocks)) => blocks
            .iter()
            .filter_map(|block| match text(block, "type")? {
                "input_text" | "output_text" | "text" => Some(Part::Text { text: text(block, "text")?.to_owned() }),
                "input_image" => picture_of_address(text(block, "image_url")?),
                _ => None,
            })
            .collect(),
        _ => Vec::new(),
    }
}

/// What can be read of the thoughts; the encrypted ones are for their vendor alone.
fn thoughts(item: &Value) -> String {
    let texts = |field: &str| -> Vec<String> {
        let blocks = item.get(field).and_then(Value::as_array);
        blocks.into_iter().flatten().filter_map(|block| text(block, "text")).map(str::to_owned).collect()
    };
    let content = texts("content");
    let thoughts = if content.is_empty() { texts("summary") } else { content };
    thoughts.join("\n\n")
}

/// An output is text, a list of blocks, or an object; text may itself be an object with facts around it.
fn output(value: Option<&Value>) -> (String, bool) {
    match value {
        Some(Value::String(output)) => match serde_json::from_str::<Value>(output) {
            Ok(Value::Object(fields)) if fields.contains_key("output") && fields.contains_key("metadata") => {
                (fields.get("output").and_then(Value::as_str).unwrap_or_default().to_owned(), false)
            }
            _ => (output.clone(), false),
        },
        Some(Value::Object(fields)) => {
            let failed = fields.get("success").and_then(Value::as_bool) == Some(false);
            (fields.get("content").and_then(Value::as_str).unwrap_or_default().to_owned(), failed)
        }
        Some(Value::Array(blocks)) => {
            let shown = |block: &Value| match text(block, "text") {
                Some(text) => text.to_owned(),
                None => format!("[{}]", text(block, "type").unwrap_or("something")),
            };
            (blocks.iter().map(shown).collect::<Vec<_>>().join("\n"), false)
        }
        _ => (String::new(), false),
    }
}

/// The summary stands for everything before; newer files have the whole history that replaces it.
fn compacted(payload: &Value, at: Option<jiff::Timestamp>, state: &State, foreign: &mut Foreign) {
    let summary = text(payload, "message").unwrap_or_default().to_owned();
    let history = payload.get("replacement_history").and_then(Value::as_array);
    let kept = history.into_iter().flatten().filter(|entry| matches!(text(entry, "role"), Some("user" | "assistant")));
    let mut replaced = Foreign::default();
    kept.for_each(|entry| item(entry, at, state, &mut replaced));
    let mut lines = vec![summary];
    for entry in replaced.items {
        let (who, parts) = match entry.what {
            What::User(parts) => ("The person", parts),
            What::Assistant(answer) => ("The model", answer.parts),
            What::Result(_) | What::Compacted(_) | What::Interrupted => continue,
        };
        for part in parts {
            if let Part::Text { text } = part {
                lines.push(format!("{who}: {text}"));
            }
        }
    }
    lines.retain(|line| !line.trim().is_empty());
    foreign.items.push(Item { at, what: What::Compacted(lines.join("\n\n")) });
}

/// What its window was shown repeats what was said; only what was used and taken back is not said elsewhere.
fn window(payload: &Value, state: &mut State, foreign: &mut Foreign) {
    match text(payload, "type").unwrap_or_default() {
        "token_count" => {
            let Some(info) = payload.get("info") else { return };
            let total = info.get("total_token_usage").map(usage).unwrap_or_default();
            let last = info.get("last_token_usage").map(usage);
            let used = last.unwrap_or_else(|| difference(&total, &state.total));
            // It is told again whenever limits change.
            if total != state.total && total != Usage::default() {
                state.total = total;
                if let Some(answer) = foreign.last_answer() {
                    let mut sum = answer.usage.unwrap_or_default();
                    sum += used;
                    answer.usage = Some(sum);
                }
            }
        }
        "thread_rolled_back" => {
            for _ in 0..number(payload, "num_turns") {
                let from = foreign.items.iter().rposition(|item| matches!(item.what, What::User(_)));
                foreign.items.truncate(from.unwrap_or_default());
            }
        }
        "thread_name_updated" => {
            if let Some(name) = text(payload, "thread_name").or_else(|| text(payload, "name")) {
                foreign.title = Some(name.to_owned());
            }
        }
        _ => {}
    }
}

fn usage(value: &Value) -> Usage {
    Usage {
        input: number(value, "input_tokens"),
        output: number(value, "output_tokens"),
        cache_read: number(value, "cached_input_tokens"),
        reasoning: number(value, "reasoning_output_tokens"),
        ..Usage::default()
    }
}

fn difference(now: &Usage, before: &Usage) -> Usage {
    Usage {
        input: now.input.saturating_sub(before.input),
        output: now.output.saturating_sub(before.output),
        cache_read: now.cache_read.saturating_sub(before.cache_read),
        reasoning: now.reasoning.saturating_sub(before.reasoning),
        ..Usage::default()
    }
}
