//! Answers that must have a form: what reaches the server, in each format and as each vendor offers it.

use std::sync::Arc;

use futures::StreamExt;
use neco_config::section::{Config, ProviderSection, ProviderType};
use neco_model::{Models, NoKeys, OutputSchema, Request, Script};
use neco_proto::Message;
use serde_json::{Value, json};

use crate::server::Server;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "title": { "type": "string" } },
        "required": ["title"],
        "additionalProperties": false,
    })
}

/// What the server is sent when `name` is asked for a title.
async fn asked(name: &str, section: ProviderSection) -> Value {
    let server = Server::start(Script::new().say("{\"title\":\"a\"}")).await;
    let provider = name.split('/').next().unwrap().to_owned();
    let section = ProviderSection { base: Some(server.base.clone()), ..section };
    let config = Config { model_providers: [(provider, section)].into(), ..Config::default() };
    let model = Models::new(&config, &NoKeys).unwrap().provider_for(name).unwrap();
    let request = Request {
        system: "Give it a title.".into(),
        tools: Vec::new().into(),
        history: [Message::user("hi")].into_iter().collect(),
        cache_key: String::new(),
        output: Some(Arc::new(OutputSchema { name: "title".to_owned(), schema: schema() })),
        temperature: None,
        max_output: None,
        agent: None,
    };
    // What it answers is in the format of chat completions; only the question matters here.
    let _: Vec<_> = model.stream(request).collect().await;
    server.seen().remove(0).body
}

fn with_key(kind: Option<ProviderType>) -> ProviderSection {
    ProviderSection { kind, api_key: Some("k".to_owned()), ..ProviderSection::default() }
}

fn local(kind: ProviderType) -> ProviderSection {
    ProviderSection { kind: Some(kind), local: true, ..ProviderSection::default() }
}

#[tokio::test]
async fn every_format_has_its_field() {
    let strict = json!({ "name": "title", "schema": schema(), "strict": true });
    let chat = json!({ "type": "json_schema", "json_schema": strict });
    for (kind, field, wanted) in [
        (ProviderType::Openai, "/response_format", chat),
        (ProviderType::Responses, "/text/format/schema", schema()),
        (ProviderType::Anthropic, "/output_config/format/schema", schema()),
        (ProviderType::Gemini, "/generationConfig/responseJsonSchema", schema()),
    ] {
        let body = asked("mine/m", with_key(Some(kind))).await;
        assert_eq!(body.pointer(field), Some(&wanted), "{kind:?}: {body}");
    }
}

#[tokio::test]
async fn a_server_on_this_machine_is_given_the_schema() {
    let body = asked("here/m", local(ProviderType::Openai)).await;
    assert_eq!(body["response_format"]["json_schema"]["schema"], schema(), "{body}");
    let body = asked("llama.cpp/m", ProviderSection::default()).await;
    assert_eq!(body["response_format"]["json_schema"]["schema"], schema(), "{body}");
}

#[tokio::test]
async fn a_vendor_that_offers_only_some_object_is_asked_for_that() {
    for name in ["deepseek/deepseek-chat", "zhipuai/glm-4.7"] {
        let body = asked(name, with_key(None)).await;
        assert_eq!(body["response_format"], json!({ "type": "json_object" }), "{name}: {body}");
    }
}
