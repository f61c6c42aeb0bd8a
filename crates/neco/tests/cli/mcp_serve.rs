//! Neco as an MCP server: raw lines of both eras on its stdin and stdout.

use std::fs;
use std::io::Read;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::peer::Peer;
use crate::support::{House, call, eventually, lives, say};

/// What a client of the new era says with every request.
const NEWER: &str = "2026-07-28";

/// A client that speaks in lines.
struct McpClient {
    peer: Peer,
    /// What every request says of the client, in the new era.
    meta: Option<Value>,
}

impl McpClient {
    fn start(house: &House, flags: &[&str]) -> Self {
        let arguments = [&["mcp", "serve"][..], flags].concat();
        Self { peer: Peer::start(house, &arguments, Stdio::piped()), meta: None }
    }

    /// With the handshake of the older era.
    fn older(house: &House, flags: &[&str], capabilities: &Value) -> Self {
        let mut client = Self::start(house, flags);
        let params = json!({
            "protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": { "name": "test", "version": "1" },
        });
        let id = client.request("initialize", params);
        let answer = client.answer(id);
        assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
        assert_eq!(answer["result"]["serverInfo"]["name"], "neco");
        client.write(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }).to_string());
        client
    }

    /// Without one: every request says it all.
    fn newer(house: &House, flags: &[&str], capabilities: &Value) -> Self {
        let mut client = Self::start(house, flags);
        client.meta = Some(json!({
            "io.modelcontextprotocol/protocolVersion": NEWER,
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        }));
        client
    }

    fn write(&mut self, line: &str) {
        self.peer.write(line);
    }

    fn request(&mut self, method: &str, mut params: Value) -> u64 {
        let id = self.peer.number();
        if let Some(meta) = &self.meta {
            let mut meta = meta.clone();
            meta["progressToken"] = json!(id);
            params["_meta"] = meta;
        } else if method == "tools/call" {
            params["_meta"] = json!({ "progressToken": id });
        }
        self.write(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string());
        id
    }

    fn call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.request("tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// The next message that fits; others are kept.
    #[track_caller]
    fn find(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        self.peer.find(fits, |_| {})
    }

    #[track_caller]
    fn answer(&mut self, id: u64) -> Value {
        self.find(|message| message["id"] == id && message.get("method").is_none())
    }

    /// The text of what a call came to, and whether it failed.
    #[track_caller]
    fn result(&mut self, id: u64) -> (String, bool) {
        let answer = self.answer(id);
        let result = &answer["result"];
        let text = result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"));
        (text.to_owned(), result["isError"] == true)
    }

    /// The question that the older era asks, answered.
    #[track_caller]
    fn reply(&mut self, answer: &Value) -> Value {
        let asked = self.find(|message| message["method"] == "elicitation/create");
        self.write(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer }).to_string());
        asked
    }

    #[track_caller]
    fn end(mut self) -> String {
        self.peer.say_no_more();
        let mut stderr = String::new();
        self.peer.child.stderr.take().unwrap().read_to_string(&mut stderr).unwrap();
        assert_eq!(self.peer.child.wait().unwrap().code(), Some(0), "{stderr}");
        stderr
    }
}

fn forms() -> Value {
    json!({ "elicitation": { "form": {} } })
}

fn allow() -> Value {
    json!({ "action": "accept", "content": { "decision": "allow" } })
}

fn house() -> House {
    let house = House::empty();
    fs::write(house.project().join("a.txt"), "one\n").unwrap();
    house
}

fn edit() -> Value {
    json!({ "path": "a.txt", "old_string": "one", "new_string": "two" })
}

fn text_of(house: &House) -> String {
    fs::read_to_string(house.project().join("a.txt")).unwrap()
}

fn names(answer: &Value) -> Vec<String> {
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn tools_are_listed_and_read_without_a_model_in_both_eras() {
    let house = house();
    for newer in [false, true] {
        let mut client = match newer {
            true => McpClient::newer(&house, &[], &json!({})),
            false => McpClient::older(&house, &[], &json!({})),
        };
        if newer {
            let id = client.request("server/discover", json!({}));
            let answer = client.answer(id);
            let versions = answer["result"]["supportedVersions"].as_array().unwrap();
            assert!(versions.contains(&json!(NEWER)), "{answer}");
        }
        let id = client.request("tools/list", json!({}));
        let listed = client.answer(id);
        let names = names(&listed);
        for name in ["bash", "read_file", "write_file", "edit_file", "grep", "glob", "run_task"] {
            assert!(names.iter().any(|one| one == name), "{name} is not in {names:?}");
        }
        for name in ["activate", "todo_write", "spawn_agent"] {
            assert!(!names.iter().any(|one| one == name), "{name} needs an agent");
        }
        let read =
            listed["result"]["tools"].as_array().unwrap().iter().find(|tool| tool["name"] == "read_file").unwrap();
        assert_eq!(
            (&read["inputSchema"]["type"], &read["annotations"]["readOnlyHint"]),
            (&json!("object"), &json!(true))
        );
        let id = client.call("read_file", json!({ "path": "a.txt" }));
        let (text, failed) = client.result(id);
        assert!(text.contains("one") && !failed, "{text}");
        client.end();
    }
    let sessions = house.run(&["session", "list", "--json"]).ended_with(0);
    assert!(sessions.stdout.contains("Call read_file"), "the calls are in a session: {}", sessions.stdout);
}

#[test]
fn only_the_tools_that_are_named_are_offered() {
    let house = house();
    let mut client = McpClient::older(&house, &["--tools", "read*,grep", "--no-run-task"], &json!({}));
    let id = client.request("tools/list", json!({}));
    let answer = client.answer(id);
    assert_eq!(names(&answer), ["read_file", "grep"], "{answer}");
    let id = client.call("bash", json!({ "command": "true" }));
    assert_eq!(client.answer(id)["error"]["code"], -32602);
    client.end();
    let none = house.neco(&["mcp", "serve", "--tools", "teleport"]).write_stdin("").output().unwrap();
    let told = String::from_utf8_lossy(&none.stderr).into_owned();
    assert!(none.status.code() == Some(2) && told.contains("there is no tool teleport"), "{told}");
    assert!(none.stdout.is_empty());
}

#[test]
fn what_the_rules_ask_about_is_asked_of_the_client_of_the_older_era() {
    let house = house();
    let mut client = McpClient::older(&house, &["--approval", "ask_first"], &forms());
    let id = client.call("read_file", json!({ "path": "a.txt" }));
    client.result(id);
    let id = client.call("edit_file", edit());
    let refused = json!({ "action": "accept", "content": { "decision": "refuse", "reason": "not this file" } });
    let asked = client.reply(&refused);
    let message = asked["params"]["message"].as_str().unwrap();
    assert!(message.contains("a.txt") && message.contains("+two"), "{message}");
    let (text, failed) = client.result(id);
    assert!(failed && text.contains("not this file"), "{text}");
    assert_eq!(text_of(&house), "one\n");
    let id = client.call("edit_file", edit());
    client.reply(&allow());
    let (text, failed) = client.result(id);
    assert!(!failed, "{text}");
    assert_eq!(text_of(&house), "two\n");
    client.end();
}

#[test]
fn a_client_of_the_newer_era_comes_back_with_the_answer() {
    let house = house();
    let mut client = McpClient::newer(&house, &["--approval", "ask_first"], &forms());
    let id = client.call("read_file", json!({ "path": "a.txt" }));
    client.result(id);
    for (answer, after) in [(json!({ "action": "decline" }), "one\n"), (allow(), "two\n")] {
        let id = client.call("edit_file", edit());
        let asked = client.answer(id);
        assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
        let (key, request) = asked["result"]["inputRequests"].as_object().unwrap().iter().next().unwrap();
        assert_eq!(request["method"], "elicitation/create");
        let state = asked["result"]["requestState"].clone();
        let params = json!({
            "name": "edit_file", "arguments": edit(), "requestState": state, "inputResponses": { key.clone(): answer },
        });
        let id = client.request("tools/call", params.clone());
        client.result(id);
        assert_eq!(text_of(&house), after);
        let id = client.request("tools/call", params);
        assert_eq!(client.answer(id)["error"]["code"], -32602, "a word counts once");
    }
    client.end();
}

#[test]
fn a_call_that_waits_for_an_answer_holds_up_no_other() {
    let house = house();
    fs::write(house.project().join("b.txt"), "one\n").unwrap();
    for newer in [false, true] {
        let mut client = match newer {
            true => McpClient::newer(&house, &["--approval", "ask_first"], &forms()),
            false => McpClient::older(&house, &["--approval", "ask_first"], &forms()),
        };
        let id = client.call("read_file", json!({ "path": "a.txt" }));
        client.result(id);
        let waits = client.call("edit_file", edit());
        let asked = client.find(|message| match newer {
            true => message["result"]["resultType"] == "input_required",
            false => message["method"] == "elicitation/create",
        });
        assert!(asked.to_string().contains("a.txt"), "{asked}");
        if !newer {
            let id = client.request("ping", json!({}));
            assert!(client.answer(id).get("result").is_some(), "the newer era has no such request");
        }
        let id = client.call("read_file", json!({ "path": "b.txt" }));
        assert!(client.result(id).0.contains("one"), "it is read while the other waits");
        if !newer {
            client.write(
                &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": waits } })
                    .to_string(),
            );
        }
        client.end();
        assert_eq!(text_of(&house), "one\n");
    }
}

#[test]
fn what_one_call_has_read_another_knows_that_is_made_beside_it() {
    let house = house();
    fs::write(house.project().join("b.txt"), "one\n").unwrap();
    let flags = ["--allow", "bash", "--allow", "edit_file", "--sandbox=full"];
    let mut client = McpClient::older(&house, &flags, &json!({}));
    let command = "touch begun; while [ ! -e over ]; do sleep 0.05; done";
    let runs = client.call("bash", json!({ "command": command, "timeout": 300 }));
    eventually("the command runs", || house.project().join("begun").exists());
    let id = client.call("read_file", json!({ "path": "b.txt" }));
    assert!(!client.result(id).1);
    fs::write(house.project().join("over"), "").unwrap();
    assert!(!client.result(runs).1);
    // The first session is free again, and this is made in it.
    let id = client.call("edit_file", json!({ "path": "b.txt", "old_string": "one", "new_string": "two" }));
    let (text, failed) = client.result(id);
    assert!(!failed, "{text}");
    client.end();
    assert_eq!(fs::read_to_string(house.project().join("b.txt")).unwrap(), "two\n");
}

#[test]
fn a_client_that_can_ask_nobody_is_told_what_would_allow_it() {
    let house = house();
    let mut client = McpClient::older(&house, &["--approval", "ask_first"], &json!({}));
    let id = client.call("write_file", json!({ "path": "b.txt", "content": "x" }));
    let (text, failed) = client.result(id);
    assert!(failed && text.contains("--allow"), "{text}");
    assert!(!house.project().join("b.txt").exists());
    client.end();
}

#[test]
fn a_command_is_told_of_while_it_runs_and_ends_when_it_is_cancelled() {
    let house = house();
    let mut client = McpClient::older(&house, &["--allow", "bash", "--sandbox=full"], &json!({}));
    let command = "echo begun; sleep 60.0811";
    let id = client.call("bash", json!({ "command": command, "timeout": 300 }));
    let progress = client.find(|message| {
        message["method"] == "notifications/progress"
            && message["params"]["message"].as_str().unwrap().contains("begun")
    });
    assert_eq!(progress["params"]["progressToken"], id);
    client.write(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }).to_string(),
    );
    eventually("the command is gone", || !lives("60.0811"));
    let id = client.call("read_file", json!({ "path": "a.txt" }));
    assert!(client.result(id).0.contains("one"), "the next call is made");
    client.end();
}

#[test]
fn a_task_is_run_by_an_agent_in_a_session() {
    let house = House::playing(json!([
        call("write_file", json!({ "path": "c.txt", "content": "three\n" })),
        say("I wrote c.txt."),
    ]));
    let mut client = McpClient::older(&house, &["--approval", "ask_first"], &forms());
    let id = client.call("run_task", json!({ "task": "write three into c.txt" }));
    client.reply(&allow());
    let answer = client.answer(id);
    let result = &answer["result"];
    assert_eq!(result["content"][0]["text"], "I wrote c.txt.", "{answer}");
    assert_eq!(fs::read_to_string(house.project().join("c.txt")).unwrap(), "three\n");
    let told = client.find(|message| message["method"] == "notifications/progress");
    assert!(told["params"]["message"].as_str().unwrap().contains("c.txt"), "{told}");
    let session = result["structuredContent"]["session_id"].as_str().unwrap().to_owned();
    for wrong in [json!({}), json!({ "task": "# " }), json!({ "task": 5 }), json!({ "task": "x", "model": 5 })] {
        let id = client.call("run_task", wrong.clone());
        assert!(client.result(id).1, "{wrong}");
    }
    client.end();
    let sessions = house.run(&["session", "list", "--json"]).ended_with(0);
    assert!(sessions.stdout.contains(&session), "{}", sessions.stdout);
}

#[test]
fn a_resource_that_a_task_names_stays_a_name() {
    let house = crate::mcp_use::house(json!([say("Done.")]));
    let mut client = McpClient::older(&house, &[], &json!({}));
    let id = client.call("run_task", json!({ "task": "read @docs:doc://start" }));
    assert_eq!(client.result(id), ("Done.".to_owned(), false));
    client.end();
    assert!(!house.path("server.sh.read").exists(), "nobody here wrote that it be read");
}

#[test]
fn a_task_that_is_cancelled_stops_and_what_it_said_stays() {
    let command = "touch begun; sleep 60.0812";
    let house = House::playing(json!([call("bash", json!({ "command": command, "timeout": 300 })), say("never said")]));
    let mut client = McpClient::older(&house, &["--allow", "bash", "--sandbox=full"], &json!({}));
    let id = client.call("run_task", json!({ "task": "wait for it" }));
    eventually("the command runs", || house.project().join("begun").exists());
    client.write(
        &json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }).to_string(),
    );
    eventually("the command is gone", || !lives("60.0812"));
    client.end();
    house.run(&["session", "list"]).ended_with(0).says("wait for it");
}

#[test]
fn the_end_of_stdin_ends_what_runs() {
    let house = house();
    let mut client = McpClient::older(&house, &["--allow", "bash", "--sandbox=full"], &json!({}));
    let command = "touch begun; sleep 60.0813";
    client.call("bash", json!({ "command": command, "timeout": 300 }));
    eventually("the command runs", || house.project().join("begun").exists());
    client.end();
    assert!(!lives("60.0813"), "it is gone with the server");
    house.run(&["session", "list"]).ended_with(0).says("Call bash");
}

#[test]
fn whatever_a_client_writes_the_next_line_is_answered() {
    let house = house();
    let mut client = McpClient::older(&house, &[], &json!({}));
    client.write("npm warn deprecated");
    assert_eq!(client.find(|message| message.get("error").is_some())["error"]["code"], -32700);
    client.write(&format!("{}{}", "[".repeat(10_000), "]".repeat(10_000)));
    assert_eq!(client.find(|message| message.get("error").is_some())["error"]["code"], -32700);
    client.write(&format!(r#"{{"jsonrpc":"2.0","id":"long","method":"{}"}}"#, "x".repeat(9 * 1024 * 1024)));
    assert_eq!(client.find(|message| message["id"] == "long")["error"]["code"], -32600);
    client.write(r#"{"jsonrpc":"2.0","id":"wrong","method":"tools/call","params":{"name":5}}"#);
    assert_eq!(client.find(|message| message["id"] == "wrong")["error"]["code"], -32602);
    client.write(r#"{"jsonrpc":"2.0","id":"other","method":"no/such"}"#);
    assert_eq!(client.find(|message| message["id"] == "other")["error"]["code"], -32601);
    let id = client.call("teleport", json!({}));
    assert_eq!(client.answer(id)["error"]["code"], -32602);
    let id = client.call("read_file", json!({ "path": 5, "lines": "all" }));
    let (text, failed) = client.result(id);
    assert!(failed, "{text}");
    let id = client.call("read_file", json!({ "path": "a.txt" }));
    assert!(!client.result(id).1);
    client.end();
}
