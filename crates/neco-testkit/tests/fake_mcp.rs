//! The fake server of the Model Context Protocol keeps to the rules of its era: only then do tests against it count.

#![allow(clippy::unwrap_used, reason = "tests stop at the first thing that is wrong")]

use std::io::{BufRead, BufReader, Lines, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// A client that writes and reads lines.
struct Client {
    child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    last_id: u64,
}

impl Client {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fake-mcp"));
        let mut child = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        Self { child, input, lines, last_id: 0 }
    }

    fn initialized() -> Self {
        let mut client = Self::start(&[]);
        client.initialize("2025-11-25");
        client
    }

    fn initialize(&mut self, version: &str) -> Value {
        let params = json!({
            "protocolVersion": version,
            "capabilities": { "elicitation": {} },
            "clientInfo": { "name": "test", "version": "1" },
        });
        let answer = self.ask("initialize", params);
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        answer
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.input, "{message}").unwrap();
    }

    fn request(&mut self, method: &str, params: Value) -> u64 {
        self.last_id += 1;
        self.send(&json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params }));
        self.last_id
    }

    fn receive(&mut self) -> Value {
        serde_json::from_str(&self.lines.next().unwrap().unwrap()).unwrap()
    }

    fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.request(method, params);
        let answer = self.receive();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

/// Parameters with what a modern request must say of its client.
fn modern(mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
    });
    params
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap()
}

#[test]
fn the_legacy_era_begins_with_initialize() {
    let mut client = Client::start(&["--era", "legacy"]);
    assert_eq!(client.ask("server/discover", modern(json!({})))["error"]["code"], -32600);
    assert_eq!(client.ask("tools/list", json!({}))["error"]["code"], -32600);
    assert_eq!(client.initialize("2025-06-18")["result"]["protocolVersion"], "2025-06-18");
    let echo = client.ask("tools/call", json!({ "name": "echo", "arguments": { "text": "hello" } }));
    assert_eq!(text(&echo), "hello");
    assert_eq!(echo["result"].get("resultType"), None);
}

#[test]
fn a_version_that_is_too_new_for_initialize_is_answered_with_the_newest_that_has_it() {
    let mut client = Client::start(&["--era", "both"]);
    assert_eq!(client.initialize("2026-07-28")["result"]["protocolVersion"], "2025-11-25");
}

#[test]
fn a_legacy_server_asks_in_the_middle_of_a_call() {
    let mut client = Client::initialized();
    let id = client.request("tools/call", json!({ "name": "ask" }));
    let question = client.receive();
    assert_eq!(question["method"], "elicitation/create");
    let accepted = json!({ "action": "accept", "content": { "name": "x", "color": "red" } });
    client.send(&json!({ "jsonrpc": "2.0", "id": question["id"], "result": accepted }));
    let answer = client.receive();
    assert_eq!(answer["id"], id);
    assert_eq!(serde_json::from_str::<Value>(text(&answer)).unwrap(), accepted);
}

#[test]
fn the_modern_era_wants_to_know_who_asks() {
    let mut client = Client::start(&["--era", "modern"]);
    assert_eq!(client.ask("initialize", json!({}))["error"]["code"], -32601);
    assert_eq!(client.ask("tools/list", json!({}))["error"]["code"], -32602);
    let found = client.ask("server/discover", modern(json!({})));
    assert_eq!(found["result"]["supportedVersions"], json!(["2026-07-28"]));
    assert_eq!(found["result"]["resultType"], "complete");
    let tools = client.ask("tools/list", modern(json!({})));
    assert_eq!(tools["result"]["ttlMs"], 60_000);
    assert_eq!(tools["result"]["cacheScope"], "private");
}

#[test]
fn a_modern_server_says_what_is_missing_and_takes_each_state_back_once() {
    let mut client = Client::start(&["--era", "modern"]);
    let missing = client.ask("tools/call", modern(json!({ "name": "ask" })));
    assert_eq!(missing["result"]["resultType"], "input_required");
    assert_eq!(missing["result"]["inputRequests"]["answer"]["method"], "elicitation/create");
    let again = modern(json!({
        "name": "ask",
        "inputResponses": { "answer": { "action": "decline" } },
        "requestState": missing["result"]["requestState"],
    }));
    let answer = client.ask("tools/call", again.clone());
    assert_eq!(answer["result"]["resultType"], "complete");
    assert_eq!(text(&answer), r#"{"action":"decline"}"#);
    assert_eq!(client.ask("tools/call", again)["error"]["code"], -32602);
}

#[test]
fn who_listens_hears_of_new_tools() {
    let mut client = Client::start(&["--era", "modern"]);
    let id = client.request("subscriptions/listen", modern(json!({ "notifications": { "toolsListChanged": true } })));
    let acknowledged = client.receive();
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged");
    assert_eq!(acknowledged["params"]["notifications"], json!({ "toolsListChanged": true }));
    client.request("tools/call", modern(json!({ "name": "grow" })));
    let changed = client.receive();
    assert_eq!(changed["method"], "notifications/tools/list_changed");
    assert_eq!(changed["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"], id);
}

#[test]
fn a_cancelled_call_is_not_answered_but_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let record = folder.path().join("record");
    let mut client = Client::start(&["--record", record.to_str().unwrap()]);
    client.initialize("2025-11-25");
    let id = client.request("tools/call", json!({ "name": "slow", "arguments": { "ms": 60_000 } }));
    client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } }));
    waits_for(&record, "cancelled");
    waits_for(&record, &format!("started {}", client.child.id()));
    client.ask("ping", json!({}));
}

fn waits_for(record: &Path, line: &str) {
    let end = Instant::now() + Duration::from_secs(20);
    while !std::fs::read_to_string(record).unwrap_or_default().lines().any(|each| each == line) {
        assert!(Instant::now() < end, "{line} is not in the record");
        std::thread::sleep(Duration::from_millis(10));
    }
}
