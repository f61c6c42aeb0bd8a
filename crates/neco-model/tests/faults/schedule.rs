//! What may go wrong, and when.

use neco_model::scripted::{Fault, ScriptCall, Turn};
use proptest::prelude::*;

pub const RETRIES: usize = 2;
pub const MAX_RETRY_AFTER: f64 = 60.0;

/// What one key of one model does, attempt by attempt; the last turn goes on.
pub type Plan = Vec<Turn>;

/// Models, their keys, and the plan of each.
pub type Schedule = Vec<Vec<Plan>>;

/// Pieces of the whole answer: words of thought and text, calls with their arguments, and the finish.
pub fn pieces(turn: &Turn) -> usize {
    let words = |text: &str| text.split_inclusive(' ').count();
    let call = |call: &ScriptCall| 1 + words(&arguments(call));
    words(&turn.reasoning) + words(&turn.say) + turn.calls.iter().map(call).sum::<usize>() + 1
}

pub fn arguments(call: &ScriptCall) -> String {
    call.arguments_raw.clone().unwrap_or_else(|| call.arguments.to_string())
}

pub fn fault() -> impl Strategy<Value = Fault> {
    let code = prop::sample::select(vec![400, 401, 403, 404, 408, 409, 413, 429, 429, 429, 500, 502, 503, 504, 529]);
    let wait = prop_oneof![3 => Just(None), 1 => (0.0..90.0_f64).prop_map(Some)];
    prop_oneof![
        4 => (code, wait).prop_map(|(code, wait)| Fault::Status {
            code,
            // Nobody waits for what does not pass.
            retry_after: wait.filter(|_| ![400, 401, 403, 404, 413].contains(&code)),
            message: None,
        }),
        2 => (0_usize..9).prop_map(Fault::DropAfter),
        1 => (0_usize..9).prop_map(Fault::StallAfter),
        2 => (0_usize..9).prop_map(Fault::ErrorAfter),
        1 => Just(Fault::Empty),
    ]
}

pub fn call() -> impl Strategy<Value = ScriptCall> {
    let id = prop_oneof![Just(None), Just(Some(None)), Just(Some(Some("same".to_owned())))];
    let raw = prop::option::of(prop::sample::select(vec!["{\"path\":", "", "not json", "{}{}", "[1,2"]));
    ("[a-c]{1,3}", id, raw).prop_map(|(name, id, raw)| ScriptCall {
        name,
        arguments: serde_json::json!({ "path": "src/a b.rs" }),
        arguments_raw: raw.map(str::to_owned),
        id,
    })
}

pub fn turn() -> impl Strategy<Value = Turn> {
    let say = prop::sample::select(vec!["", "one", "one two three four", "日本 語 text"]);
    (say, prop::bool::ANY, prop::collection::vec(call(), 0..3), prop::option::weighted(0.75, fault()), 0_u64..3)
        .prop_map(|(say, thinks, calls, fault, delay)| {
            let reasoning = if thinks { "let me see".to_owned() } else { String::new() };
            Turn {
                say: say.to_owned(),
                reasoning,
                calls,
                fault,
                delay_ms: delay * 10,
                between_ms: delay,
                ..Turn::default()
            }
        })
}

pub fn schedule() -> impl Strategy<Value = Schedule> {
    let plan = prop::collection::vec(turn(), 1..5);
    prop::collection::vec(prop::collection::vec(plan, 1..4), 1..4)
}
