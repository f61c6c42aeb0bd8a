//! Histories: sound ones as a session makes them, and all that can go wrong with them.

use neco_proto::{ErrorCode, Message, Part, Role, ToolCall, ToolResult};
use proptest::prelude::*;
use serde_json::{Value, json};

/// Who may have written an answer.
pub const AUTHORS: [&str; 8] = [
    "chat/one",
    "chat/two",
    "mistral/m",
    "anthropic/claude-opus-5",
    "anthropic/claude-sonnet-4-5-20250929",
    "openai/gpt-5",
    "gemini/gemini-3-pro",
    "gemini/gemini-2.5-pro",
];

fn text() -> impl Strategy<Value = String> {
    prop_oneof![4 => "[a-z]{1,6}", 1 => Just(String::new()), 1 => Just(" \n\t".to_owned()), 1 => Just("\"é\u{0}🐈\\".to_owned())]
}

fn id() -> impl Strategy<Value = String> {
    let odd = prop::sample::select(vec!["", "a b", "functions.read:0", "ü", "call_é", "x/y"]);
    let again = prop::sample::select(vec!["again", "abcdefghi"]);
    prop_oneof![4 => "call_[a-z0-9]{6}", 2 => again.prop_map(str::to_owned), 2 => odd.prop_map(str::to_owned), 1 => "[a-z]{60,150}"]
}

fn image() -> impl Strategy<Value = Part> {
    prop::sample::select(vec!["image/png", "image/jpeg", "image/tiff"])
        .prop_map(|kind| Part::Image { media_type: kind.to_owned(), data: "aGk=".to_owned() })
}

/// What vendors want back; it names the one who gave it.
fn opaque(author: &'static str) -> impl Strategy<Value = Option<Value>> {
    let secret = format!("secret of {author}");
    prop::sample::select(vec![
        None,
        Some(json!({ "type": "thinking", "signature": secret })),
        Some(json!({ "type": "redacted_thinking", "data": secret })),
        Some(json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": secret })),
        Some(json!({ "thought": true, "thoughtSignature": secret })),
        Some(json!({ "thoughtSignature": secret, "length": 2 })),
        Some(json!({ "thoughtSignature": secret, "length": 0 })),
        Some(json!({ "reasoning_details": [{ "type": "reasoning.text", "text": "t", "signature": secret }] })),
        Some(json!({ "extra_content": { "google": { "thought_signature": secret } } })),
        Some(json!({ "type": "custom_tool_call" })),
        Some(json!("text")),
        Some(json!({})),
        Some(Value::Null),
    ])
}

fn call(author: &'static str) -> impl Strategy<Value = Part> {
    let name = prop::sample::select(vec!["read_file", "grep", "", "read file", "9", "a.b", "ü"]);
    let arguments = prop::sample::select(vec!["{\"a\":1}", "", "{\"a\":", "[1]", "plain", " {} "]);
    (id(), name, arguments, opaque(author)).prop_map(|(id, name, arguments, opaque)| {
        let (name, arguments) = (name.to_owned(), arguments.to_owned());
        Part::ToolCall(ToolCall { id: id.as_str().into(), name, arguments, opaque })
    })
}

fn answer_part(author: &'static str) -> impl Strategy<Value = Part> {
    let thought = prop_oneof![3 => Just(format!("thought of {author}")), 1 => Just(String::new())];
    prop_oneof![
        3 => text().prop_map(|text| Part::Text { text }),
        2 => (thought, opaque(author)).prop_map(|(text, opaque)| Part::Reasoning { text, opaque }),
        3 => call(author),
        1 => image(),
    ]
}

fn message(role: Role, parts: Vec<Part>, model: Option<&str>) -> Message {
    Message { model: model.map(str::to_owned), ..Message::new(role, parts) }
}

fn user() -> impl Strategy<Value = Message> {
    let part = prop_oneof![4 => text().prop_map(|text| Part::Text { text }), 1 => image()];
    prop::collection::vec(part, 0..3).prop_map(|parts| message(Role::User, parts, None))
}

fn assistant() -> impl Strategy<Value = Message> {
    prop::sample::select(AUTHORS.to_vec()).prop_flat_map(|author| {
        let parts = prop::collection::vec(answer_part(author), 0..5);
        (parts, prop::bool::weighted(0.9))
            .prop_map(move |(parts, known)| message(Role::Assistant, parts, known.then_some(author)))
    })
}

fn result(id: &str, output: &str, failed: bool) -> Part {
    let error_code = failed.then_some(ErrorCode::RateLimited);
    Part::ToolResult(ToolResult { call_id: id.into(), output: output.to_owned(), error_code })
}

fn orphans() -> impl Strategy<Value = Message> {
    let results = prop::collection::vec((id(), text()), 0..3);
    results.prop_map(|results| {
        message(Role::Tool, results.iter().map(|(id, output)| result(id, output, false)).collect(), None)
    })
}

/// How the results of an answer come: whole, some missing, turned around, twice, parted by what
/// the user says, or not at all.
#[derive(Clone, Copy, Debug)]
enum Results {
    Whole,
    Some,
    Reversed,
    Twice,
    Parted,
    None,
}

fn results(calls: &[String], how: Results, output: &str) -> Vec<Message> {
    let all: Vec<Part> = calls.iter().map(|id| result(id, output, id.len() % 2 == 0)).collect();
    let tool = |parts: Vec<Part>| message(Role::Tool, parts, None);
    match how {
        _ if calls.is_empty() => Vec::new(),
        Results::Whole => vec![tool(all)],
        Results::Some => vec![tool(all.into_iter().skip(1).collect())],
        Results::Reversed => vec![tool(all.into_iter().rev().collect())],
        Results::Twice => vec![tool(all.clone()), tool(all)],
        Results::Parted => {
            let (first, rest) = all.split_at(all.len() / 2);
            vec![tool(first.to_vec()), Message::user("wait"), tool(rest.to_vec())]
        }
        Results::None => Vec::new(),
    }
}

fn calls(message: &Message) -> Vec<String> {
    message.tool_calls().map(|call| call.id.as_str().to_owned()).collect()
}

fn turn() -> impl Strategy<Value = Vec<Message>> {
    let how = prop::sample::select(vec![
        Results::Whole,
        Results::Whole,
        Results::Some,
        Results::Reversed,
        Results::Twice,
        Results::Parted,
        Results::None,
    ]);
    prop_oneof![
        2 => user().prop_map(|message| vec![message]),
        4 => (assistant(), how, text()).prop_map(|(answer, how, output)| {
            let results = results(&calls(&answer), how, &output);
            std::iter::once(answer).chain(results).collect()
        }),
        1 => orphans().prop_map(|message| vec![message]),
    ]
}

/// Anything.
pub fn history() -> impl Strategy<Value = Vec<Message>> {
    prop::collection::vec(turn(), 0..10).prop_map(|turns| turns.concat())
}

/// As a session makes it: the user asks, the model calls until it is done.
pub fn sound() -> impl Strategy<Value = Vec<Message>> {
    let step = (assistant(), text(), prop::bool::weighted(0.3));
    prop::collection::vec(step, 1..10).prop_map(|steps| {
        let mut messages = vec![Message::user("begin")];
        for (at, (mut answer, output, steered)) in steps.into_iter().enumerate() {
            for (index, part) in answer.parts.iter_mut().enumerate() {
                if let Part::ToolCall(call) = part {
                    call.id = format!("{}{at}_{index}", call.id.as_str()).as_str().into();
                }
            }
            if answer.parts.iter().all(|part| matches!(part, Part::Reasoning { .. } | Part::Image { .. })) {
                continue;
            }
            let calls = calls(&answer);
            messages.push(answer);
            messages.extend(results(&calls, Results::Whole, &output));
            if calls.is_empty() || steered {
                messages.push(Message::user("more"));
            }
        }
        messages
    })
}

/// Whether a model would be asked now.
pub fn is_asked(messages: &[Message]) -> bool {
    messages.last().is_some_and(|message| message.role != Role::Assistant)
}
