//! The acceptance cases of the founding designs, and the tools that they count: what `cargo xtask parity` adds up.
//! With `ACCEPTANCE_REPORT=FILE` what came of it is written there as JSON.

#![allow(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test reads its own files and may panic")]

use std::path::Path;
use std::sync::Arc;

use neco_config::Config;
use neco_testkit::Scenario;
use neco_testkit::scenario::play;
use neco_toolkit::Registry;
use neco_tools::code::Indexes;
use serde_json::{Value, json};

/// Cases that Neco does not meet, each with the reason, and the decision that has the whole of it.
const UNMET: &[(&str, &str)] = &[(
    "ac-11",
    "tools that only read are passed on purpose, none that writes or runs: docs/decisions/0017-ask-mode-reads.md",
)];

/// What those that are not met fail with; anything else is another failure.
const FAILS_WITH: &[(&str, &str)] = &[("ac-11", "the tool read_file must be neither declared nor listed")];

/// Cases that are met with something set, and what.
const WITH: &[(&str, &str)] = &[("ac-09", "with a limit of 25 turns; a window asks after 50, and a request has 500")];

/// The tools that the designs count, each with a call in the designs' own fields.
fn counted() -> Vec<(&'static str, Value)> {
    vec![
        ("read_file", json!({ "path": "a.txt" })),
        ("write_file", json!({ "path": "a.txt", "contents": "x" })),
        ("edit_file", json!({ "path": "a.txt", "old_string": "x", "new_string": "y" })),
        ("create_file", json!({ "path": "b.txt", "contents": "x" })),
        ("delete_file", json!({ "path": "b.txt" })),
        ("search_files", json!({ "pattern": "x", "case_insensitive": true })),
        ("glob_search", json!({ "pattern": "*.txt" })),
        ("semantic_search", json!({ "query": "where is it read" })),
        ("run_terminal_cmd", json!({ "command": "true", "working_directory": ".", "timeout": 1000 })),
        ("list_directory", json!({ "path": "." })),
        ("git", json!({ "action": "status" })),
        ("read_lints", json!({ "paths": ["a.txt"] })),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_acceptance_cases_are_met_but_for_those_that_are_known_not_to_be() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/acceptance");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let mut cases = Vec::new();
    let mut surprises = Vec::new();
    for path in paths {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let scenario = Scenario::parse(&std::fs::read_to_string(&path).unwrap()).unwrap();
        let played = play(&scenario).await;
        let of = |list: &[(&str, &str)]| list.iter().find(|(case, _)| *case == name).map(|(_, why)| (*why).to_owned());
        let why = played.as_ref().err().map(|why| why.lines().next().unwrap_or_default().to_owned());
        let is_known = |failure: &String| of(FAILS_WITH).is_some_and(|known| failure.contains(&known));
        if played.is_ok() == of(UNMET).is_some() || played.as_ref().is_err_and(|failure| !is_known(failure)) {
            surprises.push(format!("{name}: {}", played.as_ref().err().map_or("is met by now", String::as_str)));
        }
        let note = of(UNMET).or_else(|| of(WITH).filter(|_| why.is_none())).or_else(|| why.clone());
        let (title, met) = (scenario.title, played.is_ok());
        cases.push(json!({ "name": name, "title": title, "met": met, "note": note, "failure": why }));
    }
    let tools: Vec<Value> = counted().into_iter().map(|(name, call)| tool(&registry(), name, call)).collect();
    // Before anything is held to it: what is not as it should be is told too.
    if let Some(file) = std::env::var_os("ACCEPTANCE_REPORT") {
        std::fs::write(file, json!({ "cases": cases, "tools": tools }).to_string()).unwrap();
    }
    assert_eq!(cases.len(), 13);
    for (case, why) in UNMET {
        let decision = why.rsplit(' ').next().unwrap_or_default();
        let decision = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(decision);
        let told = std::fs::read_to_string(&decision).unwrap_or_default();
        assert!(told.contains(&case.to_uppercase()), "{} says nothing of {case}", decision.display());
    }
    assert!(surprises.is_empty(), "{}", surprises.join("\n"));
    assert!(tools.iter().all(|tool| tool["there"] == true), "{tools:#?}");
}

fn registry() -> Registry {
    let folder = tempfile::tempdir().unwrap();
    let indexes = Arc::new(Indexes::new(folder.path().to_owned()));
    neco_tools::builtin::registry(&Config::built_in().tools, &indexes).with(neco_agent::plan::tools())
}

/// Whether a tool is there by the designs' name for it, and takes the designs' fields.
fn tool(registry: &Registry, name: &str, call: Value) -> Value {
    let found = registry.find(name).ok();
    let own = found.map(|tool| tool.name().to_owned());
    let note = found.and_then(|tool| Arc::clone(tool).prepare(call).err()).map(|error| error.message);
    json!({ "name": name, "there": own.is_some() && note.is_none(), "own": own, "note": note })
}
