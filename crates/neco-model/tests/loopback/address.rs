//! Where each provider is asked, and how the key is shown to it.

use futures::StreamExt;
use neco_config::section::{Config, ProviderSection, ProviderType};
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
