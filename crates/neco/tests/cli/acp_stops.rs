//! Prompts that are stopped, at any moment: each is answered in time, and nothing that was done about it comes behind
//! its answer.

use std::fs;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::attach::{UNTIL_GO, begun, ended, go};
use crate::editor::{Editor, playing};
use crate::support::{House, call, eventually, say};

/// Everything that was done until now is told.
fn settle(editor: &mut Editor, session: &str) {
    for mode in ["plan", "agent"] {
        editor.ask("session/set_mode", json!({ "sessionId": session, "modeId": mode }));
        editor.update("current_mode_update");
    }
}

/// What came of work, of which nothing may come behind the answer to its prompt.
fn of_work(editor: &Editor) -> Vec<Value> {
    let kinds = [
        "user_message_chunk",
        "agent_message_chunk",
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
        "plan",
        "usage_update",
    ];
    kinds.iter().flat_map(|kind| editor.updates(kind)).collect()
}

#[test]
fn nothing_of_a_prompt_comes_behind_its_answer_whenever_it_is_stopped() {
    let turn = json!({ "reasoning": "I think about it", "say": "one two three", "between_ms": 5,
        "calls": [{ "name": "bash", "arguments": { "command": "echo begun; sleep 0.05" } }] });
    let house = playing(Value::Array(vec![turn; 300]));
    house.configure(&format!("approval = \"auto\"\n{}", fs::read_to_string(house.path("home/config.toml")).unwrap()));
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    let waits = (0..12).chain((15..160).step_by(9));
    for (at, wait) in waits.enumerate() {
        let prompt = editor.say(&session, "do it");
        std::thread::sleep(Duration::from_millis(wait));
        match at % 2 {
            0 => editor.notify("session/cancel", json!({ "sessionId": session })),
            _ => editor.notify("$/cancel_request", json!({ "requestId": prompt })),
        }
        assert_eq!(editor.answer(prompt)["result"]["stopReason"], "cancelled", "after {wait} ms");
        editor.forget();
        settle(&mut editor, &session);
        assert!(of_work(&editor).is_empty(), "after {wait} ms: {:#?}", of_work(&editor));
        editor.forget();
    }
}

#[test]
fn nothing_of_a_prompt_comes_behind_its_answer_where_it_ends_by_itself() {
    let turn = json!({ "reasoning": "I think about it", "say": "one two three", "usage": { "input": 900, "output": 100 },
        "calls": [{ "name": "read_file", "arguments": { "path": "a.txt" } }] });
    let end = json!({ "say": "Done.", "usage": { "input": 900, "output": 100 } });
    let house = playing(json!([turn, end, turn, end, turn, end]));
    fs::write(house.project().join("a.txt"), "hello\n").unwrap();
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    for _ in 0..3 {
        assert_eq!(editor.prompt(&session, "do it"), "end_turn");
        editor.forget();
        settle(&mut editor, &session);
        assert!(of_work(&editor).is_empty(), "{:#?}", of_work(&editor));
        editor.forget();
    }
}

/// Gives the house an MCP server that is slow to read a resource: `server.sh.read` is there then, and it goes on when
/// `server.sh.go` is.
fn with_slow_server(house: &House) {
    let server = house.path("server.sh");
    let slow = crate::mcp_use::SERVER.replacen(
        "touch \"$0.read\"",
        "touch \"$0.read\"; until [ -e \"$0.go\" ]; do sleep 0.05; done",
        1,
    );
    assert!(slow.contains("$0.go"));
    fs::write(&server, slow).unwrap();
    let settings = fs::read_to_string(house.path("home/config.toml")).unwrap();
    let server = format!("[mcp_servers.docs]\ncommand = \"sh\"\nargs = [\"{}\"]\nsandbox = false\n", server.display());
    house.configure(&format!("{settings}{server}"));
}

#[test]
fn a_second_stop_does_not_put_off_the_answer_to_the_first() {
    let house = playing(json!([call("bash", json!({ "command": UNTIL_GO })), say("Done.")]));
    house.configure(&format!("approval = \"auto\"\n{}", fs::read_to_string(house.path("home/config.toml")).unwrap()));
    with_slow_server(&house);
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    let first = editor.say(&session, "work");
    begun(&house);
    // The session hears nothing while it reads.
    let second = editor.say(&session, "read @docs:doc://start");
    eventually("the server is asked", || house.path("server.sh.read").exists());
    let stopped = Instant::now();
    editor.notify("$/cancel_request", json!({ "requestId": first }));
    std::thread::sleep(Duration::from_millis(500));
    editor.notify("$/cancel_request", json!({ "requestId": second }));
    assert_eq!(editor.answer(first)["result"]["stopReason"], "cancelled");
    assert!(stopped.elapsed() < Duration::from_secs(1), "{:?}", stopped.elapsed());
    assert_eq!(editor.answer(second)["result"]["stopReason"], "cancelled");
    fs::write(house.path("server.sh.go"), "").unwrap();
}

#[test]
fn a_prompt_that_the_session_is_slow_to_take_is_answered_when_it_is_stopped_and_nothing_comes_of_it() {
    let house = playing(json!([say("For the second."), say("For the second.")]));
    with_slow_server(&house);
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    let prompt = editor.say(&session, "read @docs:doc://start");
    eventually("the server is asked", || house.path("server.sh.read").exists());
    let begun = Instant::now();
    editor.notify("session/cancel", json!({ "sessionId": session }));
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "cancelled");
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    editor.forget();
    fs::write(house.path("server.sh.go"), "").unwrap();
    settle(&mut editor, &session);
    assert!(of_work(&editor).is_empty(), "{:#?}", of_work(&editor));
    assert_eq!(editor.prompt(&session, "go on"), "end_turn");
    assert_eq!(editor.said("agent_message_chunk"), "For the second.");
}

#[test]
fn what_a_terminal_does_goes_on_where_the_editor_gives_up_a_prompt_that_waits_for_it() {
    for leaves in [false, true] {
        let work = call("bash", json!({ "command": UNTIL_GO, "timeout": 60 }));
        let house = playing(json!([work, say("For the terminal."), say("For the editor.")]));
        let owner = house.start(&["-m", "work", "--yes"]);
        begun(&house);
        let session = house.run(&["session", "list", "--json"]).json()[0]["id"].as_str().unwrap().to_owned();
        let mut editor = Editor::open(&house, json!({}));
        editor.ask("session/resume", json!({ "sessionId": session, "cwd": house.project(), "mcpServers": [] }));
        let prompt = editor.say(&session, "and then this");
        // It waits as soon as what is set behind it is set.
        editor.ask("session/set_mode", json!({ "sessionId": session, "modeId": "agent" }));
        if leaves {
            assert_eq!(editor.leave(), Some(0));
        } else {
            editor.notify("session/cancel", json!({ "sessionId": session }));
            assert_eq!(editor.answer(prompt)["result"]["stopReason"], "cancelled");
        }
        go(&house);
        let said = ended(owner, 0);
        assert!(said.contains("For the terminal.") && !said.contains("For the editor."), "{said}");
    }
}
