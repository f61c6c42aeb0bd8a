//! Sessions of an editor: listed, loaded, resumed, set, shared with windows, closed and deleted; its files and forms.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::attach::{UNTIL_GO, begun, ended, go};
use crate::editor::{Editor, playing};
use crate::support::{House, call, say};

#[test]
fn a_session_is_listed_loaded_resumed_and_deleted() {
    let house = playing(json!([call("read_file", json!({ "path": "a.txt" })), say("It says hello."), say("More.")]));
    fs::write(house.project().join("a.txt"), "hello\n").unwrap();
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    assert_eq!(editor.prompt(&session, "what is in it?"), "end_turn");
    editor.ask("session/close", json!({ "sessionId": session }));
    editor.refused("session/prompt", json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "x" }] }));
    let listed = editor.ask("session/list", json!({ "cwd": house.project() }));
    assert_eq!(listed["sessions"][0]["sessionId"], json!(session), "{listed}");
    assert_eq!(editor.ask("session/list", json!({ "cwd": "/" }))["sessions"], json!([]));
    editor.forget();
    let which = json!({ "sessionId": session, "cwd": house.project(), "mcpServers": [] });
    let loaded = editor.ask("session/load", which.clone());
    assert_eq!(loaded["modes"]["currentModeId"], "agent");
    assert_eq!(editor.said("user_message_chunk"), "what is in it?", "it is told before the answer");
    assert_eq!(editor.said("agent_message_chunk"), "It says hello.");
    assert_eq!(editor.updates("tool_call").len(), 1);
    assert_eq!(editor.updates("tool_call_update").pop().unwrap()["status"], "completed");
    editor.forget();
    editor.ask("session/resume", which.clone());
    assert_eq!(editor.said("user_message_chunk") + &editor.said("agent_message_chunk"), "");
    editor.ask("session/delete", json!({ "sessionId": session }));
    assert_eq!(editor.ask("session/list", json!({ "cwd": house.project() }))["sessions"], json!([]));
    editor.refused("session/load", which);
}

#[test]
fn what_is_set_is_told_both_ways() {
    let house = playing(json!([say("Hi.")]));
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    editor.ask("session/set_mode", json!({ "sessionId": session, "modeId": "plan" }));
    assert_eq!(editor.update("current_mode_update")["currentModeId"], "plan");
    let set = json!({ "sessionId": session, "configId": "mode", "value": "ask" });
    let options = editor.ask("session/set_config_option", set);
    assert_eq!(options["configOptions"][0]["currentValue"], "ask", "{options}");
    assert_eq!(editor.update("current_mode_update")["currentModeId"], "ask");
    let set = json!({ "sessionId": session, "configId": "approval", "value": "auto" });
    assert_eq!(editor.ask("session/set_config_option", set)["configOptions"][2]["currentValue"], "auto");
    editor.refused("session/set_mode", json!({ "sessionId": session, "modeId": "dance" }));
    editor.refused("session/set_config_option", json!({ "sessionId": session, "configId": "mode", "value": "dance" }));
}

#[test]
fn a_session_is_shared_with_a_window() {
    let house = playing(json!([say("For the editor."), say("For the terminal.")]));
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    assert_eq!(editor.prompt(&session, "hello"), "end_turn");
    house.run(&["--session", &session, "-m", "from the terminal"]).ended_with(0).says("For the terminal.");
    assert_eq!(editor.update("user_message_chunk")["content"]["text"], "from the terminal");
    editor.find(|message| {
        message["params"]["update"]["content"]["text"].as_str().is_some_and(|said| said.contains("For the"))
    });
}

#[test]
fn what_a_session_makes_no_use_of_as_it_is_open_already_is_told() {
    let house = playing(json!([call("bash", json!({ "command": UNTIL_GO, "timeout": 60 })), say("Done.")]));
    let owner = house.start(&["-m", "work", "--yes"]);
    begun(&house);
    let mut editor = Editor::open(&house, json!({ "fs": { "readTextFile": true } }));
    let session = editor.ask("session/list", json!({}))["sessions"][0]["sessionId"].clone();
    let with = |servers: Value| json!({ "sessionId": session, "cwd": house.project(), "mcpServers": servers });
    let docs = json!([{ "name": "docs", "command": "docs", "args": [], "env": [] }]);
    for (servers, told) in [(json!([]), "type here and do not save"), (docs.clone(), "MCP servers that are set up now")]
    {
        editor.ask("session/resume", with(servers));
        let said = editor.update("agent_message_chunk");
        assert!(said["content"]["text"].as_str().unwrap().contains(told), "{said}");
    }
    go(&house);
    ended(owner, 0);
    editor.ask("session/close", json!({ "sessionId": session }));
    // The same servers again are no news.
    for _ in 0..2 {
        editor.ask("session/resume", with(docs.clone()));
    }
    editor.ask("session/set_mode", json!({ "sessionId": session, "modeId": "plan" }));
    let said = editor.said("agent_message_chunk");
    assert!(!said.contains("makes no use") && !said.contains("set up now"), "{said}");
}

#[test]
fn several_sessions_work_in_several_folders_at_once() {
    let house = playing(json!([call("write_file", json!({ "path": "new.txt", "content": "hi" })), say("Done.")]));
    let other = house.path("other");
    fs::create_dir(&other).unwrap();
    let mut editor = Editor::open(&house, json!({}));
    let here = editor.session(&house);
    let there = editor.ask("session/new", json!({ "cwd": other, "mcpServers": [] }))["sessionId"].clone();
    let (first, second) = (editor.say(&here, "write"), editor.say(there.as_str().unwrap(), "write"));
    editor.choose("once");
    editor.choose("once");
    assert_eq!(editor.answer(first)["result"]["stopReason"], "end_turn");
    assert_eq!(editor.answer(second)["result"]["stopReason"], "end_turn");
    assert!(house.project().join("new.txt").exists() && other.join("new.txt").exists());
}

/// Plays the editor's part until a prompt is answered: it has these texts open, and its person says yes.
fn serve(editor: &mut Editor, open: &mut HashMap<PathBuf, String>, prompt: u64) -> Vec<String> {
    let mut asked = Vec::new();
    loop {
        let message = editor.find(|message| message.get("id").is_some());
        let Some(method) = message["method"].as_str() else {
            assert_eq!(message["id"], json!(prompt), "{message}");
            return asked;
        };
        let path = PathBuf::from(message["params"]["path"].as_str().unwrap_or_default());
        asked.push(method.to_owned());
        let result = match method {
            "fs/read_text_file" => open.get(&path).cloned().map(|text| json!({ "content": text })),
            "fs/write_text_file" => {
                let text = message["params"]["content"].as_str().unwrap();
                fs::write(&path, text).unwrap();
                open.insert(path, text.to_owned());
                Some(json!({}))
            }
            "session/request_permission" => Some(json!({ "outcome": { "outcome": "selected", "optionId": "once" } })),
            "elicitation/create" => Some(json!({ "action": "accept", "content": { "answer_1": "Postgres" } })),
            _ => None,
        };
        let error = json!({ "code": -32603, "message": "it is not open" });
        match result {
            Some(result) => editor.write(&json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })),
            None => editor.write(&json!({ "jsonrpc": "2.0", "id": message["id"], "error": error })),
        }
    }
}

fn edits() -> Value {
    let edit = json!({ "path": "a.txt", "old_string": "typed", "new_string": "edited" });
    json!([call("read_file", json!({ "path": "a.txt" })), call("edit_file", edit), say("Done.")])
}

#[test]
fn what_is_typed_and_not_saved_is_read_and_edits_land_in_the_editor() {
    let house = playing(edits());
    let file = house.project().join("a.txt");
    fs::write(&file, "saved\n").unwrap();
    let mut editor = Editor::open(&house, json!({ "fs": { "readTextFile": true, "writeTextFile": true } }));
    let session = editor.session(&house);
    let mut open = HashMap::from([(file.clone(), "typed\n".to_owned())]);
    let prompt = editor.say(&session, "edit it");
    let asked = serve(&mut editor, &mut open, prompt);
    assert!(asked.iter().any(|method| method == "fs/write_text_file"), "{asked:?}");
    assert_eq!((open[&file].as_str(), fs::read_to_string(&file).unwrap().as_str()), ("edited\n", "edited\n"));
}

#[test]
fn nothing_is_asked_of_an_editor_that_did_not_offer_it() {
    let house = playing(edits());
    fs::write(house.project().join("a.txt"), "typed\n").unwrap();
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    let prompt = editor.say(&session, "edit it");
    let asked = serve(&mut editor, &mut HashMap::new(), prompt);
    assert_eq!(asked, ["session/request_permission"]);
    assert_eq!(fs::read_to_string(house.project().join("a.txt")).unwrap(), "edited\n");
}

fn question() -> Value {
    let options =
        json!([{ "label": "SQLite", "description": "one file" }, { "label": "Postgres", "description": "a server" }]);
    let question = json!({ "question": "Which store?", "header": "Store", "options": options });
    json!([call("ask_user", json!({ "questions": [question] })), say("Good.")])
}

/// What editors can do, and by what they are asked then.
const ASKING: [(&str, &str); 2] =
    [(r#"{ "elicitation": { "form": {} } }"#, "elicitation/create"), ("{}", "session/request_permission")];

#[test]
fn a_question_is_a_form_or_a_choice() {
    for (capabilities, method) in ASKING {
        let house = playing(question());
        let mut editor = Editor::open(&house, serde_json::from_str(capabilities).unwrap());
        let session = editor.session(&house);
        let prompt = editor.say(&session, "ask me");
        let asked = match method {
            "elicitation/create" => {
                editor.reply(method, json!({ "action": "accept", "content": { "answer_1": "Postgres" } }))
            }
            _ => editor.choose("1"),
        };
        assert!(asked.to_string().contains("Which store?"), "{asked}");
        assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
        let answered = editor.updates("tool_call_update").pop().unwrap().to_string();
        assert!(answered.contains("Postgres"), "{answered}");
    }
}

/// A model that asks this, is to be told `answer`, and goes on.
fn asks(questions: Value, answer: &str) -> House {
    playing(json!([
        call("ask_user", json!({ "questions": questions })),
        { "expect": { "last_tool_contains": answer }, "say": "Good." },
        say("And more."),
    ]))
}

#[test]
fn a_question_without_choices_is_answered_by_the_next_message() {
    let house = asks(json!([{ "question": "What is it called?" }, { "question": "And its `size`?" }]), "→ neco");
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    assert_eq!(editor.prompt(&session, "ask me"), "end_turn");
    let said = editor.said("agent_message_chunk");
    assert!(said.contains("What is it called?") && said.contains("next message is the answer"), "{said}");
    assert!(!said.contains("size"), "one after the other: {said}");
    assert_eq!(editor.prompt(&session, "neco"), "end_turn");
    assert!(editor.said("agent_message_chunk").contains("And its `size`?"));
    assert_eq!(editor.prompt(&session, "small"), "end_turn");
    assert!(editor.said("agent_message_chunk").ends_with("Good."), "{}", editor.said("agent_message_chunk"));
    let answered = editor.updates("tool_call_update").pop().unwrap().to_string();
    assert!(answered.contains("→ neco") && answered.contains("→ small"), "{answered}");
    assert!(editor.kept().iter().all(|message| message["method"] != "session/request_permission"));
    // Nothing is asked any more.
    assert_eq!(editor.prompt(&session, "go on"), "end_turn");
    assert!(editor.said("agent_message_chunk").ends_with("And more."));
}

#[test]
fn something_else_than_the_choices_is_said_in_the_next_message() {
    let options = json!([{ "label": "SQLite" }, { "label": "Postgres" }]);
    let sure = json!({ "question": "Are you sure?", "options": [{ "label": "Yes" }] });
    let house = asks(json!([sure, { "question": "Which store?", "options": options }]), "→ MariaDB");
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    let prompt = editor.say(&session, "ask me");
    assert_eq!(editor.choose("0")["toolCall"]["title"], "Are you sure?");
    let asked = editor.choose("later");
    assert_eq!(asked["toolCall"]["title"], "Which store?");
    assert!(asked["options"].to_string().contains("my next message"), "{asked}");
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    assert_eq!(editor.prompt(&session, "MariaDB"), "end_turn");
    assert!(editor.said("agent_message_chunk").ends_with("Good."));
}

#[test]
fn a_message_while_a_question_is_open_answers_it() {
    for (capabilities, method) in ASKING {
        let options = json!([{ "label": "SQLite" }, { "label": "Postgres" }]);
        let house = asks(json!([{ "question": "Which store?", "options": options }]), "→ Postgres");
        let mut editor = Editor::open(&house, serde_json::from_str(capabilities).unwrap());
        let session = editor.session(&house);
        let first = editor.say(&session, "ask me");
        let asked = editor.find(|message| message["method"] == method);
        let second = editor.say(&session, "postgres");
        for prompt in [first, second] {
            assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn", "{method}");
        }
        let taken_back = editor.find(|message| message["method"] == "$/cancel_request");
        assert_eq!(taken_back["params"]["requestId"], asked["id"]);
        assert!(editor.said("agent_message_chunk").ends_with("Good."));
    }
}

#[test]
fn a_command_takes_back_a_question_that_waits() {
    for (capabilities, method) in ASKING {
        let house = playing(json!([question()[0], say("Gone."), say("Reviewed.")]));
        let mut editor = Editor::open(&house, serde_json::from_str(capabilities).unwrap());
        let session = editor.session(&house);
        let first = editor.say(&session, "ask me");
        let asked = editor.find(|message| message["method"] == method);
        let second = editor.say(&session, "/review");
        for prompt in [first, second] {
            assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn", "{method}");
        }
        let taken_back = editor.find(|message| message["method"] == "$/cancel_request");
        assert_eq!(taken_back["params"]["requestId"], asked["id"]);
        assert!(editor.said("agent_message_chunk").ends_with("Reviewed."), "{method}");
    }
}

#[test]
fn a_typed_answer_takes_the_choices_back_and_what_was_chosen_stays() {
    let yes = json!([{ "label": "Yes" }, { "label": "No" }]);
    let options = json!([{ "label": "SQLite" }, { "label": "Postgres" }]);
    let sure = json!({ "question": "Are you sure?", "options": yes });
    let house = asks(json!([sure, { "question": "Which store?", "options": options }]), "→ MariaDB");
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    let first = editor.say(&session, "ask me");
    editor.choose("1");
    let asked = editor.find(|message| message["method"] == "session/request_permission");
    assert_eq!(asked["params"]["toolCall"]["title"], "Which store?");
    let second = editor.say(&session, "MariaDB");
    for prompt in [first, second] {
        assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    }
    let taken_back = editor.find(|message| message["method"] == "$/cancel_request");
    assert_eq!(taken_back["params"]["requestId"], asked["id"]);
    let answered = editor.updates("tool_call_update").pop().unwrap().to_string();
    assert!(answered.contains("→ No") && answered.contains("→ MariaDB"), "{answered}");
}

#[test]
fn a_picture_needs_no_words() {
    let house = playing(json!([say("A dot.")]));
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    let picture = json!({ "type": "image", "mimeType": "image/png", "data": crate::acp_connection::DOT });
    let prompt = editor.request("session/prompt", json!({ "sessionId": session, "prompt": [picture] }));
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    assert_eq!(editor.said("agent_message_chunk"), "A dot.");
}

#[test]
fn a_picture_alone_answers_too() {
    let plan = |plan: &str| call("exit_plan_mode", json!({ "plan": plan }));
    let better = json!({ "name": "exit_plan_mode", "arguments": { "plan": "Do it so." } });
    let house = playing(json!([
        plan("Do it all."),
        { "expect": { "last_tool_contains": "(pictures)" }, "say": "Better.", "calls": [better] },
        say("Done."),
    ]));
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    editor.ask("session/set_mode", json!({ "sessionId": session, "modeId": "plan" }));
    let prompt = editor.say(&session, "plan it");
    editor.choose("later");
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    let picture = json!({ "type": "image", "mimeType": "image/png", "data": crate::acp_connection::DOT });
    let prompt = editor.request("session/prompt", json!({ "sessionId": session, "prompt": [picture] }));
    editor.choose("accept");
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
}

#[test]
fn a_question_that_waits_for_words_can_be_stopped_and_a_command_does_not_answer_it() {
    let question = call("ask_user", json!({ "questions": [{ "question": "What is it called?" }] }));
    let house = playing(json!([question, say("Stopped."), question, say("Gone."), say("Reviewed.")]));
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    assert_eq!(editor.prompt(&session, "ask me"), "end_turn");
    editor.notify("session/cancel", json!({ "sessionId": session }));
    editor.find(|message| message["params"]["update"]["status"] == "failed");
    assert_eq!(editor.prompt(&session, "something else"), "end_turn");
    assert!(editor.said("agent_message_chunk").ends_with("Stopped."), "{}", editor.said("agent_message_chunk"));
    assert_eq!(editor.prompt(&session, "ask me again"), "end_turn");
    // What the session does by itself goes on beside it.
    assert_eq!(editor.prompt(&session, "/rename Named"), "end_turn");
    assert_eq!(editor.prompt(&session, "/review"), "end_turn");
    assert!(editor.said("agent_message_chunk").ends_with("Reviewed."), "{}", editor.said("agent_message_chunk"));
}

#[test]
fn a_plan_is_sent_back_with_the_next_message() {
    let plan = |plan: &str| call("exit_plan_mode", json!({ "plan": plan }));
    let house = playing(json!([
        plan("Do it all."),
        { "expect": { "last_tool_contains": "only the parser" }, "say": "Better.", "calls": [
            { "name": "exit_plan_mode", "arguments": { "plan": "Do the parser." } }
        ] },
        say("Done."),
    ]));
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    editor.ask("session/set_mode", json!({ "sessionId": session, "modeId": "plan" }));
    let prompt = editor.say(&session, "plan it");
    editor.choose("later");
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    let prompt = editor.say(&session, "only the parser");
    editor.choose("accept");
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    assert!(editor.said("agent_message_chunk").ends_with("Done."));
}

#[test]
fn a_key_that_the_editor_brings_is_kept() {
    let house = House::empty();
    let mut editor = Editor::open(&house, json!({}));
    let refused = editor.refused("authenticate", json!({ "methodId": "api-key" }));
    assert!(refused["message"].as_str().unwrap().contains("neco login"), "{refused}");
    editor.refused("authenticate", json!({ "methodId": "dance" }));
    let meta = json!({ "provider": "nobody", "apiKey": "sk-test-0123456789" });
    editor.refused("authenticate", json!({ "methodId": "api-key", "_meta": meta }));
    // Nobody listens there, so that nobody says that it is a wrong one.
    house.configure("[model_providers.mine]\ntype = \"openai\"\nbase = \"http://127.0.0.1:9/v1\"\n");
    let key = json!({ "provider": "mine", "apiKey": "sk-test-0123456789" });
    let kept = editor.ask("authenticate", json!({ "methodId": "api-key", "_meta": &key }));
    assert_eq!(kept["_meta"]["tested"], false, "{kept}");
    assert!(kept["_meta"]["note"].as_str().unwrap().contains("mine can't be reached"), "{kept}");
    let has = |key: &str| fs::read_to_string(house.path("home/keys.toml")).unwrap_or_default().contains(key);
    assert!(has("sk-test-0123456789"));
    editor.ask("logout", json!({}));
    assert!(!has("sk-test-0123456789"));
    let nothing = editor.refused("logout", json!({}));
    assert!(nothing["message"].as_str().unwrap().contains("keeps no key"), "{nothing}");
    // Another connection forgets the only one that there is, or the one that is named.
    editor.ask("authenticate", json!({ "methodId": "api-key", "_meta": key }));
    let mut other = Editor::open(&house, json!({}));
    other.ask("logout", json!({}));
    assert!(!has("sk-test-0123456789"));
    editor.ask("authenticate", json!({ "methodId": "api-key", "_meta": key }));
    other.ask("logout", json!({ "_meta": { "provider": "mine" } }));
    assert!(!has("sk-test-0123456789"));
    house.neco(&["--acp", "login", "mine"]).write_stdin("sk-other-0123456789\n").assert().success();
    assert!(fs::read_to_string(house.path("home/keys.toml")).unwrap().contains("sk-other-0123456789"));
}

#[test]
fn that_a_key_is_not_tested_is_told_in_the_next_session() {
    let house = playing(json!([say("Hi.")]));
    let settings = fs::read_to_string(house.path("home/config.toml")).unwrap();
    house
        .configure(&format!("{settings}[model_providers.mine]\ntype = \"openai\"\nbase = \"http://127.0.0.1:9/v1\"\n"));
    let mut editor = Editor::open(&house, json!({}));
    let key = json!({ "provider": "mine", "apiKey": "sk-test-0123456789" });
    editor.ask("authenticate", json!({ "methodId": "api-key", "_meta": key }));
    let session = editor.session(&house);
    assert_eq!(editor.prompt(&session, "hello"), "end_turn");
    let said = editor.said("agent_message_chunk");
    assert!(said.contains("mine can't be reached") && said.ends_with("Hi."), "{said}");
}

#[test]
fn commands_that_mean_the_same_work_in_an_editor() {
    let house = playing(json!([call("write_file", json!({ "path": "new.txt", "content": "hi" })), say("Done.")]));
    let mut editor = Editor::open(&house, json!({}));
    let session = editor.session(&house);
    let prompt = editor.say(&session, "write it");
    editor.choose("once");
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    assert!(house.project().join("new.txt").exists());
    assert_eq!(editor.prompt(&session, "/undo"), "end_turn");
    assert!(!house.project().join("new.txt").exists());
    assert_eq!(editor.prompt(&session, "/rename A new title"), "end_turn");
    let told = editor.updates("session_info_update");
    assert_eq!(told.last().unwrap()["title"], "A new title", "{told:#?}");
    let prompt = json!([{ "type": "text", "text": "/undo now" }]);
    editor.refused("session/prompt", json!({ "sessionId": session, "prompt": prompt }));
}

#[test]
fn a_server_that_the_editor_hands_over_is_used() {
    let house = playing(json!([call("mcp__docs__count", json!({})), say("One.")]));
    let server = house.path("project/server.sh");
    fs::write(&server, crate::mcp_use::SERVER).unwrap();
    let mut editor = Editor::open(&house, json!({}));
    let servers = json!([{ "name": "docs", "command": "sh", "args": [server], "env": [] }]);
    let session = editor.ask("session/new", json!({ "cwd": house.project(), "mcpServers": servers }));
    let session = session["sessionId"].as_str().unwrap().to_owned();
    let prompt = editor.say(&session, "count");
    editor.choose("once");
    assert_eq!(editor.answer(prompt)["result"]["stopReason"], "end_turn");
    let ended = editor.updates("tool_call_update").pop().unwrap();
    assert_eq!((&ended["status"], &ended["rawOutput"]), (&json!("completed"), &json!("1\n")), "{ended}");
}

#[test]
fn prompts_of_a_server_that_the_editor_hands_over_are_commands() {
    let greets = json!({ "expect": { "last_user_contains": "Greet Ann warmly." }, "say": "Hello Ann." });
    let house = playing(json!([greets]));
    let server = house.path("project/server.sh");
    fs::write(&server, crate::mcp_use::SERVER).unwrap();
    let mut editor = Editor::open(&house, json!({}));
    // Another session in the folder has no such server.
    let other = editor.session(&house);
    let servers = json!([{ "name": "docs", "command": "sh", "args": [server], "env": [] }]);
    let session = editor.ask("session/new", json!({ "cwd": house.project(), "mcpServers": servers }));
    let session = session["sessionId"].as_str().unwrap().to_owned();
    let told = editor.find(|message| message.to_string().contains("mcp__docs__greet"));
    let update = &told["params"]["update"];
    assert_eq!(
        (&told["params"]["sessionId"], &update["sessionUpdate"]),
        (&json!(session), &json!("available_commands_update"))
    );
    let commands = update["availableCommands"].as_array().unwrap();
    let greet = commands.iter().find(|command| command["name"] == "mcp__docs__greet").unwrap();
    assert_eq!(
        (&greet["input"]["hint"], &greet["description"]),
        (&json!("who"), &json!("Greets somebody. (MCP docs)"))
    );
    assert!(commands.iter().any(|command| command["name"] == "compact"), "{commands:#?}");
    assert_eq!(editor.prompt(&session, "/mcp__docs__greet Ann"), "end_turn");
    assert!(editor.said("agent_message_chunk").ends_with("Hello Ann."));
    let prompt = json!([{ "type": "text", "text": "/mcp__docs__greet Ann" }]);
    editor.refused("session/prompt", json!({ "sessionId": other, "prompt": prompt }));
}
