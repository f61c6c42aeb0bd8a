//! Local servers whose models write their calls as text.

use std::sync::Arc;
use std::time::Duration;

use crate::served::{Reply, ReplyEnd};
use neco_config::section::{Config, ModelSection, ProviderSection, TextToolCalls};
use neco_model::scripted::{Fault, Turn};
use neco_model::{Answer, ErrorKind, FinishReason, Provider, Script};
use serde_json::json;

use crate::server::Server;
use crate::{ask, config, provider, retries, section};

/// How often a server is asked at most until it is known.
const PATIENCE: u32 = 500;
const CALL: &str = "```json\n{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}\n```";

fn here(server: &Server) -> ProviderSection {
    ProviderSection { local: true, text_tool_calls: None, ..section(&server.base, &[]) }
}

fn local(server: &Server) -> Arc<dyn Provider> {
    provider(&config(&[("here", here(server))]), "here/m")
}

fn props(supports_tools: bool) -> serde_json::Value {
    json!({ "chat_template": "…", "chat_template_caps": { "supports_tools": supports_tools } })
}

/// The same answer to every question.
fn always(text: &str) -> Turn {
    Turn { say: text.to_owned(), repeat: Some(PATIENCE), ..Turn::default() }
}

/// Asks until the tools stand in the prompt: a request waits only a moment for what the server says of itself.
async fn ask_until_told(server: &Server, provider: &Arc<dyn Provider>) -> Answer {
    for _ in 0..PATIENCE {
        let (_, answer, error) = ask(provider).await;
        assert_eq!(error, None);
        if server.seen().last().unwrap().body.get("tools").is_none() {
            return answer;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the tools are still beside the prompt");
}

#[tokio::test]
async fn a_local_model_may_write_its_calls_as_text() {
    let server = Server::start(Script::new().say(CALL)).await;
    let (_, answer, error) = ask(&local(&server)).await;
    assert_eq!((error, answer.text.as_str(), answer.finish), (None, "", Some(FinishReason::ToolCalls)));
    assert_eq!((answer.calls[0].name.as_str(), answer.calls[0].id.as_deref()), ("read_file", None));
    assert!(server.seen()[0].body["tools"].is_array());
}

#[tokio::test]
async fn elsewhere_text_is_text_unless_told_otherwise() {
    let server = Server::start(Script::new().say(CALL).say(CALL)).await;
    let vendor = section(&server.base, &["KEY_ONE"]);
    let (_, answer, _) = ask(&provider(&config(&[("vendor", vendor.clone())]), "vendor/m")).await;
    assert_eq!((answer.text.as_str(), answer.calls.len()), (CALL, 0));
    let marked = ProviderSection { text_tool_calls: Some(TextToolCalls::Always), ..vendor };
    let (_, answer, _) = ask(&provider(&config(&[("vendor", marked)]), "vendor/m")).await;
    assert_eq!((answer.text.as_str(), answer.calls.len()), ("", 1));
    assert_eq!(server.props_asked(), 0);
    let body = &server.seen()[1].body;
    assert!(body.get("tools").is_none() && body["messages"][0]["content"].as_str().unwrap().contains("read_file("));
}

#[tokio::test]
async fn a_server_s_own_window_counts() {
    let props = serde_json::json!({ "default_generation_settings": { "n_ctx": 8192 } });
    let server = Server::describing(Script::new().turn(always("yes")), props).await;
    let provider = local(&server);
    for _ in 0..500 {
        assert_eq!(ask(&provider).await.2, None);
        if provider.context_window() == Some(8192) {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("the window is still {:?}", provider.context_window());
}

#[tokio::test]
async fn the_window_of_a_server_here_is_known_before_the_first_question() {
    let props = serde_json::json!({ "default_generation_settings": { "n_ctx": 8192 } });
    let server = Server::describing(Script::new().turn(always("yes")), props).await;
    // Nobody calls it local: its address is.
    let provider = provider(&config(&[("here", section(&server.base, &[]))]), "here/m");
    assert_ne!(provider.context_window(), Some(8192));
    assert!(provider.window_is_assumed());
    for _ in 0..PATIENCE {
        provider.ready().await;
        if provider.context_window() == Some(8192) {
            break;
        }
    }
    assert_eq!((provider.context_window(), server.props_asked(), server.seen().len()), (Some(8192), 1, 0));
    assert!(!provider.window_is_assumed());
}

#[tokio::test]
async fn a_server_is_asked_once_what_its_template_does() {
    for supports_tools in [true, false] {
        let server = Server::describing(Script::new().turn(always("yes")), props(supports_tools)).await;
        let provider = local(&server);
        if !supports_tools {
            ask_until_told(&server, &provider).await;
        }
        for _ in 0..3 {
            assert_eq!(ask(&provider).await.2, None);
            assert_eq!(server.seen().last().unwrap().body.get("tools").is_some(), supports_tools);
        }
        assert_eq!(server.props_asked(), 1);
    }
}

#[tokio::test]
async fn a_template_that_drops_tools_gets_them_in_the_prompt_and_calls_as_text() {
    let server = Server::describing(Script::new().turn(always(CALL)), props(false)).await;
    let answer = ask_until_told(&server, &local(&server)).await;
    assert_eq!((answer.text.as_str(), answer.finish), ("", Some(FinishReason::ToolCalls)));
    assert_eq!(answer.calls[0].name, "read_file");
    let body = server.seen().pop().unwrap().body;
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(body.get("tools").is_none() && system.contains("- read_file(path?: string): Reads."), "{body}");
}

#[tokio::test]
async fn a_server_that_loads_its_model_is_asked_for_its_template_again() {
    let loading = Fault::Status { code: 503, retry_after: Some(0.001), message: Some("Loading model".to_owned()) };
    let turn = Turn { fault: Some(loading), repeat: Some(2), ..Turn::default() };
    let server = Server::loading(Script::new().turn(turn).turn(always(CALL)), props(false), 2).await;
    let answer = ask_until_told(&server, &local(&server)).await;
    assert_eq!((answer.text.as_str(), answer.calls.len(), server.props_asked()), ("", 1, 3));
    assert!(server.seen()[0].body["tools"].is_array(), "while the model is loaded, nobody knows better");
}

#[tokio::test]
async fn a_window_that_the_settings_give_is_not_asked_for_and_stays() {
    let mut props = props(false);
    props["default_generation_settings"] = json!({ "n_ctx": 8192 });
    let server = Server::describing(Script::new().turn(always("yes")), props).await;
    let given = ModelSection { context_window: Some(16_384), ..ModelSection::default() };
    let models = [("here/m".to_owned(), given)].into();
    let provider = provider(&Config { models, ..config(&[("here", here(&server))]) }, "here/m");
    provider.ready().await;
    assert_eq!((provider.context_window(), server.props_asked(), server.seen().len()), (Some(16_384), 0, 0));
    assert!(!provider.window_is_assumed());
    ask_until_told(&server, &provider).await;
    assert_eq!((provider.context_window(), server.props_asked()), (Some(16_384), 1), "the template alone is heeded");
}

#[tokio::test]
async fn a_server_without_props_is_not_asked_again() {
    let server = Server::start(Script::new().say("one").say("two")).await;
    let provider = local(&server);
    assert_eq!(ask(&provider).await.1.text, "one");
    assert_eq!(ask(&provider).await.1.text, "two");
    assert_eq!(server.props_asked(), 1);
}

fn stumbling() -> Reply {
    let message = "The model produced output that does not match the expected peg-native format";
    let piece = json!({ "choices": [{ "index": 0, "delta": { "content": "I will " } }] });
    let error = json!({ "error": { "code": 500, "message": message, "type": "server_error" } });
    Reply {
        status: 200,
        headers: vec![("content-type".to_owned(), "text/event-stream".to_owned())],
        pieces: vec![format!("data: {piece}\n\n").into(), format!("error: {error}\n\ndata: {error}\n\n").into()],
        delay_ms: 0,
        between_ms: 0,
        end: ReplyEnd::Whole,
    }
}

fn saying(text: &str) -> Reply {
    let player = neco_model::scripted::Player::new(Arc::new(Script::new().say(text)), "m");
    Reply::next(&player).unwrap()
}

#[tokio::test]
async fn a_server_that_stumbles_over_a_call_is_asked_without_tools_at_the_second_try_and_ever_after() {
    let server = Server::answering([stumbling(), saying(CALL), saying("done")].into(), 0).await;
    let provider = local(&server);
    let (deltas, answer, error) = ask(&provider).await;
    assert_eq!((error, answer.text.as_str(), answer.calls.len()), (None, "", 1));
    let retries = retries(&deltas);
    assert!(retries.len() == 1 && retries[0].discards && retries[0].message.contains("peg-native"), "{retries:?}");
    assert_eq!(ask(&provider).await.1.text, "done");
    let tools: Vec<bool> = server.seen().iter().map(|seen| seen.body.get("tools").is_some()).collect();
    assert_eq!(tools, [true, false, false]);
}

#[tokio::test]
async fn a_server_that_takes_no_tools_is_asked_again_at_once() {
    let refusal =
        Fault::Status { code: 400, retry_after: None, message: Some("gemma does not support tools".to_owned()) };
    let server = Server::start(Script::new().fault(refusal.clone()).say(CALL).fault(refusal)).await;
    let provider = local(&server);
    let (deltas, answer, error) = ask(&provider).await;
    assert_eq!((error, answer.calls.len(), retries(&deltas).len()), (None, 1, 0));
    // Said of a request without tools it is no reason to ask once more.
    let (_, _, error) = ask(&provider).await;
    assert_eq!(error.unwrap().kind, ErrorKind::InvalidRequest);
    assert_eq!(server.seen().len(), 3);
}

#[tokio::test]
async fn half_a_call_in_a_cut_stream_is_asked_for_again() {
    let half = Turn {
        say: "{\"name\": \"read_file\", \"arguments\": {\"path\": \"a\"}}".to_owned(),
        chunk: Some(5),
        fault: Some(Fault::DropAfter(7)),
        ..Turn::default()
    };
    let server = Server::start(Script::new().turn(half).say(CALL)).await;
    let (deltas, answer, error) = ask(&local(&server)).await;
    assert_eq!((error, answer.text.as_str(), answer.calls.len()), (None, "", 1));
    assert_eq!(retries(&deltas).len(), 1);
}

#[tokio::test]
async fn a_model_that_is_being_loaded_is_waited_for() {
    let loading = Fault::Status { code: 503, retry_after: Some(0.001), message: Some("Loading model".to_owned()) };
    let turn = Turn { fault: Some(loading), repeat: Some(8), ..Turn::default() };
    let server = Server::start(Script::new().turn(turn).say("ready")).await;
    let (deltas, answer, error) = ask(&local(&server)).await;
    let retries = retries(&deltas);
    assert_eq!((error, answer.text.as_str(), retries.len()), (None, "ready", 8));
    for (retry, attempt) in retries.iter().zip(2..) {
        assert!(!retry.discards && retry.message.to_lowercase().contains("loading"), "{retry:?}");
        assert_eq!(retry.attempt, attempt);
    }
}
