//! What the responses format refuses.

use std::collections::HashSet;

use serde_json::Value;

use crate::Case;
use crate::rules::{is_new, is_word, list, says_something, text};

pub fn obeys(body: &Value, _: &Case) {
    assert_eq!(body["store"], false);
    let items = list(body, "input");
    let mut seen = HashSet::new();
    let mut open: Vec<(String, bool)> = Vec::new();
    for (at, item) in items.iter().enumerate() {
        match text(item, "type") {
            "message" => {
                if item["role"] == "user" {
                    assert!(open.is_empty(), "calls without results: {body:#}");
                }
                message(item);
            }
            "reasoning" => {
                says_something(text(item, "encrypted_content"));
                let next = items.get(at + 1).unwrap_or_else(|| panic!("a thought at the end: {body:#}"));
                assert!(next["role"] != "user", "a thought that nothing follows: {body:#}");
            }
            kind @ ("function_call" | "custom_tool_call") => {
                is_word(text(item, "call_id"), 64);
                is_word(text(item, "name"), 64);
                is_new(text(item, "call_id"), &mut seen);
                let custom = kind == "custom_tool_call";
                assert!(custom || serde_json::from_str::<Value>(text(item, "arguments")).unwrap().is_object());
                assert!(!custom || item["input"].is_string());
                open.push((text(item, "call_id").to_owned(), custom));
            }
            kind @ ("function_call_output" | "custom_tool_call_output") => {
                let wanted = (text(item, "call_id").to_owned(), kind == "custom_tool_call_output");
                let place = open.iter().position(|open| *open == wanted);
                open.remove(place.unwrap_or_else(|| panic!("{wanted:?} answers nothing: {body:#}")));
                says_something(text(item, "output"));
            }
            other => panic!("item {other}"),
        }
    }
    assert!(open.is_empty(), "calls without results: {body:#}");
    let last = items.last().unwrap();
    assert!(last["role"] == "user" || text(last, "type").ends_with("_output"), "{body:#}");
}

fn message(item: &Value) {
    for part in list(item, "content") {
        match (text(item, "role"), text(part, "type")) {
            ("user", "input_text") | ("assistant", "output_text") => says_something(text(part, "text")),
            ("user", "input_image") => assert!(text(part, "image_url").starts_with("data:image/")),
            other => panic!("{other:?}"),
        }
    }
}
