//! The connection of an editor: in which order its wishes are carried out, what it takes back, what it is told when and
//! how often, and how it ends.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::editor::{Editor, playing};
use crate::support::{House, call, eventually, lives, say};

/// A house with an MCP server that is asked for a prompt and never answers; `server.sh.asked` is there then.
fn hanging(turns: Value) -> House {
    let house = playing(turns);
    let server = house.path("server.sh");
    let answers = crate::mcp_use::SERVER.replacen(
        "*'\"method\":\"prompts/get\"'*)",
        "*'\"method\":\"prompts/get\"'*) touch \"$0.asked\" ;; *nothing*)",
        1,
    );
    assert!(answers.contains("$0.asked"));
    fs::write(&server, answers).unwrap();
    let settings = fs::read_to_string(house.path("home/config.toml")).unwrap();
    let server = format!("[mcp_servers.docs]\ncommand = \"sh\"\nargs = [\"{}\"]\nsandbox = false\n", server.display());
    house.configure(&format!("{settings}{server}"));
    house
}

/// A picture with one point.
pub const DOT: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

fn of(house: &House, session: &str) -> Value {
    json!({ "sessionId": session, "cwd": house.project(), "mcpServers": [] })
}

#[test]
fn what_is_set_before_a_prompt_holds_for_it() {
    let house = playing(json!([
        { "expect": { "tools_exclude": ["bash", "write_file"] }, "say": "I only answer." },
        { "expect": { "tools_declared": ["bash"] }, "say": "I may run it." },
    ]));
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    let set = editor.request("session/set_mode", json!({ "sessionId": session, "modeId": "ask" }));
    let first = editor.say(&session, "what is it?");
    assert!(editor.answer(set).get("error").is_none());
    assert_eq!(editor.answer(first)["result"]["stopReason"], "end_turn");
    let set = json!({ "sessionId": session, "configId": "mode", "value": "agent" });
    let set = editor.request("session/set_config_option", set);
    let second = editor.say(&session, "run it");
    assert_eq!(editor.answer(set)["result"]["configOptions"][0]["currentValue"], "agent");
    assert_eq!(editor.answer(second)["result"]["stopReason"], "end_turn");
    assert_eq!(editor.said("agent_message_chunk"), "I only answer.I may run it.");
}

#[test]
fn a_prompt_that_is_prepared_holds_nothing_up_and_can_be_stopped() {
    let house = hanging(json!([say("For the terminal."), say("For the editor.")]));
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    let prepared = editor.say(&session, "/mcp__docs__greet Ann");
    eventually("the server is asked", || house.path("server.sh.asked").exists());
    house.run(&["--session", &session, "-m", "meanwhile"]).ended_with(0).says("For the terminal.");
    assert_eq!(editor.update("user_message_chunk")["content"]["text"], "meanwhile");
    let waits = editor.say(&session, "behind it");
    let begun = Instant::now();
    editor.notify("session/cancel", json!({ "sessionId": session }));
    for prompt in [prepared, waits] {
        assert_eq!(editor.answer(prompt)["result"]["stopReason"], "cancelled");
    }
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert_eq!(editor.prompt(&session, "go on"), "end_turn");
    assert!(editor.said("agent_message_chunk").ends_with("For the editor."));
}

#[test]
fn a_message_that_came_before_a_question_does_not_answer_it() {
    let wait = call("bash", json!({ "command": "until [ -e go ]; do sleep 0.1; done" }));
    let options = json!([{ "label": "SQLite" }, { "label": "Postgres" }]);
    let question = call("ask_user", json!({ "questions": [{ "question": "Which store?", "options": options }] }));
    let answered = json!({ "expect": { "last_tool_contains": "→ Postgres" }, "say": "Good." });
    let house = hanging(json!([wait, question, answered, say("So.")]));
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    let first = editor.say(&session, "ask me");
    editor.update("tool_call");
    let prepared = editor.say(&session, "/mcp__docs__greet Ann");
    eventually("the server is asked", || house.path("server.sh.asked").exists());
    let behind = editor.say(&session, "sqlite");
    fs::write(house.project().join("go"), "").unwrap();
    let asked = editor.find(|message| message["method"] == "session/request_permission");
    editor.notify("$/cancel_request", json!({ "requestId": prepared }));
    assert_eq!(editor.answer(prepared)["result"]["stopReason"], "cancelled");
    // The other one is taken as soon as what is set behind it is answered.
    editor.ask("session/set_mode", json!({ "sessionId": session, "modeId": "agent" }));
    let chosen = json!({ "outcome": { "outcome": "selected", "optionId": "1" } });
    editor.write(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": chosen }));
    for prompt in [first, behind] {
        assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    }
}

#[test]
fn a_damaged_picture_is_refused_by_name() {
    let house = playing(json!([say("A dot.")]));
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    for (data, name) in [("AA==", "image/png"), (&DOT[..60], "image/png"), (DOT, "image/jpeg")] {
        let dot = json!({ "type": "image", "mimeType": "image/png", "data": DOT });
        let picture = json!({ "type": "image", "mimeType": name, "data": data });
        let prompt =
            json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "what is it?" }, dot, picture] });
        if data == DOT {
            // Its beginning says what a picture is.
            assert_eq!(editor.ask("session/prompt", prompt)["stopReason"], "end_turn");
            continue;
        }
        let refused = editor.refused("session/prompt", prompt);
        assert!(refused["message"].as_str().unwrap().starts_with("picture 2 of the message is "), "{refused}");
    }
}

#[test]
fn a_prompt_that_is_taken_back_is_the_only_one_that_stops() {
    let house =
        playing(json!([call("bash", json!({ "command": "until [ -e go ]; do sleep 0.1; done" })), say("Done.")]));
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    let first = editor.say(&session, "wait");
    editor.update("tool_call");
    let second = editor.say(&session, "and this");
    editor.notify("$/cancel_request", json!({ "requestId": second }));
    assert_eq!(editor.answer(second)["result"]["stopReason"], "cancelled");
    fs::write(house.project().join("go"), "").unwrap();
    assert_eq!(editor.answer(first)["result"]["stopReason"], "end_turn");
    assert_eq!(editor.said("agent_message_chunk"), "Done.");
}

#[test]
fn a_prompt_goes_on_where_its_session_is_loaded_or_resumed() {
    for method in ["session/load", "session/resume"] {
        let wait = call("bash", json!({ "command": "until [ -e go ]; do sleep 0.1; done" }));
        let house = playing(json!([wait, say("Done.")]));
        let mut editor = Editor::open(&house, json!({}));
        let session = editor.session(&house);
        let prompt = editor.say(&session, "wait for it");
        editor.find(|message| message["params"]["update"]["status"] == "in_progress");
        editor.forget();
        editor.ask(method, of(&house, &session));
        let (heard, calls) = (editor.said("user_message_chunk"), editor.updates("tool_call").len());
        let told = if method == "session/load" { ("wait for it", 1) } else { ("", 0) };
        assert_eq!((heard.as_str(), calls), told, "{method}");
        fs::write(house.project().join("go"), "").unwrap();
        assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn", "{method}");
        assert_eq!(editor.said("agent_message_chunk"), "Done.", "{method}");
        assert_eq!(editor.prompt(&session, "/rename It goes on"), "end_turn", "{method}");
    }
}

/// A house whose model says this word by word.
fn slow(words: &str) -> House {
    playing(json!([{ "say": words, "between_ms": 150 }]))
}

const WORDS: &str = "one two three four five six seven eight nine ten";

#[test]
fn an_answer_that_is_being_written_is_told_once() {
    let house = slow(WORDS);
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    let prompt = editor.say(&session, "count");
    editor.update("agent_message_chunk");
    editor.forget();
    editor.ask("session/load", of(&house, &session));
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    assert_eq!(editor.said("agent_message_chunk"), WORDS);
    assert_eq!(editor.said("user_message_chunk"), "count");
}

#[test]
fn a_session_that_a_terminal_works_in_is_told_once() {
    for method in ["session/load", "session/resume"] {
        let house = slow(WORDS);
        let mut terminal = house.start(&["-m", "count"]);
        let mut editor = Editor::open(&house, json!({}));
        let mut session = Value::Null;
        eventually("the session is there", || {
            let listed = editor.ask("session/list", json!({ "cwd": house.project() }));
            session = listed["sessions"][0]["sessionId"].clone();
            session.is_string()
        });
        editor.ask(method, of(&house, session.as_str().unwrap()));
        let said = |editor: &Editor| editor.said("agent_message_chunk");
        eventually("the answer is whole", || {
            editor.ask("session/list", json!({ "cwd": "/" }));
            said(&editor).ends_with("ten")
        });
        assert!(terminal.wait().unwrap().success());
        editor.ask("session/list", json!({ "cwd": "/" }));
        match method {
            "session/load" => {
                assert_eq!((said(&editor).as_str(), editor.said("user_message_chunk").as_str()), (WORDS, "count"))
            }
            _ => assert!(WORDS.ends_with(&said(&editor)), "{}", said(&editor)),
        }
    }
}

#[test]
fn what_is_told_of_a_session_comes_when_the_editor_knows_it() {
    let house = playing(json!([say("Hi.")]));
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    assert!(editor.kept().is_empty(), "{:#?}", editor.kept());
    editor.update("available_commands_update");
    assert_eq!(editor.prompt(&session, "hello"), "end_turn");
    editor.ask("session/close", json!({ "sessionId": session }));
    editor.forget();
    editor.ask("session/resume", of(&house, &session));
    assert!(editor.kept().is_empty(), "{:#?}", editor.kept());
    editor.update("available_commands_update");
    editor.ask("session/close", json!({ "sessionId": session }));
    editor.forget();
    editor.ask("session/load", of(&house, &session));
    assert_eq!(editor.said("user_message_chunk") + &editor.said("agent_message_chunk"), "helloHi.");
    assert!(editor.updates("available_commands_update").is_empty());
    editor.update("available_commands_update");
}

#[test]
fn a_session_that_is_not_wanted_any_more_is_not_left_open() {
    let waits = [0, 1, 3, 10, 30];
    let house = playing(waits.iter().map(|_| say("Hi.")).collect());
    let mut editor = Editor::open(&house, json!({}));
    for (wait, method) in waits.into_iter().zip(["session/load", "session/resume"].into_iter().cycle()) {
        let session = editor.session(&house);
        assert_eq!(editor.prompt(&session, "hello"), "end_turn");
        editor.ask("session/close", json!({ "sessionId": session }));
        let opens = editor.request(method, of(&house, &session));
        std::thread::sleep(Duration::from_millis(wait));
        editor.notify("$/cancel_request", json!({ "requestId": opens }));
        let answer = editor.answer(opens);
        // It may have been faster.
        if answer.get("error").is_some() {
            assert_eq!(answer["error"]["code"], -32800, "{answer}");
            let prompt = json!([{ "type": "text", "text": "x" }]);
            editor.refused("session/prompt", json!({ "sessionId": session, "prompt": prompt }));
            // One that is open is not removed.
            eventually("it is closed", || house.run(&["session", "rm", "--yes", &session]).code == 0);
        }
    }
}

#[test]
fn a_session_that_is_closed_while_it_asks_answers_its_prompt() {
    let house = hanging(json!([call("bash", json!({ "command": "touch a" }))]));
    let mut editor = Editor::open(&house, json!({}));
    for words in ["touch it", "/mcp__docs__greet Ann"] {
        let session = editor.session(&house);
        let prompt = editor.say(&session, words);
        match words {
            "touch it" => drop(editor.find(|message| message["method"] == "session/request_permission")),
            _ => eventually("the server is asked", || house.path("server.sh.asked").exists()),
        }
        let begun = Instant::now();
        let closed = editor.request("session/close", json!({ "sessionId": session }));
        assert_eq!(editor.answer(prompt)["result"]["stopReason"], "cancelled", "{words}");
        assert!(begun.elapsed() < Duration::from_secs(1), "{words}: {:?}", begun.elapsed());
        assert!(editor.answer(closed).get("error").is_none(), "{words}");
    }
    assert!(!house.project().join("a").exists());
}

#[test]
fn a_fork_goes_on_from_where_the_session_is() {
    let house = playing(json!([say("Hi."), say("Again.")]));
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    assert_eq!(editor.prompt(&session, "hello"), "end_turn");
    let fork = editor.ask("session/fork", of(&house, &session));
    let forked = fork["sessionId"].as_str().unwrap().to_owned();
    assert_ne!(forked, session);
    assert_eq!(fork["modes"]["currentModeId"], "agent", "{fork}");
    assert_eq!(editor.prompt(&forked, "and you?"), "end_turn");
    assert_eq!(editor.prompt(&session, "and I?"), "end_turn");
    for (session, heard) in [(&session, "helloand I?"), (&forked, "helloand you?")] {
        editor.forget();
        editor.ask("session/load", of(&house, session));
        assert_eq!(editor.said("user_message_chunk"), heard);
    }
}

#[test]
fn pictures_and_thoughts_are_told_again() {
    let house = playing(json!([{ "reasoning": "It is small.", "say": "A dot." }]));
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    let picture = json!({ "type": "image", "mimeType": "image/png", "data": DOT });
    let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "what is it?" }, picture] });
    let answer = editor.ask("session/prompt", prompt);
    assert_eq!(answer["stopReason"], "end_turn");
    let live = editor.updates("agent_message_chunk");
    editor.forget();
    editor.ask("session/load", of(&house, &session));
    let heard = editor.updates("user_message_chunk");
    assert_eq!((heard.len(), &heard[1]["content"]["data"]), (2, &json!(DOT)), "{heard:#?}");
    assert!(heard[0]["messageId"].is_string() && heard[0]["messageId"] == heard[1]["messageId"], "{heard:#?}");
    assert_eq!(editor.said("agent_thought_chunk"), "It is small.");
    assert_eq!(editor.updates("agent_message_chunk")[0]["messageId"], live[0]["messageId"], "{live:#?}");
}

#[test]
fn a_picture_that_a_tool_gave_is_shown_with_its_call() {
    let house = playing(json!([call("read_file", json!({ "path": "a.png" })), say("A pixel.")]));
    fs::write(house.project().join("a.png"), crate::pictures::PIXEL).unwrap();
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    assert_eq!(editor.prompt(&session, "look at it"), "end_turn");
    for loaded in [false, true] {
        if loaded {
            editor.forget();
            editor.ask("session/load", of(&house, &session));
        }
        let updates = editor.updates("tool_call_update");
        let shows = |update: &&Value| update["content"].to_string().contains("iVBORw0KGgo");
        assert_eq!(updates.iter().filter(shows).count(), 1, "{updates:#?}");
        assert_eq!(editor.said("user_message_chunk"), if loaded { "look at it" } else { "" });
    }
}

/// An editor that reads no further than to the answer of `session/new`, and has said something then.
struct Deaf {
    child: std::process::Child,
    output: BufReader<std::process::ChildStdout>,
}

impl Deaf {
    fn open(house: &House) -> Self {
        let mut child = std::process::Command::new(env!("CARGO_BIN_EXE_neco"))
            .env_clear()
            .envs(house.variables())
            .env("CI", "1")
            .current_dir(house.project())
            .arg("acp")
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let input = child.stdin.as_mut().unwrap();
        let mut ask = |message: Value| {
            writeln!(input, "{message}").unwrap();
            if message["method"] == "session/prompt" {
                return Value::Null;
            }
            let mut line = String::new();
            output.read_line(&mut line).unwrap();
            serde_json::from_str::<Value>(&line).unwrap()["result"].clone()
        };
        ask(json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": { "protocolVersion": 1 } }));
        let new = json!({ "cwd": house.project(), "mcpServers": [] });
        let session = ask(json!({ "jsonrpc": "2.0", "id": 2, "method": "session/new", "params": new }));
        let prompt = json!({ "sessionId": session["sessionId"], "prompt": [{ "type": "text", "text": "tell it" }] });
        ask(json!({ "jsonrpc": "2.0", "id": 3, "method": "session/prompt", "params": prompt }));
        Self { child, output }
    }
}

impl Drop for Deaf {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// More than any pipe holds, and more pieces than may wait.
fn long() -> String {
    "a word and another ".repeat(20_000)
}

#[test]
fn an_editor_that_reads_slowly_misses_nothing() {
    let house = playing(
        json!([{ "say": long(), "calls": [{ "name": "bash", "arguments": { "command": "touch said" } }] }, say("Done.")]),
    );
    house.configure(&format!("approval = \"auto\"\n{}", fs::read_to_string(house.path("home/config.toml")).unwrap()));
    let mut editor = Deaf::open(&house);
    eventually("the work goes on without it", || house.project().join("said").exists());
    let mut said = String::new();
    loop {
        let mut line = String::new();
        assert!(editor.output.read_line(&mut line).unwrap() > 0, "it ended early");
        let message: Value = serde_json::from_str(&line).unwrap();
        let update = &message["params"]["update"];
        if update["sessionUpdate"] == "agent_message_chunk" {
            said.push_str(update["content"]["text"].as_str().unwrap());
        }
        if message["id"] == 3 {
            assert_eq!(message["result"]["stopReason"], "end_turn");
            break;
        }
    }
    assert_eq!(said, long() + "Done.");
}

#[test]
fn an_editor_that_goes_without_reading_ends_the_process_and_its_children() {
    let house =
        playing(json!([{ "say": long(), "calls": [{ "name": "bash", "arguments": { "command": "sleep 4714" } }] }]));
    let mut editor = Deaf::open(&house);
    eventually("it sleeps", || lives("4714"));
    drop(editor.child.stdin.take());
    let begun = Instant::now();
    while editor.child.try_wait().unwrap().is_none() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    eventually("it is dead", || !lives("4714"));
    let mut rest = String::new();
    editor.output.read_to_string(&mut rest).unwrap();
}

#[test]
fn an_editor_that_goes_while_it_is_asked_ends_the_process() {
    let house = hanging(json!([call("bash", json!({ "command": "touch a" }))]));
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    editor.say(&session, "touch it");
    editor.find(|message| message["method"] == "session/request_permission");
    let other = editor.session(&house);
    editor.say(&other, "/mcp__docs__greet Ann");
    eventually("the server is asked", || house.path("server.sh.asked").exists());
    let begun = Instant::now();
    assert_eq!(editor.leave(), Some(0));
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());
    assert!(!house.project().join("a").exists());
}
