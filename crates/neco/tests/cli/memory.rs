//! `neco memory`, notes, and plans in a person's hands.

use serde_json::json;

use crate::support::{House, Ran, call, say};

#[test]
fn notes_are_kept_found_shown_and_removed() {
    let house = House::playing(json!([say("never asked")]));
    house.run(&["-m", "# use tabs, never spaces"]).ended_with(0).says("Remembered: use tabs, never spaces");
    house.run(&["memory", "add", "--dir", "--title", "Tests need redis", "start it first"]).ended_with(0);
    house.run(&["memory", "add", "--private", "the port is 8081"]).ended_with(0);
    let list = house.run(&["memory", "list"]).ended_with(0);
    for words in
        ["preference (global)", "directory  ", "directory (private)", "use tabs, never spaces", "Tests need redis"]
    {
        assert!(list.stdout.contains(words), "{words} is not in\n{}", list.stdout);
    }
    assert!(!list.stdout.contains("directory (directory)"), "{}", list.stdout);
    let own = house.run(&["memory", "list", "--global"]).ended_with(0);
    assert!(own.stdout.contains("use tabs") && !own.stdout.contains("8081"), "{}", own.stdout);
    let scopes = house.run(&["memory", "list", "--json"]).ended_with(0).json();
    let scopes: Vec<&str> = scopes.as_array().unwrap().iter().filter_map(|entry| entry["scope"].as_str()).collect();
    assert!(["global", "private", "directory"].iter().all(|scope| scopes.contains(scope)), "{scopes:?}");
    house.run(&["memory", "search", "redis"]).ended_with(0).says("Tests need redis");
    // A beginning that no other entry has will do.
    house.run(&["memory", "show", "use-tabs"]).ended_with(0).says("use tabs, never spaces");
    house.run(&["memory", "rm", "tests"]).ended_with(2).says("no terminal to ask on");
    house.run(&["memory", "rm", "tests", "--yes"]).ended_with(0).says("removed");
    assert!(!house.run(&["memory", "list"]).ended_with(0).stdout.contains("redis"));
}

#[test]
fn what_says_nothing_is_no_note() {
    let house = House::playing(json!([say("asked")]));
    house.run(&["memory", "add", ""]).ended_with(2).says("the text is empty");
    house.run(&["memory", "search", ""]).ended_with(2).says("say what to search for");
    house.run(&["-m", "# "]).ended_with(2).says("nothing to remember");
    house.run(&["-c", "memory.enabled=false", "-m", "# use tabs"]).ended_with(2).says("there is no memory");
    // A word with a sign before it is a message like any other.
    house.run(&["-m", "#use pytest"]).ended_with(0).says("asked");
    house.run(&["memory", "list"]).ended_with(0).says("Nothing is remembered");
}

#[test]
fn a_note_in_json_is_a_run_like_any_other() {
    let house = House::playing(json!([say("never asked")]));
    let ran = house.run(&["-m", "# use tabs", "--output-format", "json"]).ended_with(0).json();
    assert_eq!((&ran["is_error"], &ran["exit_code"]), (&json!(false), &json!(0)));
    assert!(ran["result"].as_str().unwrap().contains("Remembered: use tabs"), "{ran}");
    assert_eq!(ran["memory"]["action"], "stored");
}

#[test]
fn an_editor_is_not_started_without_a_terminal() {
    let house = House::playing(json!([say("never asked")]));
    house.run(&["-m", "# use tabs"]).ended_with(0);
    let ran = Ran::of(house.neco(&["memory", "edit", "use-tabs"]).env("EDITOR", "touch edited-by"));
    let ran = ran.ended_with(2).says("there is no terminal for an editor here").says("The file is");
    assert!(ran.stdout.is_empty() && !house.project().join("edited-by").exists());
}

/// Several processes at once: nothing is lost, and the same note is kept once.
#[test]
fn processes_that_write_at_once_lose_nothing() {
    let house = House::playing(json!([say("never asked")]));
    let texts: Vec<String> =
        (0..6).map(|number| format!("# note about {} things", ["red", "green", "blue"][number % 3])).collect();
    let running: Vec<_> = texts.iter().map(|text| house.start(&["-m", text])).collect();
    for child in running {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    let list = house.run(&["memory", "list", "--json"]).ended_with(0).json();
    let mut titles: Vec<&str> = list.as_array().unwrap().iter().filter_map(|entry| entry["title"].as_str()).collect();
    titles.sort_unstable();
    assert_eq!(titles, ["note about blue things", "note about green things", "note about red things"]);
    for entry in list.as_array().unwrap() {
        assert_eq!(entry["troubles"], json!([]), "{entry}");
    }
}

fn planned() -> House {
    House::playing(json!([
        call("enter_plan_mode", json!({ "reason": "it is unclear" })),
        call("exit_plan_mode", json!({ "plan": "- [x] look\n- [ ] change a\n- [ ] change b" })),
        say("The first step was done already."),
    ]))
}

#[test]
fn an_unfinished_plan_is_listed_and_closed_and_no_single_request_hears_of_it() {
    let house = planned();
    let first = house.run(&["--yes", "-m", "change all of it"]).ended_with(0);
    assert!(first.stderr.contains("nobody is there to approve"), "{}", first.stderr);
    assert!(first.stderr.contains("todos 1 of 3"), "{}", first.stderr);
    house.script("script.json", json!([say("hello")]));
    let again = house.run(&["-m", "hi", "--output-format", "stream-json"]).ended_with(0);
    assert!(!again.stderr.contains("unfinished") && !again.stdout.contains("unfinished"), "{}", again.stdout);
    assert!(again.stdout.lines().next().unwrap().contains(r#""type":"session_start""#), "{}", again.stdout);
    let list = house.run(&["plan", "list", "--json"]).ended_with(0).json();
    let id = list[0]["session"].as_str().unwrap().to_owned();
    house.run(&["plan", "list"]).ended_with(0).says("1 of 3 steps done").says("change a");
    house.run(&["plan", "show", &id]).ended_with(0).says("✓ 1. look").says("not seen by anyone yet");
    let told = house.run(&["prompt", "show"]).ended_with(0).says("that no user had seen");
    assert!(!told.stdout.contains("the user had accepted"), "{}", told.stdout);
    house.run(&["plan", "close", &id]).ended_with(0).says("closed");
    house.run(&["plan", "list"]).ended_with(0).says("no unfinished plans in this folder");
    let after = house.run(&["-m", "hi"]).ended_with(0);
    assert!(!after.stderr.contains("unfinished"), "{}", after.stderr);
    // Its own session does not go on with it either.
    let own = house.run(&["prompt", "show", "--session", &id, "--json"]).ended_with(0);
    assert!(own.stdout.contains("change all of it"));
    house.run(&["plan", "close", &id]).ended_with(2).says("left a plan unfinished");
}

#[test]
fn a_window_that_is_too_small_says_what_to_do_and_how_much_fits() {
    let house = House::playing(json!([say("asked when it fits")]));
    let script = json!({ "context_window": 4000, "turns": [say("asked when it fits")] });
    std::fs::write(house.path("script.json"), script.to_string()).unwrap();
    let ran = house.run(&["-m", "hi", "--gen", "8"]).ended_with(4).says("error 4004").says("--gen 1");
    assert!(ran.stderr.contains("neco prompt show --sizes"), "{}", ran.stderr);
    let json = house.run(&["-m", "hi", "--gen", "8", "--output-format", "json"]).ended_with(4).json();
    assert!(json["error"]["message"].as_str().unwrap().contains("too small"), "{json}");
    house.run(&["prompt", "show", "--sizes", "--gen", "8"]).ended_with(0).says("This does not fit");
    // Where nobody chose the level, it is one that fits.
    let ran = house.run(&["-m", "hi"]).ended_with(0).says("window is 4000 tokens: tool level 1 of 8");
    assert_eq!(ran.stdout, "asked when it fits\n");
    let fits = house.run(&["prompt", "show", "--sizes"]).ended_with(0);
    assert!(fits.stdout.contains("5 tools ") && !fits.stdout.contains("does not fit"), "{}", fits.stdout);
    let few = house.run(&["prompt", "show", "--sizes", "--gen", "1", "--tools", "read_file"]).ended_with(0);
    assert!(few.stdout.contains("1 tool "), "{}", few.stdout);
    house.run(&["prompt", "show", "--gen", "99"]).ended_with(2).says("there is no tool level 99");
    // Nothing is asked here, so no key is needed.
    let other = house.run(&["prompt", "show", "--sizes", "--model", "openai/gpt-5"]).ended_with(0);
    assert!(other.stdout.starts_with("model: openai/gpt-5\nwindow: 400.0k tokens"), "{}", other.stdout);
}
