//! However it ends, the terminal is as it was.

use std::process::Command;

use serde_json::json;

use crate::support::say;
use crate::tmux::{Pane, house, is_there};

fn signal(pane: &Pane, name: &str) {
    let pid = pane.neco_pid().unwrap();
    assert!(Command::new("kill").args([name, &pid.to_string()]).status().unwrap().success());
}

#[test]
fn a_signal_gives_the_terminal_back() {
    if !is_there() {
        return;
    }
    for name in ["-TERM", "-HUP", "-INT"] {
        let house = house(json!([say("never")]));
        let pane = Pane::ready(&house, "");
        signal(&pane, name);
        pane.is_given_back();
    }
}

#[test]
fn a_signal_in_the_middle_of_work_leaves_no_process() {
    if !is_there() {
        return;
    }
    let house = house(json!([{ "calls": [{ "name": "bash", "arguments": { "command": "sleep 4712" } }] }]));
    let pane = Pane::ready(&house, "--yes");
    pane.say("sleep").shows("sleep 4712");
    crate::support::eventually("it runs", || crate::support::lives("4712"));
    signal(&pane, "-TERM");
    pane.is_given_back();
    crate::support::eventually("it is dead", || !crate::support::lives("4712"));
}

#[test]
fn a_defect_gives_the_terminal_back() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("never")]));
    let pane = Pane::shell(&house, 100, 30);
    pane.write(&format!("TEST_DEFECT_IN_NECO=1 {}", env!("CARGO_BIN_EXE_neco"))).press("Enter");
    pane.showed("a defect in Neco").is_given_back();
}

#[test]
fn the_end_of_input_and_two_interrupts_leave() {
    if !is_there() {
        return;
    }
    let house = house(json!([say("never")]));
    let pane = Pane::ready(&house, "");
    pane.press("C-c").shows("again").press("C-c").is_given_back();
    // Nothing was said, so nothing is kept.
    assert_eq!(house.run(&["session", "list", "--json"]).json(), json!([]));
}
