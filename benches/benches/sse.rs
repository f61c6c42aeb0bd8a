//! Reading a model's answer: events cut out of bytes, and deltas made of events.
#![allow(clippy::unwrap_used, reason = "without its input a benchmark has nothing to go on with")]

#[path = "support/promise.rs"]
mod promise;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use neco_model::route::Parameters;
use neco_model::wire::format::Wire as _;
use neco_model::wire::openai_chat::{Dialect, OpenaiChat};
use neco_model::wire::reader::Reader;
use neco_model::wire::sse::Parser;

const EVENTS: usize = 20_000;

/// Sizes of the pieces in which the bytes come.
const PIECES: [usize; 3] = [64, 4096, 65536];

/// Bytes a second.
const LIMIT: f64 = 200e6;

fn main() {
    divan::main();
    if promise::is_asked_for() {
        report();
    }
}

/// What was promised of events; what deltas cost besides is shown.
fn report() {
    let answer = answer();
    let wire = OpenaiChat::new("bench", "model", Parameters::default(), Dialect::default());
    for piece in PIECES {
        let events = rate(&answer, || count_bytes(&answer, piece));
        let deltas = rate(&answer, || count_deltas(&wire, &answer, piece)) / 1e6;
        let value = format!("{:.0} MB/s, as deltas {deltas:.0} MB/s", events / 1e6);
        let name = format!("events in pieces of {piece} bytes");
        promise::report(&name, &value, "at least 200 MB/s", events >= LIMIT);
    }
}

/// Bytes a second.
fn rate(answer: &[u8], mut read: impl FnMut() -> usize) -> f64 {
    answer.len() as f64 / promise::median(|| (), |()| read()).as_secs_f64()
}

/// An answer as models stream it, one token an event.
fn answer() -> Vec<u8> {
    let mut text = String::new();
    for number in 0..EVENTS {
        let delta = format!(r#"{{"index":0,"delta":{{"content":"word{number} "}},"finish_reason":null}}"#);
        text += &format!("data: {{\"id\":\"a\",\"object\":\"chat.completion.chunk\",\"choices\":[{delta}]}}\n\n");
    }
    text += "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    text.into_bytes()
}

#[divan::bench(args = PIECES)]
fn events(bencher: Bencher<'_, '_>, piece: usize) {
    let answer = answer();
    bencher.counter(BytesCount::of_slice(&answer)).bench(|| count_bytes(&answer, piece));
}

fn count_bytes(answer: &[u8], piece: usize) -> usize {
    let mut parser = Parser::default();
    let mut bytes = 0;
    for piece in answer.chunks(piece) {
        parser.push(piece, |event| bytes += black_box(event).data.len()).unwrap();
    }
    bytes
}

#[divan::bench(args = PIECES)]
fn deltas(bencher: Bencher<'_, '_>, piece: usize) {
    let answer = answer();
    let wire = OpenaiChat::new("bench", "model", Parameters::default(), Dialect::default());
    bencher.counter(BytesCount::of_slice(&answer)).bench(|| count_deltas(&wire, &answer, piece));
}

fn count_deltas(wire: &OpenaiChat, answer: &[u8], piece: usize) -> usize {
    let mut reader = Reader::new(wire.decoder());
    let mut out = Vec::new();
    let mut deltas = 0;
    for piece in answer.chunks(piece) {
        reader.push(piece, &mut out).unwrap();
        deltas += black_box(&out).len();
        out.clear();
    }
    assert!(deltas >= EVENTS, "{deltas}");
    deltas
}
