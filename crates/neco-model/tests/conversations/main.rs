//! Any history, for any wire: what is sent obeys the vendor's rules.
//!
//! The rules of each vendor are written here anew, from what it documents and refuses, not from
//! what the encoders do. Reading order: `histories` (what may come in), `rules` (what all vendors
//! share), then one file for each vendor.

#![allow(missing_docs, clippy::unwrap_used)]

mod anthropic;
mod chat;
mod gemini;
mod histories;
mod responses;
mod rules;

use neco_model::wire::anthropic::Anthropic;
use neco_model::wire::format::Wire;
use neco_model::wire::gemini::Gemini;
use neco_model::wire::openai_chat::{Dialect, OpenaiChat, ReasoningBack};
use neco_model::wire::openai_responses::OpenaiResponses;
use neco_model::wire::target::Target;
use neco_model::{History, ModelInfo, Request, ToolDeclaration};
use neco_proto::Message;
use proptest::prelude::*;
use serde_json::{Value, json};

fn target(label: &str, vision: bool) -> Target {
    let name: neco_model::route::ModelName = label.parse().unwrap();
    let info = ModelInfo { vision, max_output: 32_000, ..ModelInfo::default() };
    Target { parameters: name.parameters, info, ..Target::new(&name.provider, &name.model) }
}

/// The rules that a request has to obey.
type Rules = fn(&Value, &Case);

/// One wire and what it must obey.
struct Case {
    label: &'static str,
    vision: bool,
    wire: Box<dyn Wire>,
    rules: Rules,
}

fn cases() -> Vec<Case> {
    let dialect = |json: Value| -> Dialect { serde_json::from_value(json).unwrap() };
    let mut cases = Vec::new();
    let mut add = |label: &'static str, vision: bool, wire: Box<dyn Wire>, rules: Rules| {
        cases.push(Case { label, vision, wire, rules });
    };
    for vision in [true, false] {
        let kept = Dialect { reasoning_back: ReasoningBack::Kept, ..Dialect::default() };
        add("chat/one", vision, Box::new(OpenaiChat::bound_to(target("chat/one", vision), kept)), chat::obeys);
        let strict = dialect(json!({ "call_ids": "nine", "answer_after_results": true }));
        add(
            "mistral/m",
            vision,
            Box::new(OpenaiChat::bound_to(target("mistral/m", vision), strict)),
            chat::obeys_mistral,
        );
        for label in ["anthropic/claude-opus-5", "anthropic/claude-sonnet-4-5?reasoning=high"] {
            add(label, vision, Box::new(Anthropic::bound_to(target(label, vision))), anthropic::obeys);
        }
        let responses = OpenaiResponses::bound_to(target("openai/gpt-5", vision));
        add("openai/gpt-5", vision, Box::new(responses), responses::obeys);
        add(
            "gemini/gemini-3-pro",
            vision,
            Box::new(Gemini::bound_to(target("gemini/gemini-3-pro", vision))),
            gemini::obeys_signed,
        );
        add(
            "gemini/gemini-2.5-pro",
            vision,
            Box::new(Gemini::bound_to(target("gemini/gemini-2.5-pro", vision))),
            gemini::obeys,
        );
    }
    cases
}

fn request(history: History, with_tools: bool) -> Request {
    let tool = |name: &str| ToolDeclaration {
        name: name.to_owned(),
        description: "Does it.".to_owned(),
        schema: json!({ "type": "object", "properties": {} }),
    };
    let tools = if with_tools { vec![tool("read_file"), tool("grep")] } else { Vec::new() };
    Request {
        system: "You are Neco.".into(),
        tools: tools.into(),
        history,
        cache_key: "k".to_owned(),
        output: None,
        temperature: None,
        max_output: None,
        agent: None,
    }
}

fn body(wire: &dyn Wire, request: &Request) -> Value {
    let bytes = wire.encode(request).concat();
    serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{error}: {}", String::from_utf8_lossy(&bytes)))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn what_is_sent_obeys_the_vendor(messages in histories::history(), with_tools in any::<bool>()) {
        let shared = request(messages.iter().cloned().collect(), with_tools);
        for case in cases() {
            // The shared request holds the bytes that other wires made; a fresh one holds none.
            let fresh = request(messages.iter().cloned().collect(), with_tools);
            let found = body(case.wire.as_ref(), &fresh);
            prop_assert_eq!(&body(case.wire.as_ref(), &shared), &found);
            prop_assert_eq!(&body(case.wire.as_ref(), &shared), &found);
            rules::all(&found, &case);
            (case.rules)(&found, &case);
        }
    }

    #[test]
    fn what_was_sent_before_stays_as_it_was(messages in histories::sound(), cut in any::<prop::sample::Index>()) {
        let ends: Vec<usize> = (1..=messages.len()).filter(|end| histories::is_asked(&messages[..*end])).collect();
        let (early, whole) = (&messages[..ends[cut.index(ends.len())]], &messages[..*ends.last().unwrap()]);
        for case in cases() {
            let list = |messages: &[Message]| rules::conversation(&body(case.wire.as_ref(), &request(messages.iter().cloned().collect(), true)));
            let (before, after) = (list(early), list(whole));
            prop_assert!(after.starts_with(&before), "{}: {before:#?} {after:#?}", case.label);
        }
    }
}
