//! Where each provider is asked, and how the key is shown to it.

use futures::StreamExt;
use neco_config::section::{Config, DialectSection, ProviderSection, ProviderType, ReasoningParameter};
use neco_model::{Models, NoKeys, Request, Script, SetupError};
use neco_proto::Message;

use crate::server::{Seen, Server};

const SECRET: &str = "sk-very-secret-1";

/// What the server sees when `name` is asked; the provider is reached at its address.
async fn seen(name: &str, section: ProviderSection) -> Seen {
    let server = Server::start(Script::new().say("ok")).await;
    let provider = name.split('/').next().unwrap().to_owned();
    let section = ProviderSection { base: Some(server.base.clone()), api_key: Some(SECRET.to_owned()), ..section };
    let config = Config { model_providers: [(provider, section)].into(), ..Config::default() };
    let model = Models::new(&config, &NoKeys).unwrap().provider_for(name).unwrap();
    let request = Request {
        system: "".into(),
        tools: Vec::new().into(),
        history: [Message::user("hi")].into_iter().collect(),
        cache_key: String::new(),
        output: None,
        temperature: None,
        max_output: None,
        agent: None,
    };
    // What it answers is in the format of chat completions; only the question matters here.
    let _: Vec<_> = model.stream(request).collect().await;
    server.seen().remove(0)
}

fn of_type(kind: ProviderType) -> ProviderSection {
    ProviderSection { kind: Some(kind), ..ProviderSection::default() }
}

#[tokio::test]
async fn every_format_has_its_path_and_its_header() {
    let bearer = format!("Bearer {SECRET}");
    for (kind, path, header, value) in [
        (ProviderType::Openai, "/v1/chat/completions", "authorization", bearer.as_str()),
        (ProviderType::Responses, "/v1/responses", "authorization", &bearer),
        (ProviderType::Anthropic, "/v1/messages", "x-api-key", SECRET),
        (ProviderType::Gemini, "/v1/models/m%2F1:streamGenerateContent?alt=sse", "x-goog-api-key", SECRET),
    ] {
        let seen = seen("mine/m/1", of_type(kind)).await;
        assert!(seen.head.starts_with(&format!("POST {path} HTTP/1.1")), "{}", seen.head);
        assert_eq!(seen.header(header), Some(value));
        let shown =
            ["authorization", "x-api-key", "x-goog-api-key"].into_iter().filter(|name| seen.header(name).is_some());
        assert_eq!(shown.count(), 1, "{}", seen.head);
        assert_eq!(seen.header("anthropic-version").is_some(), kind == ProviderType::Anthropic);
    }
}

#[tokio::test]
async fn azure_has_the_deployment_in_the_path() {
    let seen = seen("azure-openai/my dep", ProviderSection::default()).await;
    let path = "/v1/openai/deployments/my%20dep/chat/completions?api-version=2024-10-21";
    assert!(seen.head.starts_with(&format!("POST {path} HTTP/1.1")), "{}", seen.head);
    assert_eq!((seen.header("api-key"), seen.header("authorization")), (Some(SECRET), None));
}

#[tokio::test]
async fn the_configuration_may_name_path_and_header() {
    let section = ProviderSection {
        path: Some("/x/{model}/y".to_owned()),
        key_header: Some("Authorization".to_owned()),
        ..of_type(ProviderType::Anthropic)
    };
    let seen = seen("mine/m", section).await;
    assert!(seen.head.starts_with("POST /v1/x/m/y HTTP/1.1"), "{}", seen.head);
    assert_eq!(seen.header("authorization"), Some("Bearer sk-very-secret-1"));
}

#[tokio::test]
async fn some_models_of_a_provider_speak_another_format() {
    assert!(seen("openai/gpt-5", ProviderSection::default()).await.head.starts_with("POST /v1/chat/completions "));
    assert!(seen("openai/gpt-5-codex", ProviderSection::default()).await.head.starts_with("POST /v1/responses "));
}

#[tokio::test]
async fn copilot_is_told_who_asks() {
    let seen = seen("github-copilot/gpt-5-mini", ProviderSection::default()).await;
    assert_eq!((seen.header("x-initiator"), seen.header("copilot-vision-request")), (Some("user"), None));
    assert_eq!(seen.header("openai-intent"), Some("conversation-edits"));
    let codex = self::seen("github-copilot/gpt-5.1-codex?max_tokens=9", ProviderSection::default()).await;
    assert!(codex.head.starts_with("POST /v1/responses "), "{}", codex.head);
    assert_eq!((codex.header("x-initiator"), codex.body["max_output_tokens"].as_u64()), (Some("user"), Some(9)));
    for (model, field) in [("gpt-5", "max_completion_tokens"), ("claude-sonnet-5", "max_tokens")] {
        let seen = self::seen(&format!("github-copilot/{model}?max_tokens=9"), ProviderSection::default()).await;
        assert_eq!(seen.body[field], 9, "{}", seen.body);
    }
}

#[tokio::test]
async fn the_configuration_may_set_the_dialect() {
    let dialect = DialectSection {
        seed_field: Some("random_seed".to_owned()),
        reasoning: Some(ReasoningParameter::None),
        stream_usage: Some(false),
        extra: [("safe".to_owned(), "true".to_owned())].into(),
        ..DialectSection::default()
    };
    let section = ProviderSection {
        responses_only: vec!["new".to_owned()],
        dialect: Some(dialect),
        ..of_type(ProviderType::Openai)
    };
    let seen = seen("mine/m?seed=7&reasoning=high", section.clone()).await;
    let has = |field: &str| seen.body.get(field).is_some();
    assert!(seen.body["random_seed"] == 7 && seen.body["safe"] == true && !has("seed"), "{}", seen.body);
    assert!(!has("reasoning_effort") && !has("stream_options"), "{}", seen.body);
    assert!(self::seen("mine/new-one", section).await.head.starts_with("POST /v1/responses "));
}

#[tokio::test]
async fn what_claude_behind_a_gateway_shall_cache_is_marked() {
    let marks = |seen: &Seen| seen.body.to_string().matches("cache_control").count();
    let claude = seen("openrouter/anthropic/claude-sonnet-4.5", ProviderSection::default()).await;
    assert_eq!(marks(&claude), 1, "{}", claude.body);
    assert_eq!(claude.body["messages"][0]["content"][0]["text"], "hi");
    assert_eq!(marks(&seen("openrouter/openai/gpt-5", ProviderSection::default()).await), 0);
}

#[test]
fn a_path_can_not_change_the_host() {
    let section = ProviderSection {
        base: Some("https://here.example".to_owned()),
        path: Some("@there.example/v1".to_owned()),
        ..of_type(ProviderType::Openai)
    };
    let config = Config { model_providers: [("mine".to_owned(), section)].into(), ..Config::default() };
    let error = Models::new(&config, &NoKeys).unwrap().provider_for("mine/m").err().unwrap();
    assert!(matches!(error, SetupError::BadPath { .. }), "{error}");
}
