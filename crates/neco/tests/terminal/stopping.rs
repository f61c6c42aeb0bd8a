//! Stopping agents as a person does it, in the window and in lines.

use std::fs;

use serde_json::{Value, json};

use crate::support::{House, eventually, lives};
use crate::tmux::{Pane, house, is_there};

/// Three agents at commands that run until `seconds`, while the root does `then`.
fn three(seconds: &str, then: Value) -> House {
    let house = house(json!([]));
    let spawn = |part: &str| json!({ "name": "spawn_agent", "arguments": { "agent": "coder", "task": part } });
    let script = json!({
        "turns": [{ "calls": [spawn("one"), spawn("two"), spawn("three")] }, then, { "say": "I was asked again." }],
        "loop_last": true,
        "agents": [{ "role": "coder", "turns": [
            { "calls": [{ "name": "bash", "arguments": { "command": format!("sleep {seconds}") } }] },
            { "say": "went on" }
        ] }]
    });
    fs::write(house.path("script.json"), script.to_string()).unwrap();
    house
}

fn log(house: &House) -> Vec<Value> {
    let list = house.run(&["session", "list", "--json"]).ended_with(0).json();
    let id = list[0]["id"].as_str().unwrap().to_owned();
    let text = house.run(&["session", "log", &id, "--json"]).ended_with(0).stdout;
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

/// How often a model was asked.
fn asked(house: &House) -> usize {
    log(house).iter().filter(|event| event["type"] == "turn_start").count()
}

#[test]
fn esc_stops_the_turn_and_esc_again_the_agents() {
    if !is_there() {
        return;
    }
    let house = three("4721", json!({ "calls": [{ "name": "agent_wait", "arguments": {} }] }));
    let pane = Pane::ready(&house, "--yes");
    pane.say("split it up").shows("Wait   for the agents").shows("3 agents");
    eventually("the commands run", || asked(&house) == 5);
    pane.press("Escape").shows("3 agents are still working").shows("Esc pause them too");
    let text = pane.everything();
    assert!(!text.contains("✓ Wait   for the agents"), "{text}");
    assert!(lives("4721"), "one Esc stops the turn only");
    pane.press("Escape").showed("3 agents are paused").shows("3 paused").hides("still work");
    eventually("the commands end", || !lives("4721"));
    assert_eq!(asked(&house), 5, "{}", pane.everything());
    // They are there, and go on when they are let.
    pane.press("C-t").shows("Ctrl-X").press("C-x").shows("Resume      p").press("p");
    eventually("it goes on", || log(&house).iter().any(|event| event.to_string().contains("went on")));
    pane.press("Escape").hides("Ctrl-X");
    assert_eq!(asked(&house), 6, "and wakes nobody: {}", pane.everything());
}

#[test]
fn typing_at_an_agent_is_a_message() {
    if !is_there() {
        return;
    }
    let house = three("4722", json!({ "say": "They are at it." }));
    let pane = Pane::ready(&house, "--yes");
    pane.say("split it up").showed("They are at it.").shows("3 agents");
    pane.press("C-t").shows("Ctrl-X").press("Enter").shows("sleep 4722");
    pane.write("explain more").shows("to coder-1").shows("explain more").press("Enter");
    eventually("it is told", || {
        log(&house).iter().any(|event| event["type"] == "agent_message" && event.to_string().contains("explain more"))
    });
    let states: Vec<Value> = log(&house).iter().filter(|event| event["type"] == "agent_update").cloned().collect();
    assert!(states.iter().all(|event| event["node"]["state"] == "running"), "{states:?}");
    pane.press("C-x").shows("Stop        x").press("x").shows("⊘ Stopped");
}

#[test]
fn ctrl_c_twice_stops_everything_and_leaves() {
    if !is_there() {
        return;
    }
    let house = three("4723", json!({ "calls": [{ "name": "agent_wait", "arguments": {} }] }));
    let pane = Pane::ready(&house, "--yes");
    pane.say("split it up").shows("Wait   for the agents").shows("3 agents");
    eventually("the commands run", || asked(&house) == 5);
    pane.press("C-c").shows("coder-1, coder-2, coder-3 are working; leaving pauses them").press("C-c").is_given_back();
    assert!(!lives("4723"));
    assert_eq!(asked(&house), 5);
    let tree = house.run(&["session", "tree"]).ended_with(0).stdout;
    assert_eq!(tree.matches("paused").count(), 3, "{tree}");
}

#[test]
fn a_stop_holds_from_a_window_of_another_process() {
    if !is_there() {
        return;
    }
    let house = three("4724", json!({ "say": "They are at it." }));
    let owner = Pane::ready(&house, "--yes");
    owner.say("split it up").showed("They are at it.").shows("3 agents");
    eventually("the commands run", || asked(&house) == 5);
    let other = Pane::ready(&house, "--continue");
    other
        .shows("3 agents")
        .press("Escape")
        .shows("3 agents are still working")
        .press("Escape")
        .showed("3 agents are paused");
    owner.showed("3 agents are paused").shows("3 paused");
    eventually("the commands end", || !lives("4724"));
    assert_eq!(asked(&house), 5);
    other.press("C-d").is_given_back();
}

#[test]
fn a_window_that_looks_on_leaves_the_work_alone() {
    if !is_there() {
        return;
    }
    let house = three("4726", json!({ "say": "They are at it." }));
    let owner = Pane::ready(&house, "--yes");
    owner.say("split it up").showed("They are at it.").shows("3 agents");
    eventually("the commands run", || asked(&house) == 5);
    let other = Pane::ready(&house, "--continue");
    other.shows("3 agents").press("C-c").shows("It goes on in the other window").press("C-c").is_given_back();
    assert!(lives("4726"), "{}", owner.everything());
    owner.press("C-c").shows("leaving pauses them").press("C-c").is_given_back();
    assert!(!lives("4726"));
}

#[test]
fn ctrl_c_in_lines_stops_the_turn_then_the_agents_then_leaves() {
    if !is_there() {
        return;
    }
    for term in ["xterm-256color", "dumb"] {
        let house = three("4725", json!({ "calls": [{ "name": "agent_wait", "arguments": {} }] }));
        let pane = Pane::shell(&house, 100, 30);
        let neco = env!("CARGO_BIN_EXE_neco");
        pane.write(&format!("TERM={term} {neco} repl --yes")).press("Enter").shows("line by line");
        pane.write("split it up").press("Enter");
        eventually("the commands run", || pane.neco_pid().is_some() && lives("4725"));
        pane.showed("coder-3");
        eventually("the root waits", || asked(&house) == 5);
        let is_ready = |pane: &Pane| pane.screen().trim_end().ends_with("\n>");
        pane.press("C-c").showed("Ctrl-C pauses them").until("the prompt", is_ready);
        assert!(lives("4725"));
        pane.press("C-c").showed("paused: coder-1, coder-2, coder-3");
        eventually("the commands end", || !lives("4725"));
        // A dumb terminal shows what happens only when a line is written, so nothing there tells that it is ready.
        if term == "dumb" {
            pane.write("/exit").press("Enter").is_given_back();
        } else {
            pane.showed("nothing they did is lost").until("the prompt", is_ready);
            pane.press("C-c").showed("Ctrl-C again leaves").until("the prompt", is_ready);
            pane.press("C-c").is_given_back();
        }
        assert_eq!(asked(&house), 5, "{}", pane.everything());
    }
}
