//! What a model that writes its calls as text is asked, and how its answers are read.

use std::sync::Arc;

use neco_config::section::TextToolCalls;
use neco_model::wire::format::{Problem, Template, Wire};
use neco_model::wire::openai_chat::{Dialect, OpenaiChat};
use neco_model::wire::reader::Reader;
use neco_model::wire::target::Target;
use neco_model::{Answer, Delta, ErrorKind, FinishReason, Price, Request};
use neco_proto::{Message, Part, Role, ToolCall, ToolResult};
use serde_json::{Value, json};

use crate::tools;

fn wire(setting: TextToolCalls) -> OpenaiChat {
    OpenaiChat::bound_to(Target::new("here", "small"), Dialect::default()).with_text_calls(setting)
}

fn request(messages: Vec<Message>) -> Request {
    Request {
        system: "You are Neco.".into(),
        tools: tools(),
        history: messages.into_iter().collect(),
        cache_key: String::new(),
        output: None,
        temperature: None,
        max_output: None,
        agent: None,
    }
}

fn conversation() -> Vec<Message> {
    let call = ToolCall {
        id: "a".into(),
        name: "read_file".to_owned(),
        arguments: "{\"path\":\"x\"}".to_owned(),
        opaque: None,
    };
    let parts = vec![Part::Text { text: "I look.".to_owned() }, Part::ToolCall(call)];
    let result = ToolResult { call_id: "a".into(), output: "hello".to_owned(), error_code: None };
    vec![
        Message::user("read x"),
        Message::new(Role::Assistant, parts),
        Message::tool_results(vec![result]),
        Message::user("and?"),
    ]
}

fn encoded(wire: &OpenaiChat, request: &Request) -> Value {
    serde_json::from_slice(&wire.encode(request).concat()).unwrap()
}

fn answer(wire: &OpenaiChat, events: &[Value], end: &str) -> (Answer, Vec<Delta>, Option<ErrorKind>) {
    let mut body: String = events.iter().map(|event| format!("data: {event}\n\n")).collect();
    body.push_str(end);
    let mut reader = Reader::new(wire.decoder_for(&request(vec![Message::user("hi")])));
    let mut deltas = Vec::new();
    let mut read = Ok(());
    for byte in body.as_bytes() {
        if read.is_ok() && !reader.is_over() {
            read = reader.push(&[*byte], &mut deltas);
        }
    }
    let read = read.and_then(|()| if reader.is_over() { Ok(()) } else { reader.end(&mut deltas) });
    let mut answer = Answer::default();
    deltas.iter().for_each(|delta| answer.add(delta));
    (answer, deltas, read.err().map(|problem| problem.kind))
}

fn said(text: &str, finish: Option<&str>) -> Vec<Value> {
    let mut events: Vec<Value> = text
        .split_inclusive([' ', '"'])
        .map(|piece| json!({ "choices": [{ "index": 0, "delta": { "content": piece } }] }))
        .collect();
    if let Some(finish) = finish {
        events.push(json!({ "choices": [{ "index": 0, "delta": {}, "finish_reason": finish }] }));
    }
    events
}

const DONE: &str = "data: [DONE]\n\n";

#[test]
fn tools_calls_and_results_are_text() {
    let wire = wire(TextToolCalls::Always);
    let body = encoded(&wire, &request(conversation()));
    assert_eq!(body.get("tools"), None);
    let messages = body["messages"].as_array().unwrap();
    let system = messages[0]["content"].as_str().unwrap();
    assert!(
        system.starts_with("You are Neco.\n\n# Tools\n\n- read_file(") && system.contains("one JSON object"),
        "{system}"
    );
    let roles: Vec<&str> = messages.iter().map(|message| message["role"].as_str().unwrap()).collect();
    assert_eq!(roles, ["system", "user", "assistant", "user", "assistant", "user"]);
    let call = "I look.\n{\"name\": \"read_file\", \"arguments\": {\"path\":\"x\"}}";
    assert_eq!(messages[2], json!({ "role": "assistant", "content": call }));
    assert!(messages[3]["content"].as_str().unwrap().starts_with("Result of the tool:\nhello\n\n"));
    let nothing_said = encoded(&wire, &Request { system: "".into(), ..request(conversation()) });
    assert!(nothing_said["messages"][0]["content"].as_str().unwrap().starts_with("# Tools"));
}

#[test]
fn a_template_that_drops_tools_gets_them_as_text_and_one_that_shows_them_does_not() {
    let wire = wire(TextToolCalls::Auto);
    let request = request(conversation());
    assert!(wire.asks_for_template());
    wire.heed(Template::ShowsTools);
    let native = encoded(&wire, &request);
    assert!(native["tools"].is_array() && native["messages"][2]["tool_calls"].is_array());
    wire.heed(Template::DropsTools);
    let text = encoded(&wire, &request);
    assert!(text.get("tools").is_none() && text["messages"][2].get("tool_calls").is_none());
}

#[test]
fn a_server_that_stumbles_over_calls_is_asked_without_them_from_then_on() {
    let wire = wire(TextToolCalls::Auto);
    let error = json!({ "error": {
        "code": 500,
        "message": "The model produced output that does not match the expected peg-native format",
        "type": "server_error",
    }});
    let mut events = said("```json", None);
    events.push(error.clone());
    let (answer, _, kind) = answer(&wire, &events, "");
    assert_eq!((answer.finish, kind), (None, Some(ErrorKind::MalformedToolCall)));
    let problem = wire.problem(500, error.to_string().as_bytes());
    assert_eq!(problem.kind, ErrorKind::MalformedToolCall);
    assert!(wire.changes_after(&problem));
    assert!(!wire.changes_after(&problem), "there is nothing more to change");
    assert!(encoded(&wire, &request(conversation())).get("tools").is_none());
    let refusal = Problem::new(ErrorKind::InvalidRequest, "registry.ollama.ai/library/gemma2 does not support tools");
    assert!(self::wire(TextToolCalls::Auto).changes_after(&refusal));
    assert!(!self::wire(TextToolCalls::Never).changes_after(&refusal));
}

#[test]
fn whole_calls_count_although_the_server_stumbles_over_what_follows_them() {
    let error = json!({ "error": {
        "code": 500,
        "message": "The model produced output that does not match the expected peg-native format",
        "type": "server_error",
    }});
    let call = |arguments: &str| {
        let function = json!({ "name": "bash", "arguments": arguments });
        let calls = json!([{ "index": 0, "id": "c1", "type": "function", "function": function }]);
        vec![json!({ "choices": [{ "index": 0, "delta": { "tool_calls": calls } }] }), error.clone()]
    };
    let (found, _, error) = answer(&wire(TextToolCalls::Auto), &call("{\"command\": \"ls\"}"), "");
    assert_eq!((error, found.finish, found.calls.len()), (None, Some(FinishReason::ToolCalls), 1));
    for half in ["", "{\"command\": \"ls", "{\"command\": \"ls\"} {"] {
        let (found, _, error) = answer(&wire(TextToolCalls::Auto), &call(half), "");
        assert_eq!((error, found.finish), (Some(ErrorKind::MalformedToolCall), None), "{half:?}");
    }
}

#[test]
fn calls_in_the_text_become_calls_without_ids() {
    let text = "Let me see.\n```json\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}\n```";
    let (found, deltas, error) = answer(&wire(TextToolCalls::Auto), &said(text, Some("stop")), DONE);
    assert_eq!((error, found.text.as_str(), found.finish), (None, "Let me see.", Some(FinishReason::ToolCalls)));
    assert_eq!((found.calls.len(), found.calls[0].id.clone()), (1, None));
    assert_eq!((found.calls[0].name.as_str(), found.calls[0].arguments.as_str()), ("read_file", "{\"path\":\"a\"}"));
    assert_eq!(deltas.first(), Some(&Delta::Text("Let".to_owned())), "prose is not held back");
    let (found, _, error) = answer(&wire(TextToolCalls::Never), &said(text, Some("stop")), DONE);
    assert_eq!((error, found.text.as_str(), found.finish), (None, text, Some(FinishReason::Stop)));
}

#[test]
fn a_cut_stream_runs_nothing() {
    let whole = "{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}";
    let (found, _, error) = answer(&wire(TextToolCalls::Auto), &said(whole, None), "");
    assert_eq!((error, found.calls.len(), found.finish), (Some(ErrorKind::StreamCut), 0, None));
    let half = "{\"name\": \"read_file\", \"arguments\": {\"path\": ";
    let (found, _, error) = answer(&wire(TextToolCalls::Auto), &said(half, None), "");
    assert_eq!((error, found.calls.len()), (Some(ErrorKind::StreamCut), 0));
    let (found, _, error) = answer(&wire(TextToolCalls::Auto), &said(half, Some("stop")), DONE);
    assert_eq!((error, found.calls.len()), (Some(ErrorKind::MalformedToolCall), 0));
    let (found, _, error) = answer(&wire(TextToolCalls::Auto), &said(half, Some("length")), DONE);
    assert_eq!((error, found.text.as_str(), found.finish), (None, half, Some(FinishReason::Length)));
}

#[test]
fn what_follows_a_call_of_a_model_that_was_told_is_not_waited_for() {
    let text = "<tool_call>\n{\"name\": \"list\"}\n</tool_call>\n\nThe result is: a.txt";
    let (found, _, error) = answer(&wire(TextToolCalls::Always), &said(text, None), "");
    assert_eq!((error, found.text.as_str(), found.calls.len()), (None, "", 1));
    assert_eq!(found.finish, Some(FinishReason::ToolCalls));
}

#[test]
fn calls_of_the_format_s_own_make_the_text_text() {
    let mut events = said("{\"name\": \"list\"}", None);
    let call = json!({ "index": 0, "id": "c", "function": { "name": "list", "arguments": "{}" } });
    events
        .push(json!({ "choices": [{ "index": 0, "delta": { "tool_calls": [call] }, "finish_reason": "tool_calls" }] }));
    let (found, _, error) = answer(&wire(TextToolCalls::Auto), &events, DONE);
    assert_eq!((error, found.text.as_str(), found.calls.len()), (None, "{\"name\": \"list\"}", 1));
    assert_eq!(found.calls[0].id.as_deref(), Some("c"));
}

#[test]
fn thoughts_before_a_call_stay_thoughts() {
    let text = "<think>\nI need it.\n</think>\n\n<tool_call>\n{\"name\": \"list\"}\n</tool_call>";
    let (found, _, error) = answer(&wire(TextToolCalls::Always), &said(text, Some("stop")), DONE);
    assert_eq!((error, found.reasoning[0].0.as_str(), found.calls.len()), (None, "I need it.\n", 1));
    assert_eq!(found.text, "");
}

#[test]
fn without_tools_json_is_text() {
    let wire = wire(TextToolCalls::Always);
    let request = Request { tools: Arc::new([]), ..request(vec![Message::user("hi")]) };
    let body = encoded(&wire, &request);
    assert_eq!(body["messages"][0]["content"], "You are Neco.");
}

#[test]
fn what_is_paid_for_is_read_to_its_usage() {
    let mut target = Target::new("vendor", "small");
    target.info.price = Some(Price { input: 1.0, output: 2.0, cache_read: 1.0, cache_write: 1.0, long: None });
    let wire = OpenaiChat::bound_to(target, Dialect::default()).with_text_calls(TextToolCalls::Always);
    let mut events = said("<tool_call>\n{\"name\": \"list\"}\n</tool_call>\n\nThe result is: a.txt", Some("stop"));
    events.push(json!({ "choices": [], "usage": { "prompt_tokens": 7, "completion_tokens": 3 } }));
    let (found, _, error) = answer(&wire, &events, DONE);
    assert_eq!((error, found.calls.len(), found.usage.map(|usage| usage.input)), (None, 1, Some(7)));
}

#[test]
fn a_model_that_goes_in_circles_is_told_to_answer() {
    let round = || conversation().drain(1..3).collect::<Vec<_>>();
    let messages: Vec<Message> = [vec![Message::user("read x")], round(), round()].concat();
    let body = encoded(&wire(TextToolCalls::Always), &request(messages.clone()));
    let said = |number: usize| body["messages"][number]["content"].as_str().unwrap();
    assert!(said(3).contains("hello\n\nGo on with the task"), "{body}");
    assert!(said(5).contains("hello\n\nThis was done before. Use no tool now"), "{body}");
    let native = encoded(&wire(TextToolCalls::Auto), &request(messages));
    assert_eq!(native["messages"][5]["content"], "hello");
}
