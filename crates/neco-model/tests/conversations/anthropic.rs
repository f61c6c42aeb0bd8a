//! What Anthropic refuses.

use std::collections::HashSet;

use serde_json::Value;

use crate::Case;
use crate::rules::{is_new, is_word, list, says_something, text};

pub fn obeys(body: &Value, _: &Case) {
    let messages = list(body, "messages");
    assert_eq!(messages[0]["role"], "user");
    // Answers that are begun for the model are not taken any more.
    assert_eq!(messages.last().unwrap()["role"], "user");
    let mut seen = HashSet::new();
    let mut open: Vec<String> = Vec::new();
    for pair in messages.windows(2) {
        assert_ne!(pair[0]["role"], pair[1]["role"], "{body:#}");
    }
    for message in messages {
        let blocks = list(message, "content");
        match text(message, "role") {
            "user" => {
                user(blocks, &open);
                open.clear();
            }
            "assistant" => open = assistant(blocks, &mut seen),
            other => panic!("role {other}"),
        }
    }
    assert!(open.is_empty(), "calls without results: {body:#}");
    thinking(body, messages);
    settings(body, !seen.is_empty());
}

/// Results come first and answer exactly the calls before.
fn user(blocks: &[Value], open: &[String]) {
    let mut answered = HashSet::new();
    let mut past_results = false;
    for block in blocks {
        match text(block, "type") {
            "tool_result" => {
                assert!(!past_results, "results after other things: {blocks:#?}");
                let id = text(block, "tool_use_id");
                assert!(open.iter().any(|open| open == id), "{id} answers nothing: {blocks:#?}");
                is_new(id, &mut answered);
                says_something(text(block, "content"));
                assert!(block.get("is_error").is_none_or(Value::is_boolean));
            }
            "text" => {
                past_results = true;
                says_something(text(block, "text"));
            }
            "image" => {
                past_results = true;
                assert_eq!(block["source"]["type"], "base64");
                let kinds = ["image/png", "image/jpeg", "image/gif", "image/webp"];
                assert!(kinds.contains(&text(&block["source"], "media_type")));
            }
            other => panic!("{other} of the user"),
        }
    }
    assert_eq!(answered.len(), open.len(), "calls without results: {blocks:#?}");
}

fn assistant(blocks: &[Value], seen: &mut HashSet<String>) -> Vec<String> {
    let mut calls = Vec::new();
    assert!(!is_thought(blocks.last().unwrap()), "it ends with a thought: {blocks:#?}");
    for block in blocks {
        match text(block, "type") {
            "text" => says_something(text(block, "text")),
            "thinking" => {
                assert!(block["thinking"].is_string());
                says_something(text(block, "signature"));
                assert!(block.get("cache_control").is_none());
            }
            "redacted_thinking" => says_something(text(block, "data")),
            "tool_use" => {
                is_word(text(block, "id"), 64);
                is_word(text(block, "name"), 128);
                is_new(text(block, "id"), seen);
                assert!(block["input"].is_object());
                calls.push(text(block, "id").to_owned());
            }
            other => panic!("{other} of the model"),
        }
    }
    calls
}

/// Who thinks by a budget goes on with calls only if it thought before it made them.
fn thinking(body: &Value, messages: &[Value]) {
    let last = messages.iter().rfind(|message| message["role"] == "assistant").map(|message| list(message, "content"));
    let calls = last.filter(|blocks| blocks.iter().any(|block| block["type"] == "tool_use"));
    if body["thinking"]["type"] == "enabled"
        && let Some(blocks) = calls
    {
        assert!(is_thought(&blocks[0]), "it must think before it calls: {body:#}");
    }
}

fn is_thought(block: &Value) -> bool {
    ["thinking", "redacted_thinking"].iter().any(|kind| block["type"] == *kind)
}

fn settings(body: &Value, used_tools: bool) {
    let max_tokens = body["max_tokens"].as_u64().unwrap();
    assert!(max_tokens > 0);
    assert!(body["thinking"]["budget_tokens"].as_u64().is_none_or(|budget| (1024..max_tokens).contains(&budget)));
    assert!(!used_tools || !list(body, "tools").is_empty());
    let marks = body.to_string().matches("\"cache_control\"").count();
    assert!((2..=4).contains(&marks), "{marks} marks");
}
