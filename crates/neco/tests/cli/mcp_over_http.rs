//! Neco as an MCP server at an address of `neco serve`: raw requests of both eras, and Neco's own client.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};

use crate::serve::Serving;
use crate::support::{House, Ran};

/// What a client of the new era says with every request.
const NEWER: &str = "2026-07-28";

const OLDER: &str = "2025-11-25";

/// A client of an address.
struct McpClient {
    host: String,
    path: String,
    token: String,
    /// More headers of every request, each a line.
    headers: Vec<String>,
    numbers: u64,
}

/// An answer that is read as it comes.
struct Answer {
    status: u16,
    head: String,
    reader: BufReader<TcpStream>,
}

impl Answer {
    /// The next message of it.
    #[track_caller]
    fn next(&mut self) -> Value {
        let mut line = String::new();
        loop {
            line.clear();
            assert!(self.reader.read_line(&mut line).unwrap() > 0, "no message came: {}", self.head);
            let text = line.trim().strip_prefix("data:").unwrap_or(line.trim()).trim();
            if text.starts_with('{') {
                return serde_json::from_str(text).unwrap();
            }
        }
    }

    fn header(&self, name: &str) -> Option<String> {
        let mut lines = self.head.lines();
        lines
            .find_map(|line| line.split_once(": ").filter(|(own, _)| own.eq_ignore_ascii_case(name)))
            .map(|(_, value)| value.to_owned())
    }
}

impl McpClient {
    fn new(serving: &Serving<'_>, query: &str) -> Self {
        let host = serving.url.trim_start_matches("http://").to_owned();
        let path = format!("/mcp?{query}");
        Self { host, path, token: serving.token.clone(), headers: Vec::new(), numbers: 0 }
    }

    /// With the handshake of the older era.
    fn older(serving: &Serving<'_>, query: &str, capabilities: &Value) -> Self {
        let mut client = Self::new(serving, query);
        let params = json!({
            "protocolVersion": OLDER, "capabilities": capabilities, "clientInfo": { "name": "test", "version": "1" },
        });
        let mut answer = client.ask("initialize", params);
        assert_eq!(answer.status, 200, "{}", answer.head);
        let session = answer.header("mcp-session-id").unwrap();
        assert_eq!(answer.next()["result"]["serverInfo"]["name"], "neco");
        client.headers = vec![format!("Mcp-Session-Id: {session}"), format!("MCP-Protocol-Version: {OLDER}")];
        let told = client.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        assert_eq!(told.status, 202, "{}", told.head);
        client
    }

    fn send(&self, verb: &str, headers: &[String], body: &str) -> Answer {
        let mut stream = TcpStream::connect(&self.host).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let headers: String = self.headers.iter().chain(headers).map(|header| format!("{header}\r\n")).collect();
        let request = format!(
            "{verb} {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
             Accept: application/json, text/event-stream\r\nContent-Length: {}\r\n{headers}Connection: close\r\n\r\n{body}",
            self.path,
            self.host,
            self.token,
            body.len()
        );
        stream.write_all(request.as_bytes()).unwrap();
        let (mut reader, mut head) = (BufReader::new(stream), String::new());
        while !head.ends_with("\r\n\r\n") {
            assert!(reader.read_line(&mut head).unwrap() > 0, "no answer: {head}");
        }
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head, reader }
    }

    fn post(&self, message: &Value) -> Answer {
        self.send("POST", &[], &message.to_string())
    }

    fn ask(&mut self, method: &str, params: Value) -> Answer {
        self.numbers += 1;
        self.post(&json!({ "jsonrpc": "2.0", "id": self.numbers, "method": method, "params": params }))
    }

    /// The same in the newer era: every request says it all, in its headers too.
    fn ask_newer(&mut self, method: &str, mut params: Value) -> Answer {
        self.numbers += 1;
        let mut headers = vec![format!("MCP-Protocol-Version: {NEWER}"), format!("Mcp-Method: {method}")];
        headers.extend(params["name"].as_str().map(|name| format!("Mcp-Name: {name}")));
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": NEWER,
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": { "form": {} } },
        });
        let message = json!({ "jsonrpc": "2.0", "id": self.numbers, "method": method, "params": params });
        self.send("POST", &headers, &message.to_string())
    }
}

fn house() -> House {
    let house = House::empty();
    fs::write(house.project().join("a.txt"), "one\n").unwrap();
    house
}

fn query(house: &House) -> String {
    format!("folder={}&approval=ask_first", house.project().display())
}

fn edit() -> Value {
    json!({ "name": "edit_file", "arguments": { "path": "a.txt", "old_string": "one", "new_string": "two" } })
}

fn read() -> Value {
    json!({ "name": "read_file", "arguments": { "path": "a.txt" } })
}

fn names(answer: &Value) -> Vec<&str> {
    answer["result"]["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

#[test]
fn a_client_of_the_older_era_lists_calls_is_asked_and_leaves() {
    let house = house();
    let serving = Serving::start(&house, &[]);
    let mut client = McpClient::older(&serving, &query(&house), &json!({ "elicitation": { "form": {} } }));
    let listed = client.ask("tools/list", json!({})).next();
    assert!(["bash", "read_file", "run_task"].iter().all(|name| names(&listed).contains(name)), "{listed}");
    let told = client.ask("tools/call", read()).next();
    assert!(told["result"]["content"][0]["text"].as_str().unwrap().contains("one"), "{told}");
    let mut edits = client.ask("tools/call", edit());
    let asked = edits.next();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    let answer = json!({ "action": "accept", "content": { "decision": "allow" } });
    let taken = client.post(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": answer }));
    assert_eq!(taken.status, 202, "{}", taken.head);
    let told = edits.next();
    assert_ne!(told["result"]["isError"], true, "{told}");
    assert_eq!(fs::read_to_string(house.project().join("a.txt")).unwrap(), "two\n");
    let left = client.send("DELETE", &[], "");
    assert!((200..300).contains(&left.status), "{}", left.head);
    assert_eq!(client.ask("tools/list", json!({})).status, 404, "the session is over");
}

#[test]
fn a_client_of_the_newer_era_comes_back_with_the_answer() {
    let house = house();
    let serving = Serving::start(&house, &[]);
    let mut client = McpClient::new(&serving, &query(&house));
    let found = client.ask_newer("server/discover", json!({})).next();
    assert!(found["result"]["supportedVersions"].as_array().unwrap().contains(&json!(NEWER)), "{found}");
    let told = client.ask_newer("tools/call", read()).next();
    assert!(told["result"]["content"][0]["text"].as_str().unwrap().contains("one"), "{told}");
    let asked = client.ask_newer("tools/call", edit()).next();
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    let (key, _) = asked["result"]["inputRequests"].as_object().unwrap().iter().next().unwrap();
    let mut params = edit();
    params["requestState"] = asked["result"]["requestState"].clone();
    params["inputResponses"] = json!({ key.clone(): { "action": "accept", "content": { "decision": "allow" } } });
    let told = client.ask_newer("tools/call", params).next();
    assert_ne!(told["result"]["isError"], true, "{told}");
    assert_eq!(fs::read_to_string(house.project().join("a.txt")).unwrap(), "two\n");
}

#[test]
fn only_whoever_may_work_comes_in_and_nobody_gets_more_than_the_token_may() {
    let house = house();
    let token = |name: &str, scope: &str| {
        let made = house.run(&["serve", "token", "--name", name, "--scope", scope]).ended_with(0);
        made.stdout.trim().to_owned()
    };
    let (reads, steers) = (token("reader", "read"), token("steerer", "steer"));
    let serving = Serving::start(&house, &["--sandbox", "full"]);
    let mut client = McpClient::new(&serving, &query(&house));
    let hello =
        || json!({ "protocolVersion": OLDER, "capabilities": {}, "clientInfo": { "name": "test", "version": "1" } });
    client.token = reads;
    assert_eq!(client.ask("initialize", hello()).status, 403);
    client.token = "neco_wrong".to_owned();
    assert_eq!(client.ask("initialize", hello()).status, 401);
    client.token = serving.token.clone();
    client.headers = vec!["Origin: https://evil.example".to_owned()];
    assert_eq!(client.ask("initialize", hello()).status, 403, "a page of others");
    client.headers.clear();
    client.path = "/mcp".to_owned();
    assert_eq!(client.ask("initialize", hello()).status, 400, "no folder");
    let loose = format!("folder={}&approval=auto&run_task=false&tools=read_file,edit_file", house.project().display());
    let mut loosened = McpClient::older(&serving, &loose, &json!({}));
    assert_eq!(names(&loosened.ask("tools/list", json!({})).next()), ["read_file", "edit_file"]);
    let mut steerer = McpClient::new(&serving, &loose);
    steerer.token = steers;
    let session = steerer.ask("initialize", hello()).header("mcp-session-id").unwrap();
    steerer.headers = vec![format!("Mcp-Session-Id: {session}"), format!("MCP-Protocol-Version: {OLDER}")];
    steerer.post(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    let told = steerer.ask("tools/call", read()).next();
    assert_eq!(told["result"]["isError"], true, "auto needs more than this token: {told}");
    loosened.ask("tools/call", read()).next();
    let told = loosened.ask("tools/call", edit()).next();
    assert_ne!(told["result"]["isError"], true, "{told}");
    // The session of one token is none of another.
    loosened.token = steerer.token.clone();
    assert_eq!(loosened.ask("tools/list", json!({})).status, 404);
    // A command that nothing holds is not allowed by a yes of its own, and does not wait for ever.
    let mut allows = McpClient::new(&serving, &format!("folder={}", house.project().display()));
    allows.token = steerer.token.clone();
    let mut params = json!({ "name": "bash", "arguments": { "command": "touch made", "timeout": 20 } });
    let asked = allows.ask_newer("tools/call", params.clone()).next();
    let (key, _) = asked["result"]["inputRequests"].as_object().unwrap().iter().next().unwrap();
    params["requestState"] = asked["result"]["requestState"].clone();
    params["inputResponses"] = json!({ key.clone(): { "action": "accept", "content": { "decision": "allow" } } });
    let told = allows.ask_newer("tools/call", params).next();
    assert!(told["result"]["isError"] == true && told.to_string().contains("may only steer"), "{told}");
    assert!(!house.project().join("made").exists());
}

#[test]
fn the_address_is_printed_and_our_own_client_comes_to_it() {
    let house = house();
    let serving = Serving::start(&house, &[]);
    let printed = house.run(&["mcp", "serve", "--http", "--tools", "read*"]).ended_with(0);
    let url = printed.stdout.lines().next().unwrap().to_owned();
    assert!(url.starts_with(&format!("{}/mcp?folder=", serving.url)) && url.ends_with("&tools=read*"), "{url}");
    printed.says("claude mcp add --transport http");
    house.run(&["mcp", "serve", "--http", "--tools", "teleport"]).ended_with(2).says("there is no tool teleport");
    house.run(&["mcp", "serve", "--http", "--allow", "bash"]).ended_with(2).says("neco serve");
    let other = House::empty();
    other.configure(&format!("[mcp_servers.afar]\nurl = \"{url}\"\nbearer_token_env_var = \"AFAR\"\n"));
    let test = |token: &str| Ran::of(other.neco(&["mcp", "test", "afar"]).env("AFAR", token));
    test(&serving.token).ended_with(0).says("read_file");
    assert_ne!(test("neco_wrong").code, 0);
}

#[test]
fn the_end_of_the_server_ends_a_call_that_waits() {
    let house = house();
    let serving = Serving::start(&house, &[]);
    let mut client = McpClient::older(&serving, &query(&house), &json!({ "elicitation": { "form": {} } }));
    client.ask("tools/call", read()).next();
    let mut edits = client.ask("tools/call", edit());
    assert_eq!(edits.next()["method"], "elicitation/create");
    house.run(&["serve", "stop"]).ended_with(0);
    let mut rest = String::new();
    let _ = edits.reader.read_to_string(&mut rest);
    assert_eq!(fs::read_to_string(house.project().join("a.txt")).unwrap(), "one\n");
    drop(serving);
}
