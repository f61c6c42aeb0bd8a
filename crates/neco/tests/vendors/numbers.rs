//! Numbers of a vendor that are none: they count nothing, and the session goes on.

use neco_proto::event::UsageEvent;
use neco_proto::{Event, EventBody, Message, Part, Role, Usage};
use neco_store::{Catalog, Durability, EventLog, SqliteStore, lease_and_append};
use serde_json::{Value, json};

use crate::format::{ALL, Format, Piece};
use crate::server::{Server, head};
use crate::watched::{house, of, run};

/// The counts of a format, all of them `count`.
fn counts(format: Format, count: &Value) -> Value {
    match format {
        Format::Openai => json!({
            "prompt_tokens": count, "completion_tokens": count, "total_tokens": count, "cost": count,
            "prompt_tokens_details": { "cached_tokens": count }, "completion_tokens_details": count,
        }),
        Format::Responses => json!({
            "input_tokens": count, "output_tokens": count, "input_tokens_details": { "cached_tokens": count },
            "output_tokens_details": count,
        }),
        Format::Anthropic => json!({
            "input_tokens": count, "output_tokens": count, "cache_read_input_tokens": count,
            "cache_creation_input_tokens": count,
        }),
        Format::Gemini => json!({
            "promptTokenCount": count, "candidatesTokenCount": count, "thoughtsTokenCount": count,
            "cachedContentTokenCount": count,
        }),
    }
}

/// An answer that says these counts one after the other.
fn saying(format: Format, said: Vec<Value>) -> Server {
    Server::start(move |_, _, out| {
        head(out, 200, "text/event-stream")?;
        out.write_all(format.events(Piece::Text("Hello.")).as_bytes())?;
        for counts in &said {
            out.write_all(format.events(Piece::Usage(counts)).as_bytes())?;
        }
        out.write_all(format.events(Piece::End(format.done())).as_bytes())
    })
}

#[test]
fn a_session_with_nonsense_in_its_counts_goes_on() {
    let nonsense = [
        json!(u64::MAX),
        json!(1e308),
        json!(-5),
        json!(0.5),
        json!("many"),
        json!(null),
        json!({ "a": [1] }),
        json!([]),
    ];
    for format in ALL {
        for count in &nonsense {
            let said = if *count == json!(0.5) { json!("none") } else { counts(format, count) };
            let server = saying(format, vec![said]);
            let house = house(format, &server.base, "");
            run(&house, &["-m", "hello"]).0.ended_with(0);
            let ran = run(&house, &["-m", "again", "--continue", "--output-format", "json"]).0.ended_with(0);
            let usage = &ran.json()["usage"];
            assert!(usage["input"].as_u64().unwrap() <= 1, "{format:?} {count}: {usage}");
            assert!(usage["cost"].as_f64().is_none_or(|cost| cost.is_finite() && cost < 1.0), "{format:?}: {usage}");
        }
    }
}

#[test]
fn zeros_that_come_later_take_nothing_back() {
    // The responses format says its counts once, at the end.
    for format in [Format::Openai, Format::Anthropic, Format::Gemini] {
        let said = vec![counts(format, &json!(70)), counts(format, &json!(0)), json!({})];
        let server = saying(format, said);
        let house = house(format, &server.base, "");
        let ran = run(&house, &["-m", "hello", "--output-format", "stream-json"]).0.ended_with(0);
        let events = ran.events();
        let usage = of(&events, "usage")[0];
        assert!(
            usage["input"].as_u64().unwrap() >= 70 && usage["output"].as_u64().unwrap() >= 70,
            "{format:?}: {usage}"
        );
    }
}

#[tokio::test]
async fn a_log_that_has_such_numbers_opens_and_goes_on() {
    let server = saying(Format::Openai, Vec::new());
    let house = house(Format::Openai, &server.base, "");
    run(&house, &["-m", "hello"]).0.ended_with(0);
    let store = SqliteStore::open(&house.path("home/data/neco.db")).await.unwrap();
    let record = store.list(None, 1).await.unwrap().remove(0);
    let mut events = store.read(record.id, 0, usize::MAX).await.unwrap();
    let last = events.pop().unwrap();
    let usage = Usage { input: u64::MAX, output: u64::MAX, cost: Some(1e308), ..Usage::default() };
    let used = UsageEvent::of("flood/m", usage, false);
    let said = Message::new(Role::Assistant, vec![Part::Text { text: "Hello.".to_owned() }]);
    let bodies = [EventBody::Usage(used), EventBody::Message(said)];
    let events =
        bodies.into_iter().zip(last.seq + 1..).map(|(body, seq)| Event { seq, body, ..last.clone() }).collect();
    lease_and_append(&store, events, Durability::Now).await.unwrap();
    store.close().await.unwrap();
    let ran = run(&house, &["-m", "again", "--continue", "--output-format", "json"]).0.ended_with(0);
    assert!(ran.json()["usage"]["input"].as_u64().is_some());
    run(&house, &["session", "show"]).0.ended_with(0);
}
