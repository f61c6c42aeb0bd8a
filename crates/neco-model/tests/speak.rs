//! A script spoken in each wire format is read by our own wires as what was written.

#![allow(missing_docs, clippy::unwrap_used)]

mod served;

use std::sync::Arc;

use crate::served::{Reply, ReplyEnd};
use neco_config::section::ProviderType;
use neco_model::scripted::{Fault, Player};
use neco_model::wire::anthropic::Anthropic;
use neco_model::wire::format::{Problem, Wire};
use neco_model::wire::gemini::Gemini;
use neco_model::wire::openai_chat::{Dialect, OpenaiChat};
use neco_model::wire::openai_responses::OpenaiResponses;
use neco_model::wire::reader::Reader;
use neco_model::wire::target::Target;
use neco_model::{Answer, FinishReason, Script};
use serde_json::{Value, json};

const KINDS: [ProviderType; 4] =
    [ProviderType::Openai, ProviderType::Responses, ProviderType::Anthropic, ProviderType::Gemini];

fn wire(kind: ProviderType) -> Box<dyn Wire> {
    let target = Target::new("script", "model");
    match kind {
        ProviderType::Openai | ProviderType::Scripted => Box::new(OpenaiChat::bound_to(target, Dialect::default())),
        ProviderType::Responses => Box::new(OpenaiResponses::bound_to(target)),
        ProviderType::Anthropic => Box::new(Anthropic::bound_to(target)),
        ProviderType::Gemini => Box::new(Gemini::bound_to(target)),
    }
}

fn read(kind: ProviderType, script: Script) -> (Reply, Answer, Option<Problem>) {
    let reply = Reply::speaking(kind, &Player::new(Arc::new(script), "m").next().unwrap());
    let mut reader = Reader::new(wire(kind).decoder());
    let mut deltas = Vec::new();
    let read = reply.pieces.iter().try_for_each(|piece| reader.push(piece, &mut deltas));
    let read = read.and_then(|()| if reader.is_over() { Ok(()) } else { reader.end(&mut deltas) });
    let mut answer = Answer::default();
    deltas.iter().for_each(|delta| answer.add(delta));
    (reply, answer, read.err())
}

#[test]
fn every_format_says_the_same() {
    for kind in KINDS {
        let script = Script::new()
            .call("read_file", json!({ "path": "a b" }))
            .also_call("list", json!({}))
            .saying("Let me look at it.")
            .thinking("Hm, a file.")
            .usage(100, 20);
        let (reply, answer, error) = read(kind, script);
        assert_eq!((error, reply.end), (None, ReplyEnd::Whole), "{kind:?}");
        assert_eq!(answer.text, "Let me look at it.", "{kind:?}");
        let thought: String = answer.reasoning.iter().map(|(text, _)| text.as_str()).collect();
        assert_eq!(thought, "Hm, a file.", "{kind:?}");
        let calls: Vec<(&str, Value)> = answer
            .calls
            .iter()
            .map(|call| (call.name.as_str(), serde_json::from_str(&call.arguments).unwrap()))
            .collect();
        assert_eq!(calls, [("read_file", json!({ "path": "a b" })), ("list", json!({}))], "{kind:?}");
        assert_eq!(answer.calls[0].id.as_deref(), Some("call_1_1"), "{kind:?}");
        let usage = answer.usage.unwrap();
        assert_eq!((usage.input, usage.output, answer.finish), (100, 20, Some(FinishReason::ToolCalls)), "{kind:?}");
    }
}

#[test]
fn faults_look_like_faults_in_every_format() {
    for kind in KINDS {
        for fault in [Fault::DropAfter(2), Fault::ErrorAfter(2)] {
            let (_, answer, error) = read(kind, Script::new().say("one two three").faulty(fault.clone()));
            assert!(error.is_some() && answer.finish.is_none(), "{kind:?} {fault:?}");
            assert_eq!(answer.text, "one two ", "{kind:?} {fault:?}");
        }
        let (_, answer, error) = read(kind, Script::new().fault(Fault::Empty));
        assert_eq!((error, answer.text.as_str()), (None, ""), "{kind:?}");
    }
}
