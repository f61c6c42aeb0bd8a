//! What Gemini refuses.

use std::collections::HashSet;

use serde_json::Value;

use crate::Case;
use crate::rules::{is_new, is_word, list, says_something, text};

pub fn obeys(body: &Value, case: &Case) {
    check(body, case, false);
}

/// The first call of every turn must have a signature.
pub fn obeys_signed(body: &Value, case: &Case) {
    check(body, case, true);
}

fn check(body: &Value, _: &Case, signed: bool) {
    let contents = list(body, "contents");
    assert_eq!(contents[0]["role"], "user");
    assert_eq!(contents.last().unwrap()["role"], "user");
    let mut seen = HashSet::new();
    let mut open: Vec<(String, String)> = Vec::new();
    let mut before = "";
    for content in contents {
        let role = text(content, "role");
        let parts = list(content, "parts");
        match role {
            "user" => {
                user(parts, &open);
                open.clear();
            }
            "model" => {
                assert_ne!(before, "model", "two turns of the model in a row: {body:#}");
                open = model(parts, signed, &mut seen);
            }
            other => panic!("role {other}"),
        }
        before = role;
    }
    assert!(open.is_empty(), "calls without results: {body:#}");
}

/// As many results as calls, in their order, and nothing else beside them.
fn user(parts: &[Value], open: &[(String, String)]) {
    let results: Vec<&Value> = parts.iter().filter_map(|part| part.get("functionResponse")).collect();
    assert_eq!(results.len(), open.len(), "calls and results differ: {parts:#?} {open:?}");
    for (result, (id, name)) in results.iter().zip(open) {
        assert_eq!((text(result, "id"), text(result, "name")), (id.as_str(), name.as_str()));
        assert!(result["response"].as_object().is_some_and(|fields| !fields.is_empty()));
    }
    for part in parts.iter().filter(|part| part.get("functionResponse").is_none()) {
        assert!(open.is_empty(), "results mixed with other things: {parts:#?}");
        match part.get("inlineData") {
            Some(data) => assert!(text(data, "mimeType").starts_with("image/")),
            None => says_something(text(part, "text")),
        }
    }
}

fn model(parts: &[Value], signed: bool, seen: &mut HashSet<String>) -> Vec<(String, String)> {
    let mut calls = Vec::new();
    for part in parts {
        let Some(call) = part.get("functionCall") else {
            let signed = part.get("thoughtSignature").is_some();
            assert!(signed || !text(part, "text").is_empty(), "{part:#}");
            continue;
        };
        is_word(text(call, "id"), 64);
        is_word(text(call, "name"), 64);
        is_new(text(call, "id"), seen);
        assert!(call["args"].is_object());
        assert!(!signed || !calls.is_empty() || part["thoughtSignature"].is_string(), "no signature: {part:#}");
        calls.push((text(call, "id").to_owned(), text(call, "name").to_owned()));
    }
    calls
}
