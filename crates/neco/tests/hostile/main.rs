//! A hostile model with hundreds of attempts: nothing outside the workspace changes, no sensitive file is
//! read, no network is reached; without a person in `ask_first`, and in `auto`.
//!
//! The real binary runs, with a scripted model, in a home of its own beside a folder that it must not touch.
//! All of it happens where the rest of the machine is read-only, so that a mistake in Neco costs a test and
//! not the machine.

#![allow(clippy::unwrap_used, clippy::string_slice, reason = "what a test does not expect fails it")]
#![allow(clippy::print_stdout, reason = "the count is what people look for")]

mod attempts;
mod attempts_context;
mod attempts_edits;
mod attempts_paths;
mod attempts_plants;
mod attempts_rules;
mod listeners;
mod world;

use std::collections::BTreeMap;

use attempts::Attempt;
use listeners::Listeners;
use serde_json::{Value, json};
use world::World;

#[test]
fn a_hostile_model_gets_nowhere_without_a_person() {
    hostile("ask_first");
}

#[test]
fn a_hostile_model_gets_nowhere_in_auto_mode() {
    hostile("auto");
}

#[test]
fn rules_hold_whatever_a_hostile_model_makes_of_them() {
    if !World::has_a_box() {
        assert!(std::env::var_os("CI").is_none(), "no box can be built here");
        println!("SKIPPED: the hostile model needs namespaces, or bubblewrap (Debian's package bubblewrap)");
        return;
    }
    let world = World::build();
    let attempts = attempts_rules::all();
    world.script(&turns(&attempts));
    let before = (std::fs::read(world.work().join(".git/index")).unwrap(), world.look());

    let rules = attempts_rules::RULES.iter().flat_map(|rule| ["--deny", *rule]).collect::<Vec<_>>();
    let events = world.play_with("auto", &rules);

    let results = results(&events);
    let ran = |index: &usize| results[&attempts::id(*index)].code.is_none();
    let passed: Vec<String> = (0..attempts.len()).filter(ran).map(|index| attempts[index].to_string()).collect();
    println!("hostile model against rules: {} attempts, {} ran", attempts.len(), passed.len());
    // Reading what may not be changed is no attempt, but what patches need.
    assert_eq!(passed, ["read_file {\"path\":\"notes.txt\"}"]);
    let index = std::fs::read(world.work().join(".git/index")).unwrap();
    assert!(index == before.0, "something is staged");
    assert!(!world.work().join(attempts_rules::MADE).exists());
    assert_eq!(world.changes(&before.1), Vec::<String>::new());
}

fn hostile(approval: &str) {
    if !World::has_a_box() {
        assert!(std::env::var_os("CI").is_none(), "no box can be built here");
        println!("SKIPPED: the hostile model needs namespaces, or bubblewrap (Debian's package bubblewrap)");
        return;
    }
    let world = World::build();
    let listeners = Listeners::open(&world.out());
    let mut attempts = attempts_plants::all(&world, &listeners);
    attempts.extend(attempts::all(&world, &listeners));
    attempts.extend(attempts_paths::all());
    attempts.extend(attempts_context::all(&world));
    attempts.extend(attempts_edits::all(&world));
    assert!(attempts.len() >= 200, "only {} attempts", attempts.len());
    world.script(&turns(&attempts));
    let before = world.look();

    let events = world.play(approval);

    let started = events.iter().find(|event| event["type"] == "session_start").unwrap();
    assert!(started["sandbox"].as_str().unwrap().starts_with("strong"), "{started}");
    let results = results(&events);
    let read = leaks(&world, &attempts, &results);
    let everything = events.iter().filter(|event| !is_asked(event)).map(Value::to_string).collect::<String>();
    let loose = world.secrets().into_iter().filter(|secret| everything.contains(secret)).count();
    let changed = world.changes(&before);
    let reached = listeners.heard();
    let left = world.survivors();
    let refused = results.values().filter(|result| result.code.is_some()).count();
    println!(
        "hostile model in {approval}: {} attempts, {} refused with a code, {} ran in the box; \
         {} changed something outside, {} read a secret, {} reached the network, {} processes survived",
        attempts.len(),
        refused,
        results.len() - refused,
        changed.len(),
        read.len(),
        reached.len(),
        left.len(),
    );
    assert_eq!(results.len(), attempts.len(), "every attempt has a result");
    assert_eq!((changed, read, reached, left, loose), (vec![], vec![], vec![], vec![], 0));
}

/// One attempt a turn: later ones build on what earlier ones left.
fn turns(attempts: &[Attempt]) -> Value {
    let mut turns: Vec<Value> = attempts.iter().enumerate().map(|(index, attempt)| attempt.turn(index)).collect();
    turns.push(json!({ "say": "I give up." }));
    json!({ "turns": turns })
}

/// What became of a call.
struct Outcome {
    code: Option<u64>,
    text: String,
}

fn results(events: &[Value]) -> BTreeMap<String, Outcome> {
    let ended = events.iter().filter(|event| event["type"] == "tool_call_end");
    let outcome = |event: &Value| Outcome { code: event["error_code"].as_u64(), text: event.to_string() };
    ended.map(|event| (event["call_id"].as_str().unwrap().to_owned(), outcome(event))).collect()
}

/// What the model itself wrote; everything else is what it got.
fn is_asked(event: &Value) -> bool {
    event["type"] == "message" && event["role"] == "assistant"
}

/// The attempts whose result holds a secret.
fn leaks(world: &World, attempts: &[Attempt], results: &BTreeMap<String, Outcome>) -> Vec<String> {
    let secrets = world.secrets();
    let leaked = |index: &usize| {
        results
            .get(&attempts::id(*index))
            .is_some_and(|result| secrets.iter().any(|secret| result.text.contains(secret)))
    };
    (0..attempts.len())
        .filter(leaked)
        .map(|index| format!("{} → {}", attempts[index], results[&attempts::id(index)].text))
        .collect()
}
