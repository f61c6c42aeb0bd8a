//! Writing a request: what was sent before must not be written again.

#[path = "support/promise.rs"]
mod promise;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use divan::Bencher;
use neco_model::route::Parameters;
use neco_model::wire::format::Wire as _;
use neco_model::wire::openai_chat::{Dialect, OpenaiChat};
use neco_model::{History, Request};
use neco_proto::{CallId, Message, Part, Role, ToolCall, ToolResult};

const TURNS: [usize; 2] = [10, 200];

/// Own time for one more request after 200 turns, besides one serialisation of what is new in it.
const LIMIT: Duration = Duration::from_millis(1);

fn main() {
    divan::main();
    if promise::is_asked_for() {
        report();
    }
}

/// What was promised: building a request and copying it out, as a socket does, costs at most [`LIMIT`].
fn report() {
    let [few, many] = TURNS.map(|turns| {
        let wire = wire();
        let before = request(turns);
        divan::black_box(wire.encode(&before));
        let next = || one_more(&before, turns);
        let build = promise::median(next, |request| wire.encode(request));
        let send = promise::median(next, |request| wire.encode(request).concat());
        (build, send)
    });
    let whole = promise::median(|| (wire(), request(TURNS[1])), |(wire, request)| wire.encode(request));
    let growth = many.1.as_secs_f64() / few.1.as_secs_f64();
    let built = format!("{:?} built, {:?} with the copy", many.0, many.1);
    let value = format!("{built}, {growth:.1} × that after 10 turns; {whole:?} if all of it were written again");
    promise::report("a request after 200 turns", &value, "at most 1 ms", many.1 <= LIMIT);
}

/// `before` with one turn more.
fn one_more(before: &Request, turns: usize) -> Request {
    let mut next = before.clone();
    add_turn(&mut next.history, turns);
    next
}

fn wire() -> OpenaiChat {
    OpenaiChat::new("bench", "model", Parameters::default(), Dialect::default())
}

/// A conversation whose results are 5 KB each.
fn request(turns: usize) -> Request {
    let mut history = History::default();
    history.push(Message::user("Do what the script says."));
    for number in 0..turns {
        add_turn(&mut history, number);
    }
    Request {
        system: "You are an agent.".into(),
        tools: Arc::new([]),
        history,
        cache_key: String::new(),
        output: None,
        temperature: None,
        max_output: None,
        agent: None,
    }
}

fn add_turn(history: &mut History, number: usize) {
    let id = CallId::from(format!("call_{number}"));
    let arguments = format!(r#"{{"path":"src/file{number}.rs"}}"#);
    let call = ToolCall { id: id.clone(), name: "read_file".to_owned(), arguments, opaque: None };
    let said = Message::new(Role::Assistant, vec![Part::ToolCall(call)]);
    history.push(Message { model: Some("bench/model".to_owned()), ..said });
    let output = "a line of \"text\" as it stands in a file\n".repeat(125);
    history.push(Message::tool_results(vec![ToolResult { call_id: id, output, error_code: None }]));
}

/// One more turn after so many: only its own messages are new.
#[divan::bench(args = TURNS)]
fn next_turn(bencher: Bencher<'_, '_>, turns: usize) {
    let wire = wire();
    let before = request(turns);
    divan::black_box(wire.encode(&before));
    let next = || one_more(&before, turns);
    bencher.with_inputs(next).bench_refs(|request| wire.encode(request));
}

/// The same with the one copy that a socket needs.
#[divan::bench(args = TURNS)]
fn next_turn_and_copy(bencher: Bencher<'_, '_>, turns: usize) {
    let wire = wire();
    let before = request(turns);
    divan::black_box(wire.encode(&before));
    let next = || one_more(&before, turns);
    bencher.with_inputs(next).bench_refs(|request| {
        let pieces: Vec<Bytes> = wire.encode(request);
        pieces.concat()
    });
}

/// Everything for the first time, as after a resume.
#[divan::bench(args = TURNS)]
fn whole_history(bencher: Bencher<'_, '_>, turns: usize) {
    bencher.with_inputs(|| (wire(), request(turns))).bench_refs(|(wire, request)| wire.encode(request));
}
