//! Neco in an editor: raw lines of the protocol on its stdin and stdout.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::editor::{Editor, playing};
use crate::support::{House, call, eventually, lives, say};

fn editor(house: &House) -> Editor {
    Editor::open(house, json!({}))
}

#[test]
fn it_says_what_it_is_and_what_it_does() {
    let house = playing(json!([]));
    let mut editor = Editor::start(&house, &["--acp"]);
    let refused = editor.refused("session/new", json!({ "cwd": house.project(), "mcpServers": [] }));
    assert!(refused.to_string().contains("initialization"), "{refused}");
    let capabilities = json!({ "auth": { "terminal": true } });
    let answer = editor.ask("initialize", json!({ "protocolVersion": 1, "clientCapabilities": capabilities }));
    assert_eq!((&answer["protocolVersion"], &answer["agentInfo"]["name"]), (&json!(1), &json!("neco")), "{answer}");
    let can = &answer["agentCapabilities"];
    assert_eq!((&can["loadSession"], &can["promptCapabilities"]["image"]), (&json!(true), &json!(true)), "{answer}");
    assert_eq!(can["promptCapabilities"]["embeddedContext"], true, "{answer}");
    for ability in ["list", "resume", "close", "delete"] {
        assert!(can["sessionCapabilities"][ability].is_object(), "{ability}: {answer}");
    }
    assert!(can["auth"]["logout"].is_object(), "{answer}");
    let methods = answer["authMethods"].as_array().unwrap();
    assert!(
        methods.iter().any(|method| method["type"] == "terminal" && method["args"] == json!(["login"])),
        "{answer}"
    );
    let relative = editor.refused("session/new", json!({ "cwd": "project", "mcpServers": [] }));
    assert!(relative["message"].as_str().unwrap().contains("cwd"), "{relative}");
    editor.refused("session/prompt", json!({ "sessionId": "nobody", "prompt": [] }));
    assert_eq!(editor.leave(), Some(0));
    let mut newer = Editor::start(&house, &["acp"]);
    assert_eq!(newer.ask("initialize", json!({ "protocolVersion": 7 }))["protocolVersion"], 1);
}

#[test]
fn a_prompt_is_answered_with_everything_that_came_of_it() {
    let house = playing(json!([
        { "reasoning": "I read it first", "say": "Let me look.", "calls": [{ "name": "read_file", "arguments": { "path": "a.txt" } }] },
        { "say": "It says hello.", "usage": { "input": 900, "output": 100 } },
    ]));
    fs::write(house.project().join("a.txt"), "# hello\n```\ncode\n```\n").unwrap();
    let mut editor = editor(&house);
    let session = editor.ask("session/new", json!({ "cwd": house.project(), "mcpServers": [] }));
    assert_eq!(session["modes"]["currentModeId"], "agent", "{session}");
    let options: Vec<_> = session["configOptions"].as_array().unwrap().iter().map(|option| &option["id"]).collect();
    assert_eq!(options, ["mode", "model", "approval", "level"]);
    let session = session["sessionId"].as_str().unwrap().to_owned();
    let commands = editor.update("available_commands_update");
    assert!(commands["availableCommands"].as_array().unwrap().iter().any(|command| command["name"] == "compact"));
    assert_eq!(editor.prompt(&session, "what is in it?"), "end_turn");
    assert_eq!(editor.said("agent_message_chunk"), "Let me look.It says hello.");
    assert!(editor.said("agent_thought_chunk").contains("I read it first"));
    assert_eq!(editor.said("user_message_chunk"), "", "the editor shows what its person says");
    let begun = editor.updates("tool_call");
    assert_eq!((begun.len(), &begun[0]["kind"]), (1, &json!("read")), "{begun:#?}");
    let updates = editor.updates("tool_call_update");
    let told = |name: &str| updates.iter().rev().map(|update| &update[name]).find(|value| !value.is_null()).unwrap();
    assert_eq!((told("status"), told("rawInput")), (&json!("completed"), &json!({ "path": "a.txt" })), "{updates:#?}");
    assert_eq!(told("locations")[0]["path"], json!(house.project().join("a.txt")));
    let shown = told("content")[0]["content"]["text"].as_str().unwrap().to_owned();
    assert!(shown.starts_with("````\n") && shown.ends_with("\n````"), "a file is shown as it stands: {shown}");
    assert_eq!(editor.leave(), Some(0));
}

#[test]
fn the_person_is_asked_with_the_change_and_the_rule_that_always_keeps() {
    let write = call("write_file", json!({ "path": "new.txt", "content": "hi\n" }));
    let run = call("bash", json!({ "command": "touch b.txt" }));
    let house = playing(json!([write, run, say("Done.")]));
    let mut editor = editor(&house);
    let session = editor.session(&house);
    let prompt = editor.say(&session, "write it");
    let asked = editor.choose("once");
    let diff =
        asked["toolCall"]["content"].as_array().unwrap().iter().find(|content| content["type"] == "diff").unwrap();
    assert_eq!((&diff["path"], &diff["newText"]), (&json!(house.project().join("new.txt")), &json!("hi\n")));
    assert_eq!((&asked["toolCall"]["kind"], &asked["options"][0]["kind"]), (&json!("edit"), &json!("allow_once")));
    let asked = editor.choose("always");
    let words = asked["toolCall"]["content"][0]["content"]["text"].as_str().unwrap();
    assert!(words.contains("touch b.txt") && words.contains("commands are asked first"), "{asked:#}");
    let always = asked["options"].as_array().unwrap().iter().find(|option| option["optionId"] == "always").unwrap();
    assert_eq!(always["kind"], "allow_always");
    assert!(always["name"].as_str().unwrap().contains("`touch *`"), "{always}");
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    assert_eq!(fs::read_to_string(house.project().join("new.txt")).unwrap(), "hi\n");
    let updates = editor.updates("tool_call_update");
    assert!(updates.iter().any(|update| update["content"][0]["type"] == "diff"), "{updates:#?}");
    let shown = updates.iter().any(|update| update["content"].to_string().contains("hi"));
    assert!(shown, "what the command printed is shown: {updates:#?}");
    assert!(house.run(&["policy", "list"]).stdout.contains("touch"));
}

#[test]
fn what_agents_below_say_and_do_is_shown_as_it_happens() {
    let house = playing(json!([]));
    house.configure(&format!("approval = \"auto\"\n{}", fs::read_to_string(house.path("home/config.toml")).unwrap()));
    let command = "echo begun; until [ -e go ]; do sleep 0.02; done";
    let task = json!({ "description": "a half", "prompt": "do the half", "agent": "coder" });
    let coder = json!([
        { "say": "I run it first.", "calls": [{ "name": "bash", "arguments": { "command": command } }] },
        call("read_file", json!({ "path": "a.txt", "offset": 2 })),
        say("The half is done."),
    ]);
    let script =
        json!({ "turns": [call("task", task), say("Done.")], "agents": [{ "role": "coder", "turns": coder }] });
    fs::write(house.path("script.json"), script.to_string()).unwrap();
    fs::write(house.project().join("a.txt"), "one\ntwo\n").unwrap();
    let mut editor = editor(&house);
    let session = editor.session(&house);
    let prompt = editor.say(&session, "do it");
    let shown = editor.find(|message| {
        let text = &message["params"]["update"]["content"][0]["content"]["text"];
        text.as_str().is_some_and(|text| text.contains("begun") && !text.contains("echo"))
    });
    let shown = &shown["params"]["update"];
    assert!(shown["title"].as_str().unwrap().starts_with("coder-1 · "), "{shown}");
    assert_eq!(shown["rawInput"]["command"], command, "{shown}");
    fs::write(house.project().join("go"), "").unwrap();
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    let updates = [editor.updates("tool_call"), editor.updates("tool_call_update")].concat();
    let said = |update: &&Value| update["content"][0]["content"]["text"] == "I run it first.";
    assert!(updates.iter().find(said).unwrap()["toolCallId"].as_str().unwrap().starts_with("agent-"), "{updates:#?}");
    let place = json!({ "path": house.project().join("a.txt"), "line": 2 });
    assert!(updates.iter().any(|update| update["locations"][0] == place), "{updates:#?}");
}

#[test]
fn a_no_is_a_no() {
    let write = call("write_file", json!({ "path": "new.txt", "content": "hi" }));
    let house = playing(json!([write, say("I leave it.")]));
    let mut editor = editor(&house);
    let session = editor.session(&house);
    let prompt = editor.say(&session, "write it");
    editor.choose("reject");
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    assert!(!house.project().join("new.txt").exists());
    let last = editor.updates("tool_call_update").pop().unwrap();
    assert_eq!(last["status"], "failed", "{last}");
}

#[test]
fn a_cancel_is_answered_at_once_and_nothing_runs_on() {
    let house = playing(json!([call("bash", json!({ "command": "sleep 4711" })), say("Slept.")]));
    let mut editor = editor(&house);
    let session = editor.session(&house);
    let prompt = editor.say(&session, "sleep");
    eventually("it sleeps", || lives("4711"));
    let begun = Instant::now();
    editor.notify("session/cancel", json!({ "sessionId": session }));
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "cancelled");
    assert!(begun.elapsed() < Duration::from_secs(1), "{:?}", begun.elapsed());
    assert!(!lives("4711"));
}

#[test]
fn a_cancel_while_it_asks_takes_the_question_back() {
    let house = playing(json!([call("bash", json!({ "command": "touch a" })), say("Touched.")]));
    let mut editor = editor(&house);
    let session = editor.session(&house);
    let prompt = editor.say(&session, "touch it");
    let asked = editor.find(|message| message["method"] == "session/request_permission");
    // A request is taken back as a prompt is cancelled.
    editor.notify("$/cancel_request", json!({ "requestId": prompt }));
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "cancelled");
    let taken_back = editor.find(|message| message["method"] == "$/cancel_request");
    assert_eq!(taken_back["params"]["requestId"], asked["id"]);
    assert!(!house.project().join("a").exists());
    assert_eq!(editor.prompt(&session, "go on"), "end_turn");
}

#[test]
fn a_session_that_is_closed_stops_and_its_prompt_is_answered() {
    let house = playing(json!([call("bash", json!({ "command": "sleep 4713" })), say("Slept.")]));
    let mut editor = editor(&house);
    let session = editor.session(&house);
    let prompt = editor.say(&session, "sleep");
    eventually("it sleeps", || lives("4713"));
    editor.ask("session/close", json!({ "sessionId": session }));
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "cancelled");
    assert!(!lives("4713"));
}

#[test]
fn what_waits_behind_work_that_fails_is_answered_too() {
    let fault = json!({ "fault": { "status": { "code": 401, "message": "no such key" } } });
    let wait = "until [ -e go ]; do sleep 0.1; done";
    let house = playing(json!([call("bash", json!({ "command": wait })), fault]));
    let mut editor = editor(&house);
    let session = editor.session(&house);
    let first = editor.say(&session, "wait");
    editor.find(|message| message["params"]["update"]["sessionUpdate"] == "tool_call");
    let second = editor.say(&session, "and then this");
    // It is taken as soon as settings that are asked for behind it are answered.
    editor.ask("session/set_mode", json!({ "sessionId": session, "modeId": "plan" }));
    fs::write(house.project().join("go"), "").unwrap();
    for prompt in [first, second] {
        assert_eq!(editor.answer(prompt)["error"]["code"], -32000);
    }
}

#[test]
fn the_end_of_the_input_ends_the_process_and_its_children() {
    let house = playing(json!([call("bash", json!({ "command": "sleep 4712" }))]));
    let mut editor = editor(&house);
    let session = editor.session(&house);
    editor.say(&session, "sleep");
    eventually("it sleeps", || lives("4712"));
    assert_eq!(editor.leave(), Some(0));
    eventually("it is dead", || !lives("4712"));
}

#[test]
fn what_failed_is_an_error_with_words() {
    let house = House::empty();
    let mut editor = editor(&house);
    let refused = editor.refused("session/new", json!({ "cwd": house.project(), "mcpServers": [] }));
    assert_eq!(refused["code"], -32000, "no model: {refused}");
    drop(editor);
    let house = playing(json!([{ "fault": { "status": { "code": 401, "message": "no such key" } } }]));
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    let prompt = editor.say(&session, "hello");
    let error = editor.answer(prompt)["error"].clone();
    assert_eq!(error["code"], -32000, "{error}");
    assert!(error["message"].as_str().unwrap().contains("key"), "{error}");
}

#[test]
fn the_entry_of_the_registry_is_that_of_this_version() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging/acp-registry/neco");
    let entry: Value = serde_json::from_str(&fs::read_to_string(folder.join("agent.json")).unwrap()).unwrap();
    let version = env!("CARGO_PKG_VERSION");
    let known = ["id", "name", "version", "description", "repository", "website", "authors", "license", "distribution"];
    assert!(entry.as_object().unwrap().keys().all(|field| known.contains(&field.as_str())), "{entry}");
    assert_eq!((&entry["id"], &entry["name"], &entry["version"]), (&json!("neco"), &json!("Neco"), &json!(version)));
    assert_eq!(entry["license"], env!("CARGO_PKG_LICENSE"));
    assert!(!entry["description"].as_str().unwrap().is_empty());
    let package = &entry["distribution"]["npx"];
    let (name, of) = package["package"].as_str().unwrap().rsplit_once('@').unwrap();
    assert_eq!((name, of), ("neco-agent", version), "no version but its own is offered");
    let arguments: Vec<&str> = package["args"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    let house = House::empty();
    let mut editor = Editor::start(&house, &arguments);
    let answer = editor.ask("initialize", json!({ "protocolVersion": 1, "clientCapabilities": {} }));
    assert_eq!(answer["agentInfo"]["version"], version, "{answer}");
    assert!(!answer["authMethods"].as_array().unwrap().is_empty(), "{answer}");
    let icon = fs::read_to_string(folder.join("icon.svg")).unwrap();
    assert!(icon.contains("width=\"16\" height=\"16\""), "{icon}");
    assert!(icon.matches("fill=").count() == icon.matches("fill=\"currentColor\"").count(), "{icon}");
}
