//! The recorded shapes of vendors' answers, whole and in small pieces.

#![allow(missing_docs, clippy::unwrap_used)]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use neco_config::section::{Config, ProviderSection, ProviderType};
use neco_model::wire::format::Wire;
use neco_model::wire::openai_chat::{ChatDecoder, Dialect, OpenaiChat, ReasoningBack};
use neco_model::wire::reader::Reader;
use neco_model::{Answer, Delta, ErrorKind, FinishReason, Models, Request};
use neco_proto::{Message, MessageId, Part, Role, ToolCall, ToolResult};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Index {
    fixtures: Vec<Fixture>,
    requests: Vec<NextRequest>,
}

#[derive(Deserialize)]
struct Fixture {
    id: String,
    status: u16,
    headers: BTreeMap<String, String>,
    body: String,
    expected: Value,
}

#[derive(Deserialize)]
struct NextRequest {
    id: String,
    after: String,
    tool_results: BTreeMap<String, String>,
    body: String,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/llm")
}

fn file(name: &str) -> Vec<u8> {
    std::fs::read(folder().join(name)).unwrap()
}

fn index() -> Index {
    serde_json::from_slice(&file("index.json")).unwrap()
}

/// What the bytes add up to, and the kind of the error if there was one.
fn read(body: &[u8], pieces_of: usize) -> (Answer, Option<ErrorKind>) {
    let mut reader = Reader::new(Box::<ChatDecoder>::default());
    let mut out = Vec::new();
    let pushed = body
        .chunks(pieces_of)
        .try_for_each(|piece| if reader.is_over() { Ok(()) } else { reader.push(piece, &mut out) });
    let ended = pushed.and_then(|()| if reader.is_over() { Ok(()) } else { reader.end(&mut out) });
    let mut answer = Answer::default();
    out.iter().for_each(|delta| answer.add(delta));
    (answer, ended.err().map(|problem| problem.kind))
}

fn kind(name: &str) -> ErrorKind {
    match name {
        "auth" => ErrorKind::Auth,
        "permission" => ErrorKind::Permission,
        "not_found" => ErrorKind::NotFound,
        "invalid_request" => ErrorKind::InvalidRequest,
        "context_length" => ErrorKind::ContextLength,
        "request_too_large" => ErrorKind::RequestTooLarge,
        "rate_limit" => ErrorKind::RateLimit,
        "quota" => ErrorKind::Quota,
        "overloaded" => ErrorKind::Overloaded,
        "server_error" => ErrorKind::ServerError,
        "timeout" => ErrorKind::Timeout,
        "content_filter" => ErrorKind::ContentFilter,
        "stream_cut" => ErrorKind::StreamCut,
        "malformed_tool_call" => ErrorKind::MalformedToolCall,
        other => panic!("unknown kind {other}"),
    }
}

fn finish(name: &str) -> Option<FinishReason> {
    match name {
        "stop" => Some(FinishReason::Stop),
        "tool_calls" => Some(FinishReason::ToolCalls),
        "length" => Some(FinishReason::Length),
        "content_filter" => Some(FinishReason::ContentFilter),
        "refusal" => Some(FinishReason::Refusal),
        "error" => None,
        other => panic!("unknown finish {other}"),
    }
}

fn check_answer(fixture: &Fixture, answer: &Answer, error: Option<ErrorKind>) {
    let expected = &fixture.expected;
    let id = &fixture.id;
    assert_eq!(error, expected["error"]["kind"].as_str().map(kind), "{id}");
    assert_eq!(answer.finish, finish(expected["finish"].as_str().unwrap()), "{id}");
    let text = expected["refusal"].as_str().unwrap_or_else(|| expected["text"].as_str().unwrap());
    assert_eq!(answer.text, text, "{id}");
    let reasoning: String = answer.reasoning.iter().map(|(text, _)| text.as_str()).collect();
    assert_eq!(reasoning, expected["reasoning"].as_str().unwrap(), "{id}");
    if error.is_none() {
        check_calls(fixture, answer);
        check_usage(fixture, answer);
        check_opaque(fixture, answer);
    }
}

fn check_calls(fixture: &Fixture, answer: &Answer) {
    let expected = fixture.expected["tool_calls"].as_array().unwrap();
    assert_eq!(answer.calls.len(), expected.len(), "{}", fixture.id);
    for (call, expected) in answer.calls.iter().zip(expected) {
        assert_eq!(call.id.as_deref(), expected["id"].as_str());
        assert_eq!(call.name, expected["name"].as_str().unwrap());
        match expected["arguments_raw"].as_str() {
            Some(raw) => assert_eq!(call.arguments, raw),
            None if call.arguments.is_empty() => assert_eq!(expected["arguments"], json!({})),
            None => assert_eq!(serde_json::from_str::<Value>(&call.arguments).unwrap(), expected["arguments"]),
        }
    }
}

fn check_usage(fixture: &Fixture, answer: &Answer) {
    let expected = &fixture.expected["usage"];
    assert_eq!(answer.usage.is_some(), !expected.is_null(), "{}", fixture.id);
    let Some(usage) = answer.usage else { return };
    let found = json!({
        "input": usage.input, "output": usage.output, "cache_read": usage.cache_read,
        "cache_write": usage.cache_write, "reasoning": usage.reasoning,
    });
    assert_eq!(&found, expected, "{}", fixture.id);
}

/// What must go back: the text itself, or the items with their signatures.
fn check_opaque(fixture: &Fixture, answer: &Answer) {
    for opaque in fixture.expected["opaque"].as_array().unwrap() {
        match opaque["type"].as_str().unwrap() {
            "reasoning_content" => assert_eq!(answer.reasoning[0].0, opaque["value"].as_str().unwrap()),
            "reasoning_details" => {
                let details = &answer.reasoning.last().unwrap().1.as_ref().unwrap()["reasoning_details"];
                assert_eq!(details[0]["signature"], opaque["signature"]);
            }
            other => panic!("unknown opaque {other}"),
        }
    }
}

#[test]
fn every_answer_reads_as_expected_in_any_pieces() {
    let mut count = 0;
    for fixture in index().fixtures.iter().filter(|fixture| fixture.status == 200) {
        let body = file(&fixture.body);
        for pieces_of in [body.len().max(1), 1, 3, 7] {
            let (answer, error) = read(&body, pieces_of);
            check_answer(fixture, &answer, error);
        }
        count += 1;
    }
    assert!(count >= 28, "{count}");
}

#[test]
fn a_cut_anywhere_never_gives_a_finish() {
    for name in ["chat-tool", "chat-tools-parallel", "chat-text", "chat-deepseek-reasoning-tool", "chat-nonstream"] {
        let fixture = index().fixtures.into_iter().find(|fixture| fixture.id == name).unwrap();
        let body = file(&fixture.body);
        let text = String::from_utf8(body.clone()).unwrap();
        let marker = if name == "chat-nonstream" { text.len() } else { text.find("\"finish_reason\":\"").unwrap() };
        for end in 0..marker {
            let (answer, error) = read(&body[..end], 64);
            assert_eq!((answer.finish, error), (None, Some(ErrorKind::StreamCut)), "{name} cut at {end}");
        }
    }
}

/// Every error is served by a real server and comes back through the real client.
#[tokio::test]
async fn every_http_error_is_understood() {
    let mut count = 0;
    for fixture in index().fixtures.iter().filter(|fixture| fixture.status != 200) {
        let error = ask_server_that_answers(fixture).await;
        let expected = &fixture.expected["error"];
        let id = &fixture.id;
        assert_eq!(error.kind, kind(expected["kind"].as_str().unwrap()), "{id}: {error}");
        assert_eq!(error.retryable(), expected["retryable"].as_bool().unwrap(), "{id}");
        assert_eq!(error.status, Some(fixture.status), "{id}");
        let retry_after = expected["retry_after_ms"].as_u64().map(Duration::from_millis);
        assert_eq!(error.retry_after, retry_after, "{id}");
        assert!(!error.message.contains("sk-fix"), "{id}: {error}");
        assert!(error.message.contains("vendor"), "{id}: {error}");
        count += 1;
    }
    assert!(count >= 25, "{count}");
}

async fn ask_server_that_answers(fixture: &Fixture) -> neco_model::ModelError {
    use futures::StreamExt;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let body = file(&fixture.body);
    let headers: HeaderMap = fixture
        .headers
        .iter()
        .map(|(name, value)| (HeaderName::try_from(name).unwrap(), HeaderValue::from_str(value).unwrap()))
        .collect();
    let status = fixture.status;
    tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        let mut buffer = [0; 16 * 1024];
        let _ = socket.read(&mut buffer).await.unwrap();
        let mut answer = format!("HTTP/1.1 {status} X\r\ncontent-length: {}\r\nconnection: close\r\n", body.len());
        for (name, value) in &headers {
            answer.push_str(&format!("{name}: {}\r\n", value.to_str().unwrap()));
        }
        answer.push_str("\r\n");
        socket.write_all(answer.as_bytes()).await.unwrap();
        socket.write_all(&body).await.unwrap();
    });
    let section = ProviderSection {
        kind: Some(ProviderType::Openai),
        base: Some(format!("http://{address}/v1")),
        api_key: Some("sk-fix".to_owned()),
        ..ProviderSection::default()
    };
    let config = Config { model_providers: [("vendor".to_owned(), section)].into(), ..Config::default() };
    let provider = Models::new(&config, &|_| None).unwrap().provider_for("vendor/model").unwrap();
    let deltas: Vec<_> = provider.stream(request(vec![Message::user("hi")])).collect().await;
    deltas.into_iter().find_map(Result::err).unwrap()
}

fn request(messages: Vec<Message>) -> Request {
    Request {
        system: "You are Neco.".into(),
        tools: Vec::new().into(),
        history: messages.into_iter().collect(),
        cache_key: String::new(),
    }
}

fn assistant(answer: &Answer, provider: &str) -> Message {
    let mut parts: Vec<Part> = answer
        .reasoning
        .iter()
        .map(|(text, opaque)| Part::Reasoning { text: text.clone(), opaque: opaque.clone() })
        .collect();
    if !answer.text.is_empty() {
        parts.push(Part::Text { text: answer.text.clone() });
    }
    parts.extend(answer.calls.iter().map(|call| {
        Part::ToolCall(ToolCall {
            id: call.id.clone().unwrap().into(),
            name: call.name.clone(),
            arguments: call.arguments.clone(),
            opaque: call.opaque.clone(),
        })
    }));
    Message { id: MessageId::new(), role: Role::Assistant, parts, model: Some(format!("{provider}/model")) }
}

fn encode(wire: &OpenaiChat, request: &Request) -> Value {
    serde_json::from_slice(&wire.encode(request).concat()).unwrap()
}

fn wire(provider: &str, reasoning_back: ReasoningBack) -> OpenaiChat {
    let dialect = Dialect { reasoning_back, ..Dialect::default() };
    OpenaiChat::new(provider, "model", Default::default(), dialect)
}

/// Every field of `part` is in `whole`; further fields are free.
fn is_part_of(part: &Value, whole: &Value) -> bool {
    match (part, whole) {
        (Value::Object(part), Value::Object(whole)) => {
            part.iter().all(|(name, value)| whole.get(name).is_some_and(|whole| is_part_of(value, whole)))
        }
        (Value::Array(part), Value::Array(whole)) => {
            part.len() == whole.len() && part.iter().zip(whole).all(|(part, whole)| is_part_of(part, whole))
        }
        (part, whole) => part == whole,
    }
}

#[test]
fn the_next_request_ends_as_the_vendor_wants_it() {
    let index = index();
    assert_eq!(index.requests.len(), 2);
    for next in &index.requests {
        let fixture = index.fixtures.iter().find(|fixture| fixture.id == next.after).unwrap();
        let (answer, _) = read(&file(&fixture.body), 5);
        let results = next
            .tool_results
            .iter()
            .map(|(id, output)| ToolResult { call_id: id.as_str().into(), output: output.clone(), error_code: None })
            .collect();
        let messages = vec![Message::user("go"), assistant(&answer, "vendor"), Message::tool_results(results)];
        let body = encode(&wire("vendor", ReasoningBack::Required), &request(messages));
        let wanted: Value = serde_json::from_slice(&file(&next.body)).unwrap();
        let tail = wanted["tail"].as_array().unwrap();
        let all = body[wanted["field"].as_str().unwrap()].as_array().unwrap();
        let found = Value::Array(all[all.len() - tail.len()..].to_vec());
        assert!(is_part_of(&wanted["tail"], &found), "{}: {found:#}", next.id);
    }
}

#[test]
fn thoughts_go_back_only_to_who_thought_them() {
    let (answer, _) = read(&file("openai-chat/chat-deepseek-reasoning-tool.sse"), 5);
    let results = vec![ToolResult { call_id: "call_0_fix".into(), output: "R".to_owned(), error_code: None }];
    let request = request(vec![Message::user("go"), assistant(&answer, "vendor"), Message::tool_results(results)]);
    let message = |provider: &str, back| encode(&wire(provider, back), &request)["messages"][2].clone();
    assert_eq!(message("vendor", ReasoningBack::Kept)["reasoning_content"], "Need the file.");
    assert_eq!(message("vendor", ReasoningBack::Never).get("reasoning_content"), None);
    assert_eq!(message("vend", ReasoningBack::Kept).get("reasoning_content"), None);
    assert_eq!(message("other", ReasoningBack::Kept).get("reasoning_content"), None);
    assert_eq!(message("other", ReasoningBack::Required)["reasoning_content"], "");
    assert_eq!(message("other", ReasoningBack::Required)["tool_calls"][0]["id"], "call_0_fix");
}

#[test]
fn items_with_signatures_go_back_unchanged() {
    let (answer, _) = read(&file("openai-chat/chat-openrouter-reasoning.sse"), 5);
    let body = encode(&wire("vendor", ReasoningBack::Kept), &request(vec![assistant(&answer, "vendor")]));
    let wanted = json!([{
        "type": "reasoning.text", "text": "Think", "format": "anthropic-claude-v1", "index": 0,
        "signature": "c2lnLWZpeHR1cmU="
    }]);
    assert_eq!(body["messages"][1]["reasoning_details"], wanted);
    assert_eq!(body["messages"][1].get("reasoning_content"), None);
}

#[test]
fn broken_arguments_go_back_as_json() {
    let (answer, _) = read(&file("openai-chat/chat-tool-bad-json.sse"), 5);
    let body = encode(&wire("vendor", ReasoningBack::Never), &request(vec![assistant(&answer, "vendor")]));
    let arguments = body["messages"][1]["tool_calls"][0]["function"]["arguments"].as_str().unwrap();
    let arguments: Value = serde_json::from_str(arguments).unwrap();
    assert_eq!(arguments["not_json"], answer.calls[0].arguments);
}

#[test]
fn a_message_is_serialised_once_and_shared_afterwards() {
    let messages: Vec<Message> = (0..100).map(|n| Message::user(format!("message {n}"))).collect();
    let request = request(messages);
    let wire = wire("vendor", ReasoningBack::Never);
    let (first, second) = (wire.encode(&request), wire.encode(&request.clone()));
    assert_eq!(first.concat(), second.concat());
    assert!(first.iter().zip(&second).all(|(first, second)| first.as_ptr() == second.as_ptr()));
}

#[test]
fn an_empty_system_prompt_and_empty_messages_leave_no_trace() {
    let empty = Message { parts: Vec::new(), ..assistant(&Answer::default(), "vendor") };
    let mut request = request(vec![empty, Message::user("hi")]);
    request.system = "".into();
    let body = encode(&wire("vendor", ReasoningBack::Never), &request);
    assert_eq!(body["messages"], json!([{ "role": "user", "content": "hi" }]));
}

#[test]
fn an_answer_in_one_body_may_be_an_error() {
    let (_, error) = read(br#"{"error":{"message":"no","type":"rate_limit_exceeded"}}"#, 9);
    assert_eq!(error, Some(ErrorKind::RateLimit));
    let (_, error) = read(b"<!doctype html><title>Log in</title>", 9);
    assert_eq!(error, Some(ErrorKind::NotFound));
    let (_, error) = read(b"", 1);
    assert_eq!(error, Some(ErrorKind::StreamCut));
}

#[test]
fn a_whole_call_before_an_error_event_is_not_finished() {
    let body = b"data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}]}\n\ndata: {\"error\":{\"code\":500,\"message\":\"x\",\"type\":\"server_error\"}}\n\n";
    let (answer, error) = read(body, 10);
    assert_eq!((answer.finish, error), (None, Some(ErrorKind::ServerError)));
}

#[test]
fn content_in_parts_and_thoughts_of_other_vendors() {
    let body = b"data: {\"choices\":[{\"delta\":{\"content\":[{\"type\":\"thinking\",\"thinking\":[{\"type\":\"text\",\"text\":\"hm\"}]},{\"type\":\"text\",\"text\":\"yes\"}]},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]";
    let (answer, error) = read(body, 4);
    assert_eq!((answer.text.as_str(), answer.reasoning[0].0.as_str(), error), ("yes", "hm", None));
    let body = b"data: ping\n\ndata: {\"choices\":[{\"delta\":{\"reasoning_details\":[{\"type\":\"reasoning.summary\",\"summary\":\"so\",\"index\":0}]},\"finish_reason\":\"stop\"}]}\n\n";
    let (answer, error) = read(body, 4);
    assert_eq!((answer.reasoning[0].0.as_str(), answer.finish, error), ("so", Some(FinishReason::Stop), None));
}

#[test]
fn only_deltas_that_say_something_come_out() {
    let mut reader = Reader::new(Box::<ChatDecoder>::default());
    let mut out = Vec::new();
    reader.push(&file("openai-chat/chat-text.sse"), &mut out).unwrap();
    assert!(reader.is_over());
    assert_eq!(out.len(), 6, "{out:?}");
    assert!(matches!(out.last(), Some(Delta::Finish(FinishReason::Stop))));
}
