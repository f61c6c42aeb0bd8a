//! Commands in an editor's terminals: they run here, the editor shows what they print, and its person can end them there.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::editor::{Editor, playing};
use crate::support::{House, call, eventually, lives, say};

/// What an editor does for a terminal: it runs what it is told to run, and keeps what that prints.
fn run(asked: &Value) -> Child {
    let words: Vec<&str> = asked["params"]["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    let mut command = Command::new(asked["params"]["command"].as_str().unwrap());
    let variable = |set: &Value| (set["name"].as_str().unwrap().to_owned(), set["value"].as_str().unwrap().to_owned());
    let variables = asked["params"]["env"].as_array().unwrap().iter().map(variable);
    command.args(words).env_clear().envs(variables).stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap()
}

/// A command that runs until the file `go` is there: what is over at once needs no terminal.
const UNTIL_TOLD: &str = "until [ -e go ]; do sleep 0.02; done; echo done";

fn go(house: &House) {
    fs::write(house.project().join("go"), "").unwrap();
}

fn reply(editor: &mut Editor, asked: &Value, result: Value) {
    editor.write(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }));
}

fn opened(house: &House) -> (Editor, String) {
    let mut editor = Editor::open(house, json!({ "terminal": true }));
    let session = editor.session(house);
    (editor, session)
}

fn asked(editor: &mut Editor, method: &str) -> Value {
    editor.find(|message| message["method"] == method)
}

/// How the call ended, and what it gave the model.
fn ended(editor: &Editor) -> (Value, String) {
    let updates = editor.updates("tool_call_update");
    let last = updates.iter().rev().find(|update| update["rawOutput"].is_string()).unwrap();
    (last["status"].clone(), last["rawOutput"].as_str().unwrap().to_owned())
}

#[test]
fn a_command_is_shown_in_a_terminal_while_it_runs_and_ends_as_it_does() {
    let command = "echo begun; until [ -e go ]; do sleep 0.02; done; echo over; exit 3";
    let house = playing(json!([call("bash", json!({ "command": command })), say("Done.")]));
    let (mut editor, session) = opened(&house);
    let prompt = editor.say(&session, "run it");
    let create = asked(&mut editor, "terminal/create");
    assert_eq!(create["params"]["cwd"], json!(house.project()), "{create}");
    // Editors show the program and its arguments, so these are what runs; nothing in that means anything to a shell.
    let (program, words) = (create["params"]["command"].as_str().unwrap(), create["params"]["args"].to_string());
    assert!(program.ends_with("/echo"), "{program}");
    assert!(words.contains("begun") && !words.contains([';', '|', '$', '`']), "{words}");
    let relay = run(&create);
    reply(&mut editor, &create, json!({ "terminalId": "t1" }));
    let shown = editor.find(|message| message["params"]["update"]["content"][0]["type"] == "terminal");
    assert_eq!(shown["params"]["update"]["content"][0]["terminalId"], "t1", "{shown}");
    go(&house);
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    let output = relay.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stdout), (Some(3), b"begun\nover\n".to_vec()));
    let (status, result) = ended(&editor);
    assert_eq!(status, "completed");
    assert!(result.starts_with("begun\nover\n[exit code 3"), "{result}");
    let last = editor.updates("tool_call_update").pop().unwrap();
    assert_eq!(last["content"][0]["terminalId"], "t1", "{last}");
    let wait = asked(&mut editor, "terminal/wait_for_exit");
    reply(&mut editor, &wait, json!({ "exitCode": 3 }));
    let release = asked(&mut editor, "terminal/release");
    assert_eq!(release["params"]["terminalId"], "t1");
    reply(&mut editor, &release, json!({}));
    // The editor has it no longer.
    editor.forget();
    editor.ask("session/load", json!({ "sessionId": session, "cwd": house.project(), "mcpServers": [] }));
    let loaded = [editor.updates("tool_call"), editor.updates("tool_call_update")].concat();
    assert!(loaded.iter().any(|update| update["content"][0]["type"] == "content"), "{loaded:#?}");
    assert!(loaded.iter().all(|update| update["content"][0]["type"] != "terminal"), "{loaded:#?}");
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn a_command_that_is_ended_in_its_terminal_ends() {
    let house = playing(json!([call("bash", json!({ "command": "echo begun; sleep 7654" })), say("Stopped, then.")]));
    let (mut editor, session) = opened(&house);
    let prompt = editor.say(&session, "run it");
    let create = asked(&mut editor, "terminal/create");
    let mut relay = run(&create);
    reply(&mut editor, &create, json!({ "terminalId": "t1" }));
    editor.find(|message| message["params"]["update"]["content"][0]["type"] == "terminal");
    eventually("it runs", || lives("7654"));
    relay.kill().unwrap();
    relay.wait().unwrap();
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    assert!(!lives("7654"));
    assert!(ended(&editor).1.contains("begun"), "{:?}", ended(&editor));
    assert!(editor.said("agent_message_chunk").contains("Stopped, then."));
}

#[test]
fn a_command_that_is_over_before_its_terminal_begins_is_shown_as_what_came_of_it() {
    let house = playing(json!([call("bash", json!({ "command": UNTIL_TOLD })), say("Done.")]));
    let (mut editor, session) = opened(&house);
    let prompt = editor.say(&session, "run it");
    let create = asked(&mut editor, "terminal/create");
    go(&house);
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    let mut relay = run(&create);
    reply(&mut editor, &create, json!({ "terminalId": "t1" }));
    assert_eq!(relay.wait().unwrap().code(), Some(0));
    let wait = asked(&mut editor, "terminal/wait_for_exit");
    reply(&mut editor, &wait, json!({ "exitCode": 0 }));
    asked(&mut editor, "terminal/release");
    let updates = editor.updates("tool_call_update");
    assert!(updates.iter().all(|update| update["content"][0]["type"] != "terminal"), "{updates:#?}");
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn a_command_that_goes_on_in_the_background_is_not_shown_as_failed() {
    let run_on = call("bash", json!({ "command": "echo begun; sleep 7655", "background": true }));
    let house = playing(json!([run_on, say("It runs.")]));
    let (mut editor, session) = opened(&house);
    let prompt = editor.say(&session, "run it");
    let first = editor.find(|message| message["method"] == "terminal/create" || message["id"] == prompt);
    // It needs no terminal, but on a machine that is slow it may get one.
    if first["method"] == "terminal/create" {
        let mut relay = run(&first);
        reply(&mut editor, &first, json!({ "terminalId": "t1" }));
        assert_eq!(relay.wait().unwrap().code(), Some(0));
    }
    let (status, result) = ended(&editor);
    assert_eq!(status, "completed", "{result}");
    assert!(lives("7655"));
    assert_eq!(editor.leave(), Some(0));
    eventually("it is ended with the session", || !lives("7655"));
}

#[test]
fn a_terminal_that_begins_too_late_is_released() {
    let house = playing(json!([call("bash", json!({ "command": UNTIL_TOLD })), say("Done.")]));
    let (mut editor, session) = opened(&house);
    let prompt = editor.say(&session, "run it");
    let create = asked(&mut editor, "terminal/create");
    go(&house);
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    let taken_back = asked(&mut editor, "$/cancel_request");
    assert_eq!(taken_back["params"]["requestId"], create["id"], "{taken_back}");
    reply(&mut editor, &create, json!({ "terminalId": "t1" }));
    let release = asked(&mut editor, "terminal/release");
    assert_eq!(release["params"]["terminalId"], "t1");
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn an_editor_that_opens_no_terminal_holds_no_command_and_none_is_asked_that_has_none() {
    for capabilities in [json!({ "terminal": true }), json!({})] {
        let house = playing(json!([call("bash", json!({ "command": UNTIL_TOLD })), say("Done.")]));
        let mut editor = Editor::open(&house, capabilities.clone());
        let session = editor.session(&house);
        let prompt = editor.say(&session, "run it");
        let has_terminals = capabilities["terminal"] == true;
        let create = has_terminals.then(|| asked(&mut editor, "terminal/create"));
        go(&house);
        let begun = Instant::now();
        assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
        assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
        let (status, result) = ended(&editor);
        assert_eq!((status, result.trim_end()), (json!("completed"), "done"));
        assert!(editor.kept().iter().all(|message| message["method"] != "terminal/create"), "{create:?}");
        assert_eq!(editor.leave(), Some(0));
    }
}
