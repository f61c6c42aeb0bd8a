//! Rules that all vendors share.

use std::collections::HashSet;

use serde_json::Value;

use crate::Case;
use crate::histories::AUTHORS;

/// Nobody gets what another model thought, and nobody gets a picture it can't see.
pub fn all(body: &Value, case: &Case) {
    let text = body.to_string();
    let label = case.label.split('?').next().unwrap();
    for author in AUTHORS.into_iter().filter(|author| !may_read(label, author)) {
        let words = if may_read_text(label, author) { &["secret"][..] } else { &["secret", "thought"][..] };
        for word in words {
            // With its end: one name may be the beginning of another.
            let whole = [format!("{word} of {author}\""), format!("{word} of {author}thought")];
            assert!(!whole.iter().any(|whole| text.contains(whole)), "{label} gets a {word} of {author}: {body:#}");
        }
    }
    let pictures = text.contains("aGk=");
    assert!(case.vision || !pictures, "{label} can't see: {body:#}");
    assert!(!text.contains("image/tiff"), "{body:#}");
}

/// What is signed is for the very model.
fn may_read(label: &str, author: &str) -> bool {
    author == label || author.strip_prefix(label).is_some_and(|date| date == "-20250929")
}

/// Plain thoughts of chat completions are for all models of a provider.
fn may_read_text(label: &str, author: &str) -> bool {
    let provider = |name: &str| name.split('/').next().unwrap().to_owned();
    ["chat", "mistral"].contains(&provider(label).as_str()) && provider(author) == provider(label)
}

/// The messages, without the marks that move on with the conversation.
pub fn conversation(body: &Value) -> Vec<Value> {
    let field = ["messages", "input", "contents"].into_iter().find_map(|field| body.get(field)).unwrap();
    let mut messages = field.as_array().unwrap().clone();
    messages.iter_mut().for_each(unmark);
    // What the user says next may join what was said before.
    messages.into_iter().flat_map(parts).collect()
}

fn unmark(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.shift_remove("cache_control");
            fields.values_mut().for_each(unmark);
        }
        Value::Array(list) => list.iter_mut().for_each(unmark),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn parts(message: Value) -> Vec<Value> {
    match message.get("content").and_then(Value::as_array) {
        Some(blocks) => blocks.iter().map(|block| serde_json::json!([message["role"], block])).collect(),
        None => vec![message],
    }
}

pub fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_else(|| panic!("no {field}: {value:#}"))
}

pub fn list<'a>(value: &'a Value, field: &str) -> &'a [Value] {
    let list = value[field].as_array().unwrap_or_else(|| panic!("no {field}: {value:#}"));
    assert!(!list.is_empty(), "empty {field}: {value:#}");
    list
}

pub fn says_something(text: &str) {
    assert!(!text.trim().is_empty(), "blank text");
}

pub fn is_word(text: &str, longest: usize) {
    let word =
        (1..=longest).contains(&text.len()) && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-".contains(c));
    assert!(word, "{text:?} is refused");
}

pub fn is_new(id: &str, seen: &mut HashSet<String>) {
    assert!(seen.insert(id.to_owned()), "{id} is used twice");
}
