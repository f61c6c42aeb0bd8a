//! Agents below the root, as whoever runs the command sees them.

use std::io::{BufRead, BufReader};

use serde_json::{Value, json};

use crate::support::{House, call, eventually, lives, say};

const ALL: [&str; 4] = ["-m", "do it", "--yes", "--sandbox=full"];

fn house(turns: Value, agents: Value) -> House {
    let house = House::playing(json!([]));
    std::fs::write(house.path("script.json"), json!({ "turns": turns, "agents": agents }).to_string()).unwrap();
    house
}

#[test]
fn a_run_shows_agents_nested_and_ends_when_they_do() {
    let turns = json!([
        call("spawn_agent", json!({ "agent": "general", "task": "see to both halves" })),
        say("general-1 is at it."),
        say("Both halves are done."),
    ]);
    let general = json!([
        call("report", json!({ "progress": 0.5, "message": "the first half" })),
        call("task", json!({ "description": "second half", "prompt": "the second half", "agent": "coder" })),
        say("both halves"),
    ]);
    let coder = json!([
        { "calls": [{ "name": "bash", "arguments": { "command": "until [ -e told ]; do sleep 0.02; done" } }],
          "usage": { "input": 1200, "output": 30 } },
        say("the second half"),
    ]);
    let house = house(turns, json!([{ "role": "general", "turns": general }, { "role": "coder", "turns": coder }]));
    let mut child = house.start(&[&ALL[..], &["--output-format", "text"]].concat());
    let mut shown = String::new();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    for line in lines.by_ref() {
        let waits = line.contains("waiting for");
        shown.push_str(&format!("{line}\n"));
        if waits {
            break;
        }
    }
    std::fs::write(house.project().join("told"), "now").unwrap();
    shown.extend(lines.map(|line| format!("{line}\n")));
    assert_eq!(child.wait().unwrap().code(), Some(0), "{shown}");
    for line in [
        "⊕ general-1 · see to both halves",
        "· general-1 50 %: the first half",
        "  ⊕ coder-1",
        "  ✓ coder-1 · the second half",
        "✓ general-1 · both halves",
    ] {
        assert!(shown.contains(line), "{line:?} is missing:\n{shown}");
    }
    let tree = house.run(&["session", "tree"]).ended_with(0);
    assert!(tree.stdout.contains("└─ general-1 · completed"), "{}", tree.stdout);
    assert!(tree.stdout.contains("   └─ coder-1 · completed · 1.2k in"), "{}", tree.stdout);
    let show = house.run(&["session", "show"]).ended_with(0).stdout;
    assert!(show.contains("i general-1: completed · both halves"), "{show}");
    assert!(!show.contains("i ended:"), "what came of it is not told again: {show}");
    let json = house.run(&["session", "tree", "--json"]).ended_with(0).json();
    assert_eq!(json["nodes"].as_array().unwrap().len(), 3);
    assert_eq!(json["nodes"][0]["subtree_usage"]["input"], 1200, "{json:#}");
}

#[test]
fn what_agents_used_is_part_of_what_a_run_used() {
    let used = |words: &str, input: u64| json!({ "say": words, "usage": { "input": input, "output": 1 } });
    let asked = json!({
        "calls": [{ "name": "task", "arguments": { "description": "x", "prompt": "look", "agent": "explore" } }],
        "usage": { "input": 100, "output": 1 },
    });
    let turns = json!([asked, used("done", 200)]);
    let house = house(turns, json!([{ "role": "explore", "turns": [used("looked", 4000)] }]));
    let told = house.run(&["-m", "do it", "--output-format", "json"]).ended_with(0).json();
    assert_eq!(told["usage"]["input"], 4300, "{told:#}");
    house.run(&["-m", "do it"]).ended_with(0).says("4.3k in");
}

#[test]
fn ten_agents_killed_with_nine_come_back_paused_and_their_commands_are_gone() {
    let part = |number: usize| json!({ "name": "spawn_agent", "arguments": { "agent": "coder", "task": format!("part {number}") } });
    let turns = json!([{ "calls": (1..=10).map(part).collect::<Vec<_>>() }, say("All at work.")]);
    let coder = json!([call("bash", json!({ "command": "echo begun; sleep 31.4159" })), say("done")]);
    let house = house(turns, json!([{ "role": "coder", "turns": coder }]));
    let mut child = house.start(&[&ALL[..], &["--output-format", "stream-json"]].concat());
    let mut begun = 0;
    for line in BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok) {
        let event: Value = serde_json::from_str(&line).unwrap();
        begun += usize::from(event["type"] == "tool_output_chunk");
        if begun == 10 {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    eventually("the commands end", || !lives("31.4159"));
    std::fs::write(
        house.path("script.json"),
        json!({ "turns": [
            { "expect": { "last_user_contains": "and now?" }, "calls": [
                { "name": "agent_message", "arguments": { "agent": "coder-1", "kind": "resume" } },
                { "name": "agent_cancel", "arguments": { "agent": "coder-2" } }] },
            say("One goes on."), say("It is done.")],
          "loop_last": true,
          "agents": [{ "role": "coder", "turns": [say("went on")] }] })
        .to_string(),
    )
    .unwrap();
    let ran = house.run(&["-m", "and now?", "--continue", "--yes", "--sandbox=full"]).ended_with(0);
    assert!(ran.stderr.contains("paused, nothing is lost: coder-3"), "{}", ran.stderr);
    let nodes = house.run(&["session", "tree", "--json"]).ended_with(0).json();
    let states: Vec<&str> =
        nodes["nodes"].as_array().unwrap().iter().map(|node| node["state"].as_str().unwrap()).collect();
    assert_eq!(states[..4], ["running", "completed", "cancelled", "paused"], "{nodes:#}");
    assert_eq!(states.iter().filter(|state| **state == "paused").count(), 8);
}

/// A command that runs until the test lets it end.
const UNTIL_GO: &str = "touch begun; until [ -e go ]; do sleep 0.02; done";

/// A root that starts a coder, which runs that command and then plays `turns`.
fn coder_at_work(turns: Value) -> House {
    let first = call("bash", json!({ "command": UNTIL_GO, "timeout": 60 }));
    let coder = [&[first], turns.as_array().unwrap().as_slice()].concat();
    let root = json!([
        call("spawn_agent", json!({ "agent": "coder", "task": "drive" })),
        say("coder-1 is at it."),
        say("All is done."),
    ]);
    house(root, json!([{ "role": "coder", "turns": coder }]))
}

fn begun(house: &House) {
    eventually("the command runs", || house.project().join("begun").exists());
}

#[test]
fn the_agents_of_all_sessions_that_are_open_here_are_listed_by_name() {
    let house = coder_at_work(json!([say("Driven.")]));
    let mut runs = vec![house.start(&ALL)];
    begun(&house);
    std::fs::remove_file(house.project().join("begun")).unwrap();
    runs.push(house.start(&ALL));
    begun(&house);
    let status = house.run(&["agents", "status"]).ended_with(0);
    assert_eq!(status.stdout.matches("coder-1 · running").count(), 2, "{}", status.stdout);
    assert_eq!(status.stdout.matches(&format!(" ({})\n", ALL[1])).count(), 2, "{}", status.stdout);
    house.run(&["agents", "pause", "coder-1"]).ended_with(2).says(&format!("({})", ALL[1])).says("--session");
    house.run(&["agents", "status", "--json"]).ended_with(2).says("leave out --json");
    std::fs::write(house.project().join("go"), "").unwrap();
    for run in runs {
        assert!(run.wait_with_output().unwrap().status.success());
    }
}

#[test]
fn a_person_redirects_pauses_and_lets_go_on_an_agent_of_a_run_from_another_shell() {
    let turned = json!({ "say": "Turned left.", "expect": { "last_user_contains": "turn left" } });
    let house = coder_at_work(json!([turned]));
    let nothing = house.run(&["agents", "pause", "coder-1"]).ended_with(2);
    assert!(nothing.stderr.contains("no session is open in this folder"), "{}", nothing.stderr);
    let run = house.start(&ALL);
    begun(&house);
    house.run(&["agents", "redirect", "coder-9", "turn left"]).ended_with(1).says("running are root, coder-1");
    house
        .run(&["agents", "redirect", "coder-1", "turn", "left"])
        .ended_with(0)
        .says("coder-1 reads it at its next turn");
    house.run(&["agents", "pause", "coder-1"]).ended_with(0).says("coder-1 is paused; `neco agents resume coder-1`");
    house.run(&["agents", "answer", "coder-1", "yes"]).ended_with(1).says("does not wait for an answer");
    std::fs::write(house.project().join("go"), "").unwrap();
    let status = house.run(&["agents", "status", "coder-1", "--json"]).ended_with(0).json();
    assert_eq!((&status["state"], &status["task"]), (&json!("paused"), &json!("drive")), "{status:#}");
    house.run(&["agents", "resume", "coder-1"]).ended_with(0).says("coder-1 is resumed");
    let ended = run.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert!(said.contains("✓ coder-1 · Turned left."), "{said}");
    assert!(said.contains("› coder-1: turn left"), "{said}");
    assert_eq!(said.matches("done in ").count(), 1, "once, at the very end:\n{said}");
    assert!(said.trim_end().lines().last().unwrap().starts_with("done in "), "{said}");
    let id = house.run(&["session", "list", "--json"]).json()[0]["id"].as_str().unwrap().to_owned();
    let shown = house.run(&["session", "show", &id, "--agent", "coder-1"]).ended_with(0);
    assert!(shown.stdout.contains("Turned left.") && !shown.stdout.contains("All is done."), "{}", shown.stdout);
    house.run(&["session", "show", &id, "--agent", "coder-7"]).ended_with(2).says("there is no agent coder-7");
    let exported = house.run(&["session", "export", &id, "--format", "markdown"]).ended_with(0);
    let place = |words: &str| exported.stdout.find(words).unwrap_or_else(|| panic!("{words}: {}", exported.stdout));
    let own_words = exported.stdout.rfind("Turned left.");
    assert!(place("All is done.") < place("## Agents") && Some(place("## Agents")) < own_words);
}

#[test]
fn a_person_ends_an_agent_of_a_run_with_everything_it_ran() {
    let house = coder_at_work(json!([say("never said")]));
    let run = house.start(&ALL);
    begun(&house);
    house.run(&["agents", "cancel", "coder-1"]).ended_with(0).says("coder-1 was stopped");
    let ended = run.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr).into_owned();
    assert_eq!(ended.status.code(), Some(0), "{said}");
    assert!(said.contains("– coder-1") && !said.contains("never said"), "{said}");
    assert!(!lives("until [ -e go ]"), "its command runs on");
}

#[test]
fn agents_that_can_not_be_used_are_told_of_when_a_run_begins() {
    let house = House::playing(json!([say("hello")]));
    std::fs::create_dir_all(house.project().join(".neco/agents")).unwrap();
    std::fs::write(house.project().join(".neco/agents/odd.md"), "---\ndescription: d\nbudget: {cost: -1}\n---\nx")
        .unwrap();
    let ran = house.run(&["-m", "hi"]).ended_with(0);
    assert!(ran.stderr.contains("Agents that can't be used: .neco/agents/odd.md:3: budget: a cost"), "{}", ran.stderr);
}

#[test]
fn a_reader_that_has_had_enough_ends_a_run_whose_agents_still_work() {
    let house = coder_at_work(json!([say("never")]));
    let mut child = house.start(&ALL);
    // What the root says finds nobody.
    drop(child.stdout.take());
    let mut ended = None;
    eventually("the run ends", || {
        ended = child.try_wait().unwrap();
        ended.is_some()
    });
    assert_eq!(ended.and_then(|status| status.code()), Some(141));
    let tree = house.run(&["session", "tree", "--json"]).ended_with(0).json().to_string();
    assert!(tree.contains("paused"), "{tree}");
}

#[test]
fn a_model_that_is_chosen_for_a_run_comes_before_that_of_a_role() {
    let turns =
        json!([call("task", json!({ "description": "plan", "prompt": "plan it", "agent": "planner" })), say("Done.")]);
    let house = house(turns, json!([{ "role": "planner", "turns": [say("1. Do it.")] }]));
    let set = ["-c", "agents.roles.planner.model=play/planner"];
    let models = |more: &[&str]| -> Vec<String> {
        let ran = house.run(&[&ALL[..], &["--output-format", "stream-json"], &set, more].concat()).ended_with(0);
        let turns = ran.events().into_iter().filter(|event| event["type"] == "turn_start");
        turns.map(|event| event["model"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(models(&[]), ["play/a", "play/planner", "play/a"]);
    assert_eq!(models(&["--model", "play/b"]), ["play/b"; 3]);
    assert_eq!(models(&["-c", "model=play/b"]), ["play/b", "play/planner", "play/b"], "that is the usual one");
}
