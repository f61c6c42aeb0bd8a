//! Edits that are followed by a check.

use std::io::Write;

use neco_config::section::DiagnosticsSection;
use serde_json::{Value, json};

use crate::bench::{BWRAP, Bench, data, one_checker};

/// Finds fault with every line that says so.
const COMMAND: &str = "echo run >> runs; grep -n bad a.txt | sed 's/^/a.txt:/'; true";

fn section() -> DiagnosticsSection {
    DiagnosticsSection { after_edits: true, ..one_checker(COMMAND, None) }
}

/// Whether boxes can be had here; said where not, and not put up with where everything is to be checked.
fn can_be_boxed() -> bool {
    let can = std::path::Path::new(BWRAP).is_file();
    assert!(can || std::env::var_os("CI").is_none(), "{BWRAP} is not there");
    if !can {
        let _ = writeln!(std::io::stderr(), "SKIPPED: checks after edits were not tried: {BWRAP} is not there");
    }
    can
}

fn write(content: &str) -> Value {
    json!({ "path": "a.txt", "content": content })
}

async fn read(bench: &Bench) {
    bench.call("read_file", json!({ "path": "a.txt" })).await.unwrap();
}

fn runs(bench: &Bench) -> usize {
    std::fs::read_to_string(bench.workspace.join("runs")).unwrap_or_default().lines().count()
}

#[tokio::test]
async fn only_new_problems_are_told() {
    if !can_be_boxed() {
        return;
    }
    let bench = Bench::boxed(section());
    bench.put("a.txt", "bad old\n");
    read(&bench).await;
    let same = bench.call("write_file", write("fine\nbad old\n")).await.unwrap();
    assert!(same.model.ends_with("[mine finds no new problems]"), "{}", same.model);
    assert_eq!(runs(&bench), 2, "once before the first edit and once after it");
    let worse = bench.call("write_file", write("bad new\nfine\nbad old\n")).await.unwrap();
    assert!(worse.model.contains("[new problems, by mine: 1 error]"), "{}", worse.model);
    assert_eq!(data(&worse), "a.txt:1: error: bad new");
    let again = bench.call("write_file", write("bad new\nbad old\n")).await.unwrap();
    assert!(again.model.ends_with("[mine finds no new problems]"), "told once: {}", again.model);
    let mended = bench.call("write_file", write("fine\n")).await.unwrap();
    assert!(mended.model.ends_with("[mine finds no new problems; 2 are gone]"), "{}", mended.model);
    assert_eq!(runs(&bench), 5);
}

#[tokio::test]
async fn of_several_edits_in_a_turn_the_last_is_checked() {
    if !can_be_boxed() {
        return;
    }
    let bench = Bench::boxed(section());
    bench.put("a.txt", "x\n");
    read(&bench).await;
    let mut ctx = bench.ctx.clone();
    ctx.more_writes = true;
    let first = bench.call_with("write_file", write("bad half\n"), ctx).await.unwrap();
    assert!(!first.model.contains("mine"), "{}", first.model);
    let last =
        bench.call("edit_file", json!({ "path": "a.txt", "old_string": "half", "new_string": "whole" })).await.unwrap();
    assert!(data(&last).ends_with("a.txt:1: error: bad whole"), "{}", last.model);
    assert_eq!(runs(&bench), 2);
}

#[tokio::test]
async fn without_a_box_nothing_runs_and_that_is_said_once() {
    let bench = Bench::new(section());
    bench.put("a.txt", "x\n");
    read(&bench).await;
    let first = bench.call("write_file", write("bad\n")).await.unwrap();
    assert!(first.model.contains("there is no sandbox to run checkers in"), "{}", first.model);
    let second = bench.call("write_file", write("bad 2\n")).await.unwrap();
    assert!(!second.model.contains("sandbox") && runs(&bench) == 0, "{}", second.model);
}

#[tokio::test]
async fn it_is_off_unless_the_user_wants_it() {
    let bench = Bench::new(one_checker(COMMAND, None));
    bench.put("a.txt", "x\n");
    read(&bench).await;
    let edited = bench.call("write_file", write("bad\n")).await.unwrap();
    assert!(
        !edited.model.contains("mine") && !edited.model.contains("sandbox") && runs(&bench) == 0,
        "{}",
        edited.model
    );
}

#[tokio::test]
async fn a_first_check_that_fails_is_told_once_and_tried_again() {
    if !can_be_boxed() {
        return;
    }
    let command = "test -e ok || { echo offline; exit 3; }; grep -n bad a.txt | sed 's/^/a.txt:/'; true";
    let bench = Bench::boxed(DiagnosticsSection { after_edits: true, ..one_checker(command, None) });
    bench.put("a.txt", "bad old\n");
    read(&bench).await;
    let first = bench.call("write_file", write("bad old\n\n")).await.unwrap();
    assert!(first.model.contains("before the edit, so what is new is not known]"), "{}", first.model);
    let second = bench.call("write_file", write("bad old\n")).await.unwrap();
    assert!(!second.model.contains("mine"), "told once: {}", second.model);
    bench.put("ok", "");
    let third = bench.call("write_file", write("bad old\nbad new\n")).await.unwrap();
    assert_eq!(data(&third), "a.txt:2: error: bad new", "{}", third.model);
}

#[tokio::test]
async fn checks_that_take_long_end_before_the_clock_of_the_call() {
    if !can_be_boxed() {
        return;
    }
    let one = one_checker("sleep 60", None);
    let more: Vec<_> = (0..3).map(|number| (format!("more{number}"), one.checkers["mine"].clone())).collect();
    let checkers = one.checkers.clone().into_iter().chain(more).collect();
    let bench = Bench::boxed(DiagnosticsSection { after_edits: true, timeout: 1.5, checkers, ..one });
    bench.put("a.txt", "x\n");
    read(&bench).await;
    let started = std::time::Instant::now();
    let edited = bench.call("write_file", write("y\n")).await.unwrap();
    assert!(edited.error_code.is_none() && started.elapsed().as_secs() < 30, "{}", edited.model);
    assert_eq!(std::fs::read_to_string(bench.workspace.join("a.txt")).unwrap(), "y\n");
}
