//! Two questions in a row, byte for byte, as each of the four wires writes them.

use std::sync::Arc;

use neco_model::wire::anthropic::Anthropic;
use neco_model::wire::format::Wire;
use neco_model::wire::gemini::Gemini;
use neco_model::wire::openai_chat::{Dialect, OpenaiChat};
use neco_model::wire::openai_responses::OpenaiResponses;
use neco_model::wire::target::Target;
use neco_model::{Entry, Request};
use neco_proto::{Part, Role};

use crate::model::{Model, Reply, look, wants_summary};
use crate::stage::{self, say};

/// What marks the end of what is cached: it moves on from question to question and is no part of the text.
const MARK: &str = ",\"cache_control\":{\"type\":\"ephemeral\"}";

fn wires() -> Vec<(&'static str, Box<dyn Wire>)> {
    vec![
        ("anthropic", Box::new(Anthropic::bound_to(Target::new("anthropic", "claude-opus-5")))),
        ("chat", Box::new(OpenaiChat::bound_to(Target::new("chat", "one"), Dialect::default()))),
        ("responses", Box::new(OpenaiResponses::bound_to(Target::new("openai", "gpt-5")))),
        ("gemini", Box::new(Gemini::bound_to(Target::new("gemini", "gemini-2.5-pro")))),
    ]
}

fn written(wire: &dyn Wire, request: &Request) -> String {
    String::from_utf8(wire.encode(request).concat()).unwrap().replace(MARK, "")
}

/// The last words of the last message, as they stand in a request.
fn last_words(request: &Request) -> String {
    let last = request.history.iter().next_back().map(Entry::message).unwrap();
    let text = match last.parts.last().unwrap() {
        Part::Text { text } => text.clone(),
        Part::ToolResult(result) => result.output.clone(),
        other => panic!("{other:?}"),
    };
    let line = text.lines().next_back().unwrap();
    serde_json::to_string(line).unwrap().trim_matches('"').to_owned()
}

/// Whether the second question begins with all that the first one says.
fn goes_on(one: &Request, other: &Request) -> bool {
    let shared = one.history.shared().zip(other.history.shared()).take_while(|(one, other)| Arc::ptr_eq(one, other));
    shared.count() == one.history.len()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_questions_share_their_bytes_up_to_the_last_cached_message() {
    let model = Model::new(Some(40_000), |number, request| match number {
        _ if wants_summary(request) => Reply::Say(
            "## Goal and requirements\n- look at all files, one after the other\n## Next steps\n- go on".into(),
        ),
        number if number % 7 == 6 => Reply::Say(format!("That was round {number}.")),
        number => look(number),
    });
    let stage = stage::stage(&model);
    let session = stage.open().await.unwrap();
    for round in 0..6 {
        say(&session, &format!("Look \"once\" more, for the {round}th time.")).await;
    }
    session.close().await;
    let asked: Vec<Request> = model.asked().into_iter().filter(|request| !wants_summary(request)).collect();
    let mut compared = 0;
    for pair in asked.windows(2).filter(|pair| goes_on(&pair[0], &pair[1])) {
        assert_ne!(pair[0].history.iter().next_back().unwrap().message().role, Role::Assistant);
        for (name, wire) in wires() {
            let (one, other) = (written(wire.as_ref(), &pair[0]), written(wire.as_ref(), &pair[1]));
            let same = one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count();
            let words = last_words(&pair[0]);
            let end = one.rfind(&words).unwrap_or_else(|| panic!("{name}: {words} is not in {one}")) + words.len();
            assert!(same >= end, "{name}: {}\n---\n{}", &one[same.saturating_sub(80)..], &other[same..same + 80]);
            compared += 1;
        }
    }
    assert!(compared >= 4 * 30, "{compared}");
}
