//! What servers of chat completions refuse.

use std::collections::HashSet;

use serde_json::Value;

use crate::Case;
use crate::rules::{is_new, is_word, list, says_something, text};

pub fn obeys(body: &Value, case: &Case) {
    check(body, case, false);
}

pub fn obeys_mistral(body: &Value, case: &Case) {
    check(body, case, true);
}

fn check(body: &Value, _: &Case, mistral: bool) {
    let messages = list(body, "messages");
    assert_eq!(messages[0]["role"], "system");
    assert_eq!(messages[1]["role"], "user");
    assert_ne!(messages.last().unwrap()["role"], "assistant");
    let mut seen = HashSet::new();
    let mut open: Vec<String> = Vec::new();
    let mut before = "";
    for message in messages {
        let role = text(message, "role");
        if role == "tool" {
            let id = text(message, "tool_call_id");
            let at = open.iter().position(|open| open == id);
            open.remove(at.unwrap_or_else(|| panic!("{id} answers nothing: {body:#}")));
            says_something(text(message, "content"));
        } else {
            assert!(open.is_empty(), "calls without results: {body:#}");
        }
        match role {
            "system" | "tool" => {}
            "user" => {
                assert!(!(mistral && before == "tool"), "the user right after results: {body:#}");
                user(&message["content"]);
            }
            "assistant" => {
                assert_ne!(before, "assistant");
                open = assistant(message, mistral, &mut seen);
            }
            other => panic!("role {other}"),
        }
        before = role;
    }
    assert!(open.is_empty(), "calls without results: {body:#}");
}

fn user(content: &Value) {
    if let Some(text) = content.as_str() {
        return says_something(text);
    }
    for part in content.as_array().filter(|parts| !parts.is_empty()).unwrap() {
        match text(part, "type") {
            "text" => says_something(text(part, "text")),
            "image_url" => assert!(text(&part["image_url"], "url").starts_with("data:image/")),
            other => panic!("part {other}"),
        }
    }
}

fn assistant(message: &Value, mistral: bool, seen: &mut HashSet<String>) -> Vec<String> {
    let Some(calls) = message.get("tool_calls") else {
        says_something(text(message, "content"));
        return Vec::new();
    };
    assert!(message["content"].is_null() || message["content"].as_str().is_some_and(|text| !text.trim().is_empty()));
    let calls = calls.as_array().filter(|calls| !calls.is_empty()).unwrap();
    let check = |call: &Value| {
        let id = text(call, "id");
        match mistral {
            true => assert!(id.len() == 9 && id.chars().all(|c| c.is_ascii_alphanumeric()), "{id}"),
            false => assert!((1..=128).contains(&id.len()) && id.chars().all(|c| c.is_ascii_graphic()), "{id}"),
        }
        is_new(id, seen);
        assert_eq!(call["type"], "function");
        is_word(text(&call["function"], "name"), 64);
        let arguments: Value = serde_json::from_str(text(&call["function"], "arguments")).unwrap();
        assert!(arguments.is_object());
        id.to_owned()
    };
    calls.iter().map(check).collect()
}
