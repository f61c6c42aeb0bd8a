//! An answer that must have a form, in each wire format.

#![allow(missing_docs, clippy::unwrap_used)]

use std::sync::Arc;

use neco_model::wire::anthropic::Anthropic;
use neco_model::wire::format::Wire;
use neco_model::wire::gemini::Gemini;
use neco_model::wire::openai_chat::{Dialect, OpenaiChat, OutputForm};
use neco_model::wire::openai_responses::OpenaiResponses;
use neco_model::wire::target::Target;
use neco_model::{OutputSchema, Request};
use neco_proto::Message;
use serde_json::{Value, json};

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": { "title": { "type": "string" } },
        "required": ["title"],
        "additionalProperties": false,
    })
}

fn request(schema: Option<Value>) -> Request {
    Request {
        system: "Give it a title.".into(),
        tools: Vec::new().into(),
        history: [Message::user("hi")].into_iter().collect(),
        cache_key: String::new(),
        output: schema.map(|schema| Arc::new(OutputSchema { name: "title".to_owned(), schema })),
        temperature: None,
        max_output: None,
        agent: None,
    }
}

fn encoded(wire: &dyn Wire, schema: Option<Value>) -> Value {
    serde_json::from_slice(&wire.encode(&request(schema)).concat()).unwrap()
}

#[test]
fn chat_completions() {
    let wire = OpenaiChat::bound_to(Target::new("vendor", "model"), Dialect::default());
    let format =
        json!({ "type": "json_schema", "json_schema": { "name": "title", "schema": schema(), "strict": true } });
    assert_eq!(encoded(&wire, Some(schema()))["response_format"], format);
    let open = encoded(&wire, Some(json!({ "type": "object", "properties": { "a": {} } })));
    assert_eq!(open["response_format"]["json_schema"]["strict"], false);
    assert_eq!(encoded(&wire, None).get("response_format"), None, "what was asked before is not asked again");
    let dialect = Dialect { output: OutputForm::Object, ..Dialect::default() };
    let wire = OpenaiChat::bound_to(Target::new("vendor", "model"), dialect);
    assert_eq!(encoded(&wire, Some(schema()))["response_format"], json!({ "type": "json_object" }));
}

#[test]
fn responses() {
    let wire = OpenaiResponses::bound_to(Target::new("openai", "gpt-5"));
    let format = json!({ "type": "json_schema", "name": "title", "schema": schema(), "strict": true });
    assert_eq!(encoded(&wire, Some(schema()))["text"], json!({ "format": format }));
    assert_eq!(encoded(&wire, None).get("text"), None);
}

#[test]
fn anthropic() {
    let mut target = Target::new("anthropic", "claude-opus-4-6");
    let format = json!({ "type": "json_schema", "schema": schema() });
    let body = encoded(&Anthropic::bound_to(target.clone()), Some(schema()));
    assert_eq!(body["output_config"], json!({ "format": format }));
    target.parameters.reasoning = Some("high".to_owned());
    let wire = Anthropic::bound_to(target);
    assert_eq!(encoded(&wire, Some(schema()))["output_config"], json!({ "effort": "high", "format": format }));
    assert_eq!(encoded(&wire, None)["output_config"], json!({ "effort": "high" }));
}

#[test]
fn gemini() {
    let wire = Gemini::bound_to(Target::new("gemini", "gemini-2.5-flash"));
    let settings = encoded(&wire, Some(schema()))["generationConfig"].clone();
    assert_eq!(settings["responseMimeType"], "application/json");
    assert_eq!(settings["responseJsonSchema"]["required"], json!(["title"]));
    assert_eq!(encoded(&wire, None)["generationConfig"].get("responseMimeType"), None);
}
