//! Real HTTP on loopback: streaming, failures, retries, keys and failover; in `address`, where each
//! provider is asked; in `ends`, how answers end; in `keys`, what a provider says of a key; in `login`, logins and the tokens they are traded for;
//! in `output`, answers that must have a form; in `rests`, what rests together; in `secrets`, that nothing is shown that is written into
//! addresses and headers.

#![allow(missing_docs, clippy::unwrap_used)]

mod address;
mod ends;
mod keys;
mod login;
mod output;
mod rests;
mod secrets;
mod server;
mod text_calls;

#[path = "../served/mod.rs"]
mod served;

use std::collections::BTreeMap;
use std::sync::Arc;

use futures::StreamExt;
use neco_config::section::{
    Config, GroupSection, NetworkSection, ProviderSection, ProviderType, RetrySection, Strategy, TextToolCalls,
};
use neco_model::scripted::{Fault, Turn};
use neco_model::{
    Answer, Delta, ErrorKind, ModelError, Models, NoKeys, Place, Provider, Request, Script, ToolDeclaration,
};
use neco_proto::event::{ModelRetry, ModelSwitch};
use neco_proto::{ErrorCode, Message};
use serde_json::json;
use server::Server;

const SECRET: &str = "sk-very-secret-1";
const SECOND: &str = "sk-other-secret-2";

fn env(name: &str) -> Option<String> {
    match name {
        "KEY_ONE" => Some(SECRET.to_owned()),
        "KEY_TWO" => Some(SECOND.to_owned()),
        _ => None,
    }
}

fn network() -> NetworkSection {
    NetworkSection {
        connect_timeout: 20.0,
        first_byte_timeout: Some(20.0),
        idle_timeout: Some(20.0),
        stall_timeout: 20.0,
        retries: 3,
        backoff: 0.001,
        max_retry_after: 60.0,
        load_timeout: 60.0,
        ..NetworkSection::default()
    }
}

/// A vendor elsewhere: of servers on this machine calls are read out of the text too.
fn section(base: &str, keys: &[&str]) -> ProviderSection {
    ProviderSection {
        kind: Some(ProviderType::Openai),
        base: Some(base.to_owned()),
        text_tool_calls: Some(TextToolCalls::Never),
        api_key_envs: keys.iter().map(|key| (*key).to_owned()).collect(),
        ..ProviderSection::default()
    }
}

fn config(providers: &[(&str, ProviderSection)]) -> Config {
    Config {
        model_providers: providers.iter().map(|(name, section)| ((*name).to_owned(), section.clone())).collect(),
        network: network(),
        ..Config::default()
    }
}

fn provider(config: &Config, name: &str) -> Arc<dyn Provider> {
    Models::new(config, &env).unwrap().provider_for(name).unwrap()
}

fn one(server: &Server) -> Arc<dyn Provider> {
    provider(&config(&[("vendor", section(&server.base, &["KEY_ONE"]))]), "vendor/m")
}

fn request() -> Request {
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let tool = ToolDeclaration { name: "read_file".to_owned(), description: "Reads.".to_owned(), schema };
    Request {
        system: "You are Neco.".into(),
        tools: Arc::new([tool]),
        history: [Message::user("hi")].into_iter().collect(),
        cache_key: "session".to_owned(),
        output: None,
        temperature: None,
        max_output: None,
        agent: None,
    }
}

async fn ask(provider: &Arc<dyn Provider>) -> (Vec<Delta>, Answer, Option<ModelError>) {
    let (mut deltas, mut answer, mut error) = (Vec::new(), Answer::default(), None);
    let mut stream = provider.stream(request());
    while let Some(item) = stream.next().await {
        assert!(error.is_none(), "something came after the error");
        match item {
            Ok(delta) => {
                answer.add(&delta);
                deltas.push(delta);
            }
            Err(failure) => error = Some(failure),
        }
    }
    (deltas, answer, error)
}

fn retries(deltas: &[Delta]) -> Vec<&ModelRetry> {
    let found = deltas.iter().filter_map(|delta| if let Delta::Retry(retry) = delta { Some(retry) } else { None });
    found.collect()
}

fn switches(deltas: &[Delta]) -> Vec<&ModelSwitch> {
    let found = deltas.iter().filter_map(|delta| if let Delta::Switch(switch) = delta { Some(switch) } else { None });
    found.collect()
}

#[tokio::test]
async fn text_thoughts_calls_and_usage_are_streamed() {
    let script = Script::new()
        .call("read_file", json!({ "path": "a b c" }))
        .also_call("read_file", json!({ "path": "d" }))
        .saying("Let me look.")
        .thinking("Hm, a file.")
        .usage(100, 20);
    let server = Server::start(script).await;
    let (deltas, answer, error) = ask(&one(&server)).await;
    assert_eq!(error, None);
    assert_eq!(deltas.first(), Some(&Delta::Begin { model: "vendor/m".to_owned() }));
    assert_eq!((answer.text.as_str(), answer.reasoning[0].0.as_str()), ("Let me look.", "Hm, a file."));
    assert_eq!(answer.calls.len(), 2);
    assert_eq!(answer.calls[0].arguments, "{\"path\":\"a b c\"}");
    assert_eq!(answer.usage.unwrap().input, 100);
    assert_eq!(answer.usage.unwrap().cost, None);
    assert!(deltas.len() > 10, "{deltas:?}");
}

#[tokio::test]
async fn the_request_is_what_the_vendor_wants() {
    let server = Server::start(Script::new().say("ok")).await;
    let provider = provider(
        &config(&[("vendor", section(&server.base, &["KEY_ONE"]))]),
        "vendor/some/model:x?temperature=0.5&max_tokens=9&reasoning=low",
    );
    assert_eq!(ask(&provider).await.2, None);
    let seen = server.seen().remove(0);
    assert!(seen.head.starts_with("POST /v1/chat/completions HTTP/1.1"), "{}", seen.head);
    assert!(seen.header("content-length").is_some() && seen.header("transfer-encoding").is_none());
    assert_eq!(seen.header("authorization"), Some("Bearer sk-very-secret-1"));
    assert_eq!(seen.header("content-type"), Some("application/json"));
    assert_eq!(seen.header("user-agent"), Some(concat!("neco/", env!("CARGO_PKG_VERSION"))));
    assert_eq!(
        seen.body,
        json!({
            "model": "some/model:x",
            "stream": true,
            "stream_options": { "include_usage": true },
            "temperature": 0.5,
            "max_tokens": 9,
            "reasoning_effort": "low",
            "tools": [{ "type": "function", "function": {
                "name": "read_file",
                "description": "Reads.",
                "parameters": { "type": "object", "properties": { "path": { "type": "string" } } },
            }}],
            "messages": [
                { "role": "system", "content": "You are Neco." },
                { "role": "user", "content": "hi" },
            ],
        })
    );
}

#[tokio::test]
async fn one_byte_at_a_time_changes_nothing() {
    let script = Script::new().call("read_file", json!({ "path": "日本" })).saying("naïve 🐈").usage(1, 2);
    let server = Server::writing(script, 1).await;
    let (_, answer, error) = ask(&one(&server)).await;
    assert_eq!(error, None);
    assert_eq!((answer.text.as_str(), answer.calls[0].arguments.as_str()), ("naïve 🐈", "{\"path\":\"日本\"}"));
}

#[tokio::test]
async fn the_connection_is_used_again() {
    let server = Server::start(Script::new().say("turn {n}").repeat(5)).await;
    let provider = one(&server);
    for n in 1..=5 {
        assert_eq!(ask(&provider).await.1.text, format!("turn {n}"));
        // The client's own task puts the connection back; it needs no more than to be run.
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_rate_limit_is_waited_out() {
    let server = Server::start(Script::new().fault(Fault::rate_limit(0.01)).say("ok")).await;
    let (deltas, answer, error) = ask(&one(&server)).await;
    assert_eq!((answer.text.as_str(), error), ("ok", None));
    let retries = retries(&deltas);
    assert_eq!(retries.len(), 1);
    assert_eq!((retries[0].attempt, retries[0].code), (2, ErrorCode::RateLimited));
    assert!((10..=13).contains(&retries[0].wait_ms), "{retries:?}");
    assert!(!retries[0].discards);
    let begins = deltas.iter().filter(|delta| matches!(delta, Delta::Begin { .. })).count();
    assert_eq!(begins, 1);
}

#[tokio::test]
async fn server_errors_are_tried_three_times_more() {
    let script = Script::new().fault(Fault::status(500)).fault(Fault::status(502)).fault(Fault::status(503)).say("ok");
    let server = Server::start(script).await;
    let (deltas, answer, error) = ask(&one(&server)).await;
    assert_eq!((answer.text.as_str(), error), ("ok", None));
    assert_eq!(retries(&deltas).iter().map(|retry| retry.attempt).collect::<Vec<_>>(), [2, 3, 4]);

    let server =
        Server::start(Script::new().turn(Turn { fault: Some(Fault::status(500)), repeat: Some(9), ..Turn::default() }))
            .await;
    let error = ask(&one(&server)).await.2.unwrap();
    assert_eq!((error.kind, error.status), (ErrorKind::ServerError, Some(500)));
    assert_eq!(server.seen().len(), 4);
}

#[tokio::test]
async fn a_wrong_request_is_not_tried_again() {
    let server = Server::start(Script::new().fault(Fault::status(400)).say("never")).await;
    let (deltas, _, error) = ask(&one(&server)).await;
    assert_eq!(error.unwrap().kind, ErrorKind::InvalidRequest);
    assert!(retries(&deltas).is_empty());
    assert_eq!(server.seen().len(), 1);
}

#[tokio::test]
async fn silence_before_the_first_byte_has_its_own_limit() {
    let server = Server::start(Script::new().fault(Fault::StallAfter(0))).await;
    let mut config = config(&[("vendor", section(&server.base, &["KEY_ONE"]))]);
    config.network.first_byte_timeout = Some(0.05);
    config.network.retries = 0;
    let error = ask(&provider(&config, "vendor/m")).await.2.unwrap();
    assert_eq!((error.kind, error.place, error.code()), (ErrorKind::Timeout, Place::Http, ErrorCode::ModelTimedOut));
    assert!(error.message.contains("first_byte_timeout"), "{error}");
    server.client_closed().await;
}

#[tokio::test]
async fn a_provider_is_tried_again_as_its_own_settings_say() {
    let fault = || Fault::Status { code: 500, retry_after: None, message: None };
    let server = Server::start(Script::new().fault(fault()).fault(fault()).say("late")).await;
    let own = |retries| RetrySection { retries: Some(retries), ..RetrySection::default() };
    let once = ProviderSection { retry: Some(own(1)), ..section(&server.base, &["KEY_ONE"]) };
    let (deltas, _, error) = ask(&provider(&config(&[("vendor", once)]), "vendor/m")).await;
    assert!(error.is_some(), "two failures are one too many");
    assert_eq!(retries(&deltas).iter().map(|retry| retry.attempts).collect::<Vec<_>>(), [2]);
    // Whoever has nothing of its own is tried again as `network` says.
    let server = Server::start(Script::new().fault(fault()).fault(fault()).say("late")).await;
    let (deltas, answer, error) = ask(&one(&server)).await;
    assert!(error.is_none() && answer.text == "late", "{error:?}");
    assert_eq!(retries(&deltas).len(), 2);
}

#[tokio::test]
async fn silence_in_the_middle_has_its_own_limit_and_is_retried() {
    let script = Script::new().say("one two three").faulty(Fault::StallAfter(2)).say("whole");
    let server = Server::start(script).await;
    let mut config = config(&[("vendor", section(&server.base, &["KEY_ONE"]))]);
    config.network.idle_timeout = Some(0.05);
    let (deltas, answer, error) = ask(&provider(&config, "vendor/m")).await;
    assert_eq!((answer.text.as_str(), error), ("whole", None));
    let retries = retries(&deltas);
    assert_eq!(retries.len(), 1);
    assert!(retries[0].discards && retries[0].message.contains("idle_timeout"), "{retries:?}");
}

#[tokio::test]
async fn a_call_cut_in_the_middle_is_discarded_and_asked_for_again() {
    let script = Script::new()
        .call("read_file", json!({ "path": "a long path" }))
        .faulty(Fault::DropAfter(3))
        .call("read_file", json!({ "path": "b" }));
    let server = Server::start(script).await;
    let (deltas, answer, error) = ask(&one(&server)).await;
    assert_eq!(error, None);
    assert_eq!(answer.calls.len(), 1);
    assert_eq!(answer.calls[0].arguments, "{\"path\":\"b\"}");
    let retries = retries(&deltas);
    assert!(retries.len() == 1 && retries[0].discards, "{retries:?}");
    let finishes = deltas.iter().filter(|delta| matches!(delta, Delta::Finish(_))).count();
    assert_eq!(finishes, 1);
}

#[tokio::test]
async fn an_error_event_after_a_whole_call_is_a_failure() {
    let script = Script::new().call("read_file", json!({})).faulty(Fault::ErrorAfter(2)).say("again");
    let server = Server::start(script).await;
    let (deltas, answer, error) = ask(&one(&server)).await;
    assert_eq!((answer.text.as_str(), answer.calls.len(), error), ("again", 0, None));
    assert!(retries(&deltas)[0].discards);
}

#[tokio::test]
async fn nobody_listens() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let ollama = ProviderSection { base: Some(format!("http://{address}/v1")), ..ProviderSection::default() };
    let (deltas, _, error) = ask(&provider(&config(&[("ollama", ollama)]), "ollama/qwen3:8b")).await;
    let error = error.unwrap();
    assert_eq!((error.kind, error.code()), (ErrorKind::Unreachable, ErrorCode::ProviderUnavailable));
    assert_eq!(
        error.to_string(),
        format!(
            "no answer from http://{address} (connection refused); start Ollama with `ollama serve`, or set another model"
        )
    );
    assert!(retries(&deltas).is_empty());
}

#[tokio::test]
async fn keys_take_turns() {
    let server = Server::start(Script::new().say("ok").repeat(4)).await;
    let provider = provider(&config(&[("vendor", section(&server.base, &["KEY_ONE", "KEY_TWO"]))]), "vendor/m");
    for _ in 0..4 {
        ask(&provider).await;
    }
    let first = format!("Bearer {SECRET}");
    let used: Vec<bool> =
        server.seen().iter().map(|seen| seen.header("authorization") == Some(first.as_str())).collect();
    assert_eq!(used, [true, false, true, false]);
}

#[tokio::test]
async fn keys_take_turns_in_a_group_of_one_provider() {
    let server = Server::start(Script::new().say("ok").repeat(4)).await;
    let mut config = config(&[("vendor", section(&server.base, &["KEY_ONE", "KEY_TWO"]))]);
    config.model_groups = group(&["vendor/a", "vendor/b"], Strategy::First);
    let provider = provider(&config, "think");
    for _ in 0..4 {
        ask(&provider).await;
    }
    let first = format!("Bearer {SECRET}");
    let used: Vec<bool> =
        server.seen().iter().map(|seen| seen.header("authorization") == Some(first.as_str())).collect();
    assert_eq!(used, [true, false, true, false]);
}

fn group(models: &[&str], strategy: Strategy) -> BTreeMap<String, GroupSection> {
    let models = models.iter().map(|model| (*model).to_owned()).collect();
    [("think".to_owned(), GroupSection { models, strategy })].into()
}

#[tokio::test]
async fn the_next_model_takes_over() {
    let failing =
        Server::start(Script::new().say("half of it").faulty(Fault::DropAfter(1)).fault(Fault::rate_limit(999.0)))
            .await;
    let standing_in = Server::start(Script::new().say("from the other").repeat(2)).await;
    let mut config = config(&[("one", section(&failing.base, &[])), ("two", section(&standing_in.base, &[]))]);
    config.model_groups = group(&["one/a", "two/b"], Strategy::First);
    let provider = provider(&config, "think");
    assert_eq!(provider.label(), "think");
    let (deltas, answer, error) = ask(&provider).await;
    assert_eq!((answer.text.as_str(), answer.model.as_str(), error), ("from the other", "two/b", None));
    assert!(retries(&deltas)[0].discards);
    let switches = switches(&deltas);
    assert_eq!((switches[0].from.as_str(), switches[0].to.as_str()), ("one/a", "two/b"));
    assert_eq!((switches[0].code, switches[0].discards), (ErrorCode::RateLimited, false));
    // The first one asked for a long rest.
    let (deltas, answer, _) = ask(&provider).await;
    assert_eq!(answer.text, "from the other");
    assert!(retries(&deltas).is_empty() && self::switches(&deltas).is_empty());
}

#[tokio::test]
async fn models_take_turns() {
    let one = Server::start(Script::new().say("one").repeat(2)).await;
    let two = Server::start(Script::new().say("two").repeat(2)).await;
    let mut config = config(&[("one", section(&one.base, &[])), ("two", section(&two.base, &[]))]);
    config.model_groups = group(&["one/a", "two/b"], Strategy::RoundRobin);
    let provider = provider(&config, "think");
    let mut texts = Vec::new();
    for _ in 0..4 {
        texts.push(ask(&provider).await.1.text);
    }
    assert_eq!(texts, ["one", "two", "one", "two"]);
}

#[tokio::test]
async fn a_model_that_does_not_exist_is_named() {
    let server = Server::start(Script::new().fault(Fault::status(404))).await;
    let ollama = ProviderSection { base: Some(server.base.clone()), ..ProviderSection::default() };
    let error = ask(&provider(&config(&[("ollama", ollama)]), "ollama/nope")).await.2.unwrap();
    assert!(error.to_string().contains("`ollama pull nope`"), "{error}");
}

#[tokio::test]
async fn dropping_the_stream_closes_the_connection() {
    let script = Script::new().say("one two three four").faulty(Fault::StallAfter(3));
    let server = Server::start(script).await;
    let provider = one(&server);
    let mut stream = provider.stream(request());
    while let Some(Ok(delta)) = stream.next().await {
        if matches!(delta, Delta::Text(_)) {
            break;
        }
    }
    drop(stream);
    server.client_closed().await;
}

#[tokio::test]
async fn nothing_is_sent_before_the_stream_is_polled() {
    let server = Server::start(Script::new().say("ok")).await;
    drop(one(&server).stream(request()));
    assert_eq!((server.connections(), server.seen().len()), (0, 0));
}

#[tokio::test]
async fn a_redirect_is_not_followed_but_explained() {
    let target = Server::start(Script::new().say("caught you")).await;
    let moved = served::Reply {
        status: 308,
        headers: vec![("location".to_owned(), format!("{}/chat/completions", target.base))],
        pieces: Vec::new(),
        delay_ms: 0,
        between_ms: 0,
        end: served::ReplyEnd::Whole,
    };
    let server = Server::answering([moved].into(), 0).await;
    let error = ask(&one(&server)).await.2.unwrap();
    assert!(error.message.contains(&target.base), "{error}");
    assert_eq!(target.connections(), 0);
}

#[tokio::test]
async fn a_key_is_in_no_message_and_no_debug_output() {
    for code in [400, 401, 403, 404, 429, 500] {
        let message = Some(format!("you sent {SECRET} and \"{SECRET}\", that is sk-very-****-1"));
        let server = Server::start(Script::new().fault(Fault::Status { code, retry_after: None, message })).await;
        let mut config = config(&[("vendor", section(&server.base, &["KEY_ONE"]))]);
        config.network.retries = 0;
        let models = Models::new(&config, &env).unwrap();
        let provider = models.provider_for("vendor/m").unwrap();
        let (deltas, _, error) = ask(&provider).await;
        let error = error.unwrap();
        let shown = format!("{error} {error:?} {deltas:?} {:?}", models.providers());
        assert!(!shown.contains("sk-very"), "{shown}");
    }
}

#[tokio::test]
async fn local_servers_are_found_with_their_models() {
    let list = served::Reply {
        status: 200,
        headers: vec![("content-type".to_owned(), "application/json".to_owned())],
        pieces: vec![r#"{"object":"list","data":[{"id":"qwen3:8b"},{"id":"nomic-embed-text"}]}"#.into()],
        delay_ms: 0,
        between_ms: 0,
        end: served::ReplyEnd::Whole,
    };
    let server = Server::answering([list].into(), 0).await;
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let nobody = format!("http://{}/v1", listener.local_addr().unwrap());
    drop(listener);
    let at = |base: &str| ProviderSection { base: Some(base.to_owned()), ..ProviderSection::default() };
    let config = config(&[
        ("ollama", at(&server.base)),
        ("lmstudio", at(&nobody)),
        ("llama.cpp", at(&nobody)),
        ("vllm", at(&nobody)),
    ]);
    let models = Models::new(&config, &NoKeys).unwrap();
    let found = models.probe_local(std::time::Duration::from_secs(20)).await;
    assert_eq!(found.len(), 1);
    assert_eq!(
        (found[0].provider.as_str(), found[0].models.as_slice()),
        ("ollama", ["qwen3:8b".to_owned()].as_slice())
    );
    assert!(server.seen()[0].head.starts_with("GET /v1/models "));
}

#[tokio::test]
async fn prices_and_what_the_vendor_says_become_cost() {
    let server = Server::start(Script::new().say("ok").usage(1_000_000, 0)).await;
    let mut config = config(&[("vendor", section(&server.base, &[]))]);
    let priced =
        neco_config::section::ModelSection { input_price: Some(3.0), output_price: Some(1.0), ..Default::default() };
    config.models = [("vendor/m".to_owned(), priced)].into();
    let (_, answer, _) = ask(&provider(&config, "vendor/m")).await;
    assert_eq!(answer.usage.unwrap().cost, Some(3.0));
}
