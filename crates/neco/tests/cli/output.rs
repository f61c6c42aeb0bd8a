//! What is printed, in its three forms.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use serde_json::json;

use crate::approvals::Seat;
use crate::support::{House, call, say};

fn writing() -> House {
    House::playing(json!([
        { "say": "I write it.", "calls": [{ "name": "write_file", "arguments": { "path": "a.txt", "content": "hi\n" } }],
          "usage": { "input": 1200, "output": 30 } },
        { "say": "Done.", "usage": { "input": 1300, "output": 10, "cache_read": 1200 } },
    ]))
}

#[test]
fn text_has_the_answer_on_stdout_and_the_rest_on_stderr() {
    let house = writing();
    let ran = house.run(&["-m", "write a.txt", "--yes"]).ended_with(0);
    assert_eq!(ran.stdout, "Done.\n");
    for words in [
        "I write it.",
        "play/a (scripted, not a model)",
        "✓ Write a.txt (+1 −0, new)",
        "+hi",
        "2 turns · 2.5k in (1.2k cached) · 40 out",
    ] {
        assert!(ran.stderr.contains(words), "{words:?} is not in\n{}", ran.stderr);
    }
    assert!(!ran.stderr.contains('\u{1b}'), "no colours without a terminal");
    assert!(!ran.stderr.contains("--session"), "how it is gone on with is said on a terminal:\n{}", ran.stderr);
    assert_eq!(std::fs::read_to_string(house.project().join("a.txt")).unwrap(), "hi\n");
}

#[test]
fn a_person_is_told_how_to_go_on() {
    let house = House::playing(json!([say("Done.")]));
    std::fs::create_dir_all(house.path("home/agents")).unwrap();
    let agent = "---\nname: counter\ndescription: counts\n---\nYou count.\n";
    std::fs::write(house.path("home/agents/counter.md"), agent).unwrap();
    let mut seat = Seat::take(&house, &["-m", "x", "--agent", "counter"], "false");
    seat.ends_with(0);
    seat.sees("Resume it with  neco resume ", 1);
    seat.sees(" --agent counter -m \"…\"", 1);
}

#[test]
fn json_is_one_object() {
    let report = writing().run(&["-m", "write a.txt", "--yes", "--output-format", "json"]).ended_with(0).json();
    assert_eq!(report["result"], "Done.");
    assert_eq!((report["is_error"].as_bool(), report["num_turns"].as_u64()), (Some(false), Some(2)));
    assert_eq!(report["usage"]["input"], 2500);
    assert_eq!(report["permission_denials"], json!([]));
    assert!(report["session_id"].is_string() && report["duration_ms"].is_u64());
    assert!(report.get("total_cost_usd").is_some() && report.get("error").is_none());
}

#[test]
fn json_names_what_was_refused() {
    let house = House::playing(json!([call("bash", json!({ "command": "make" })), say("I may not.")]));
    let report = house.run(&["-m", "make", "--output-format", "json"]).ended_with(3).json();
    assert_eq!((report["is_error"].as_bool(), report["exit_code"].as_u64()), (Some(true), Some(3)));
    let denial = &report["permission_denials"][0];
    assert_eq!((denial["tool"].as_str(), denial["code"].as_u64()), (Some("bash"), Some(3001)));
    assert_eq!(denial["arguments"], json!({ "command": "make" }));
}

#[test]
fn json_is_an_object_even_when_nothing_could_begin() {
    let report =
        House::empty().run(&["-m", "x", "--model", "openai/gpt-5", "--output-format", "json"]).ended_with(5).json();
    assert_eq!((report["is_error"].as_bool(), report["session_id"].is_null()), (Some(true), true));
    assert!(report["error"]["message"].as_str().unwrap().contains("OPENAI_API_KEY"));
}

#[test]
fn stream_json_is_the_log_and_ends_with_agent_complete() {
    let house = writing();
    let ran = house.run(&["-m", "write a.txt", "--yes", "--output-format", "stream-json"]).ended_with(0);
    let events = ran.events();
    assert_eq!(events.first().unwrap()["type"], "session_start");
    assert_eq!(events.last().unwrap()["type"], "agent_complete");
    let seqs: Vec<u64> = events.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(seqs, (1..=u64::try_from(events.len()).unwrap()).collect::<Vec<_>>());
    let id = events[0]["session_id"].as_str().unwrap();
    let log = house.run(&["session", "show", id, "--json"]).ended_with(0);
    assert_eq!(log.stdout, ran.stdout, "what is printed is what the log keeps, byte for byte");
}

#[test]
fn what_a_retry_makes_void_is_never_on_stdout() {
    let house = House::playing(json!([
        { "say": "void words", "fault": { "drop_after": 1 } },
        say("The answer."),
    ]));
    let ran = house.run(&["-m", "x", "-c", "network.backoff=0.01"]).ended_with(0);
    assert_eq!(ran.stdout, "The answer.\n", "{}", ran.stderr);
    ran.says("↻");
}

#[test]
fn escapes_of_the_model_do_not_reach_the_terminal() {
    let ran = House::playing(json!([say("\u{1b}]0;owned\u{7}plain \u{1b}[31mwords")])).run(&["-m", "x"]).ended_with(0);
    assert_eq!(ran.stdout, "plain words\n");
}

#[test]
fn output_that_can_not_be_written_is_told() {
    let house = writing();
    let full = std::fs::File::options().write(true).open("/dev/full").unwrap();
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_neco"));
    command.env_clear().envs(house.variables()).env("CI", "1").current_dir(house.project());
    let output = command.args(["-m", "x", "--yes"]).stdin(Stdio::null()).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("the output could not be written: No space left"));
}

#[test]
fn a_reader_that_leaves_ends_the_run_quietly() {
    let many: Vec<_> = (0..200)
        .map(|_| json!({ "say": "many words ".repeat(400), "calls": [{ "name": "list_directory", "arguments": {} }] }))
        .collect();
    let house = House::playing(json!(many));
    let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_neco"))
        .env_clear()
        .envs(house.variables())
        .env("CI", "1")
        .current_dir(house.project())
        .args(["-m", "talk", "--max-turns", "300", "--output-format", "stream-json"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let told = std::thread::spawn(move || {
        let mut text = String::new();
        stderr.read_to_string(&mut text).unwrap();
        text
    });
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let status = child.wait().unwrap();
    let told = told.join().unwrap();
    assert_eq!((status.code(), told.as_str()), (Some(141), ""));
}
