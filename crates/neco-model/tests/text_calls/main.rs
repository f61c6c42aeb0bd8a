//! Calls written as text: what is one and what is none, however the text is cut.

#![allow(missing_docs, clippy::unwrap_used)]

mod cases;
mod properties;
mod request;

use std::sync::Arc;

use neco_model::ToolDeclaration;
use neco_model::wire::text_calls::{Declared, Seen, Spotter, Trust};
use serde_json::{Value, json};

pub fn tools() -> Arc<[ToolDeclaration]> {
    let tool = |name: &str, properties: Value, required: Value| ToolDeclaration {
        name: name.to_owned(),
        description: String::new(),
        schema: json!({ "type": "object", "properties": properties, "required": required }),
    };
    let text = json!({ "type": "string" });
    Arc::new([
        tool("read_file", json!({ "path": text, "limit": { "type": "integer" } }), json!(["path"])),
        tool("write_file", json!({ "path": text, "content": text }), json!(["path", "content"])),
        tool("bash", json!({ "command": text }), json!(["command"])),
        tool("list", json!({ "deep": { "type": "boolean" } }), json!([])),
    ])
}

/// What text was shown, and what the answer is.
#[derive(Debug, PartialEq)]
pub struct Read {
    pub shown: String,
    pub seen: Seen,
}

pub fn read<'a>(pieces: impl IntoIterator<Item = &'a str>, trust: Trust) -> Read {
    let mut spotter = Spotter::new(Declared::new(tools()), trust);
    let mut shown = String::new();
    for piece in pieces {
        spotter.push(piece, &mut shown);
    }
    let seen = spotter.end(&mut shown);
    Read { shown, seen }
}

/// The calls with their arguments; nothing when the answer is text.
pub fn calls(read: &Read) -> Vec<(String, Value)> {
    match &read.seen {
        Seen::Calls(calls) => calls.iter().map(|call| (call.name.clone(), arguments(&call.arguments))).collect(),
        Seen::Text | Seen::Half(_) => Vec::new(),
    }
}

/// A call written as `name arguments`.
pub fn call(text: &str) -> (String, Value) {
    let (name, text) = text.split_once(' ').unwrap();
    (name.to_owned(), arguments(text))
}

/// What is no JSON is text.
fn arguments(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}
