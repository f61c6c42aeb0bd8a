//! Going on with a session, also after a crash.

use std::io::{BufRead, BufReader};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::approvals::Seat;
use crate::support::{House, Ran, call, eventually, lives, say};

#[test]
fn a_session_is_gone_on_with_by_id_and_as_the_last_one() {
    let house = House::playing(json!([say("The word is plover.")]));
    let first = house.run(&["-m", "tell me the word", "--output-format", "json"]).ended_with(0).json();
    let id = first["session_id"].as_str().unwrap().to_owned();
    house.script(
        "script.json",
        json!([{ "say": "Plover.", "expect": { "messages": 3, "last_user_contains": "again" } }]),
    );
    let again = house.run(&["-m", "again", "--session", &id, "--output-format", "json"]).ended_with(0).json();
    assert_eq!((again["session_id"].as_str(), again["result"].as_str()), (Some(id.as_str()), Some("Plover.")));
    house.script("script.json", json!([{ "say": "Plover!", "expect": { "messages": 5 } }]));
    house.run(&["-m", "and again", "--continue"]).ended_with(0).says("resumed");
    house
        .run(&["session", "show", &id])
        .ended_with(0)
        .says("> tell me the word")
        .says("The word is plover.")
        .says("Plover!");
}

#[test]
fn the_line_at_the_end_goes_on_with_the_session() {
    let house = House::playing(json!([say("one")]));
    let mut seat = Seat::take(&house, &["-m", "count"], "false");
    seat.ends_with(0);
    seat.sees("neco resume ", 1);
    let shown = seat.shown();
    let id = shown.split("neco resume ").nth(1).unwrap().split_whitespace().next().unwrap().to_owned();
    house.script("script.json", json!([{ "say": "two", "expect": { "messages": 3 } }]));
    house.run(&["-m", "go on", "--session", &id]).ended_with(0);
}

#[test]
fn there_is_nothing_to_continue_in_a_new_folder() {
    let house = House::playing(json!([say("one")]));
    house.run(&["-m", "x", "--continue"]).ended_with(2).says("no session to continue in");
}

#[test]
fn a_session_keeps_its_folder_wherever_it_is_gone_on_with_from() {
    let house = House::playing(json!([say("one")]));
    let first = house.run(&["-m", "x", "--output-format", "json"]).ended_with(0).json();
    house.script("script.json", json!([call("write_file", json!({ "path": "here", "content": "x" })), say("two")]));
    let elsewhere = house.path("home");
    let mut command = house.neco(&["-m", "write", "--yes", "--session", first["session_id"].as_str().unwrap()]);
    Ran::of(command.current_dir(&elsewhere)).ended_with(0).says("The session works in its own folder");
    assert!(house.project().join("here").exists() && !elsewhere.join("here").exists());
}

#[test]
fn sessions_are_listed() {
    let house = House::playing(json!([say("one")]));
    house.run(&["session", "list"]).ended_with(0).says("no sessions in this folder");
    house.run(&["-m", "fix the login page"]).ended_with(0);
    house.run(&["session", "list"]).ended_with(0).says("fix the login page").says("just now");
    let elsewhere = house.path("home").display().to_string();
    house.run(&["session", "list", "--cwd", &elsewhere]).ended_with(0).says("no sessions");
    house.run(&["session", "list", "--all", "--cwd", &elsewhere]).ended_with(0).says("project");
    let listed: Value = house.run(&["session", "list", "--json"]).ended_with(0).json();
    assert_eq!(listed[0]["title"], "fix the login page");
    assert_eq!((&listed[0]["messages"], &listed[0]["single"]), (&json!(1), &json!(true)));
    house.run(&["session", "list"]).ended_with(0).says("  1  (one-shot) fix the login page");
    house.run(&["-c", "-m", "and the logout page"]).ended_with(0);
    house.run(&["session", "list"]).ended_with(0).says("  2  (one-shot) fix the login page");
    house.run(&["session", "rewind", "--to", "2", "--yes"]).ended_with(0);
    house.run(&["session", "list"]).ended_with(0).says("       1  ");
    house.run(&["session", "fork"]).ended_with(0);
    house.run(&["session", "list"]).ended_with(0).says("  1  ⑂ fix the login page");
    // A word is the message where a flag says so, whatever else it means.
    house.run(&["-p", "doctor"]).ended_with(0).says("one");
    house.run(&["session", "list"]).ended_with(0).says("  1  (one-shot) doctor");
    // Ids begin with the time: those of these days begin alike.
    let begins = listed[0]["id"].as_str().unwrap().get(..4).unwrap().to_owned();
    let several = house.run(&["session", "show", &begins]).ended_with(2).says("several sessions have");
    several.says("(doctor)").says("Write one of these ids");
    house.run(&["session", "show", "ffffffff"]).ended_with(2).says("no session ffffffff");
    house.run(&["session", "show", "fff"]).ended_with(2).says("give four characters or more");
}

#[test]
fn after_kill_9_the_command_is_dead_and_the_session_goes_on() {
    let house = House::playing(json!([call("bash", json!({ "command": "echo begun; sleep 30.0417" })), say("never")]));
    let mut child = house.start(&["-m", "sleep", "--yes", "--output-format", "stream-json"]);
    // Kept to the end: a reader that leaves would end the run by itself.
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let executing = |line: &str| line.contains("\"tool_call_update\"") && line.contains("\"executing\"");
    assert!(lines.by_ref().map_while(Result::ok).any(|line| executing(&line)), "the command never began");
    eventually("the command runs", || lives("30.0417"));
    let id = house.run(&["session", "list", "--json"]).json()[0]["id"].as_str().unwrap().to_owned();
    let show = || house.run(&["session", "show", &id]).ended_with(0);
    eventually("its output is written", || show().stdout.contains("│ begun"));
    kill_process(Pid::from_child(&child), Signal::KILL).unwrap();
    child.wait().unwrap();
    eventually("the command is dead", || !lives("30.0417"));
    show().says("not known whether it took effect").says("│ begun");
    house.script(
        "script.json",
        json!([{ "say": "I see.", "expect": { "last_tool_contains": "Interrupted", "last_user_contains": "go on" } }]),
    );
    house.run(&["-m", "go on", "--continue"]).ended_with(0).says("was interrupted").says("I see.");
}
