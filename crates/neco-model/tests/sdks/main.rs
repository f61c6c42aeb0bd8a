//! The vendors' own SDKs accept what a script says in their format.
//!
//! Needs Node, and npm for the first run: the packages are put below the target folder. Where they can't
//! be had, the test says so and checks nothing.

#![allow(missing_docs, clippy::unwrap_used)]

mod node;
mod server;

#[path = "../served/mod.rs"]
mod served;

use std::io::Write;

use neco_config::section::ProviderType;
use neco_model::Script;
use serde_json::{Value, json};

use node::Node;

/// One answer of text and one with a call.
fn script() -> Script {
    Script::new()
        .say("It says hello.")
        .usage(12, 5)
        .call("read_file", json!({ "path": "hello.txt" }))
        .saying("Let me look.")
        .usage(20, 9)
}

fn wanted() -> Value {
    json!([
        { "text": "It says hello.", "calls": [] },
        { "text": "Let me look.", "calls": [{ "name": "read_file", "arguments": { "path": "hello.txt" } }] },
    ])
}

fn check(kind: ProviderType, package: &str, program: &str) {
    let node = match Node::with(package) {
        Ok(node) => node,
        Err(reason) => {
            // Past the harness, which hides what a test that passes prints.
            let _ = writeln!(std::io::stderr(), "SKIPPED: the SDK {package} was not tried: {reason}");
            return;
        }
    };
    let address = server::start(kind, script());
    assert_eq!(node.run(program, &address), wanted(), "{package}");
}

#[test]
fn openai_chat_completions() {
    check(ProviderType::Openai, "openai", include_str!("openai_chat.mjs"));
}

#[test]
fn openai_responses() {
    check(ProviderType::Responses, "openai", include_str!("openai_responses.mjs"));
}

#[test]
fn anthropic() {
    check(ProviderType::Anthropic, "@anthropic-ai/sdk", include_str!("anthropic.mjs"));
}

#[test]
fn gemini() {
    check(ProviderType::Gemini, "@google/genai", include_str!("gemini.mjs"));
}
