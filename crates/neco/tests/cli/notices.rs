//! What a session of the server asks while nobody looks, and the end of its work, told elsewhere.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};

use base64::Engine as _;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::serve::{Serving, user};
use crate::support::{House, call, eventually, say};

/// A house whose notices are lines of a file.
fn house(turns: Value) -> House {
    let house = House::playing(turns);
    let notes = house.path("notices.jsonl");
    also(&house, &format!("command = \"cat >> '{}'; echo >> '{}'\"", notes.display(), notes.display()));
    house
}

fn also(house: &House, settings: &str) {
    let config = std::fs::read_to_string(house.path("home/config.toml")).unwrap();
    house.configure(&format!("{config}\n[notifications]\n{settings}\n"));
}

fn told(house: &House) -> Vec<Value> {
    let text = std::fs::read_to_string(house.path("notices.jsonl")).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}

fn secret_write() -> Value {
    call("write_file", json!({ "path": "a.txt", "content": "the content of a file" }))
}

#[test]
fn what_is_asked_and_the_end_are_told_to_a_command_and_nothing_of_files() {
    let house = house(json!([secret_write(), say("Written, the content of a file.")]));
    let id = house.run(&["-m", "write it", "--background"]).ended_with(0).stdout.trim().to_owned();
    let serving = Serving::there(&house);
    eventually("it is told that it waits", || told(&house).len() == 1);
    let asks = told(&house).remove(0);
    assert_eq!((&asks["what"], asks["session"].as_str().unwrap()), (&json!("asks"), id.as_str()), "{asks}");
    assert!(asks["text"].as_str().unwrap().contains("write_file"), "{asks}");
    assert_eq!(asks["folder"], json!(house.project()));
    let events = serving.events(&id);
    let asked = events.iter().find(|event| event["type"] == "permission_request").unwrap();
    serving.tell(&id, json!({ "type": "approve", "call_id": asked["call_id"], "decision": { "kind": "once" } }));
    eventually("it is told that it is done", || told(&house).iter().any(|notice| notice["what"] == "done"));
    assert!(!json!(told(&house)).to_string().contains("content of a file"), "{:?}", told(&house));
    drop(serving);
}

#[test]
fn whoever_follows_a_session_is_not_told_elsewhere() {
    let house = house(json!([secret_write(), say("Never said.")]));
    let serving = Serving::start(&house, &[]);
    let (watched, alone) = (serving.open(), serving.open());
    let mut follower = TcpStream::connect(serving.url.trim_start_matches("http://")).unwrap();
    let host = serving.url.trim_start_matches("http://");
    let request = format!(
        "GET /api/v1/sessions/{watched}/events HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\n\
         Accept: text/event-stream\r\n\r\n",
        serving.token
    );
    follower.write_all(request.as_bytes()).unwrap();
    serving.tell(&watched, user("write it"));
    // It is there when the question is.
    let mut heard = Vec::new();
    while !String::from_utf8_lossy(&heard).contains("permission_request") {
        let mut piece = [0; 4096];
        let count = follower.read(&mut piece).unwrap();
        assert!(count > 0, "the stream ended");
        heard.extend_from_slice(&piece[..count]);
    }
    serving.tell(&alone, user("write it"));
    eventually("the other is told", || !told(&house).is_empty());
    assert!(told(&house).iter().all(|notice| notice["session"] == json!(alone)), "{:?}", told(&house));
    // Nobody answers now, and whoever followed may never have looked.
    drop(follower);
    eventually("it still waits", || told(&house).iter().any(|notice| notice["session"] == json!(watched)));
    drop(serving);
}

/// HMAC with SHA-256 of a short key.
fn hmac(key: &[u8], message: &str) -> Vec<u8> {
    let pad = |with: u8| -> Vec<u8> { (0..64).map(|at| key.get(at).copied().unwrap_or(0) ^ with).collect() };
    let inner = Sha256::new().chain_update(pad(0x36)).chain_update(message).finalize();
    Sha256::new().chain_update(pad(0x5c)).chain_update(inner).finalize().to_vec()
}

/// A request that somebody makes, its headers in small letters, answered with a status.
fn received(listener: &TcpListener, status: &str) -> (String, String) {
    let (mut stream, _) = listener.accept().unwrap();
    let mut bytes = Vec::new();
    let (head, length) = loop {
        let mut piece = [0; 4096];
        let count = stream.read(&mut piece).unwrap();
        assert!(count > 0, "a request without an end");
        bytes.extend_from_slice(&piece[..count]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let head = head.to_ascii_lowercase();
            let length: usize = header(&head, "content-length").parse().unwrap();
            if body.len() >= length {
                break (head, length);
            }
        }
    };
    write!(stream, "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").unwrap();
    (head, String::from_utf8(bytes[bytes.len() - length..].to_vec()).unwrap())
}

fn header(head: &str, name: &str) -> String {
    let line = head.lines().find_map(|line| line.strip_prefix(&format!("{name}: ")));
    line.unwrap_or_else(|| panic!("{name} is not in {head}")).to_owned()
}

#[test]
fn a_webhook_gets_it_signed_and_again_when_it_was_not_taken() {
    let house = House::playing(json!([say("Done.")]));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    also(
        &house,
        &format!("webhook = \"http://{address}/hook\"\nwebhook_secret_env = \"HOOK\"\nwebhook_private = true"),
    );
    let secret = b"twenty four letters long";
    let coded = base64::engine::general_purpose::STANDARD.encode(secret);
    let mut background = house.neco(&["-m", "do it", "--background"]);
    let background = crate::support::Ran::of(background.env("HOOK", format!("whsec_{coded}"))).ended_with(0);
    let serving = Serving::there(&house);
    let (first, _) = received(&listener, "503 Service Unavailable");
    let (head, body) = received(&listener, "204 No Content");
    assert!(head.starts_with("post /hook "), "{head}");
    let id = header(&head, "webhook-id");
    assert_eq!(header(&first, "webhook-id"), id, "it is the same notice");
    // The name of a notice keeps its small letters, so that the lowered head has it as it was.
    let signed = format!("{id}.{}.{body}", header(&head, "webhook-timestamp"));
    let expected = base64::engine::general_purpose::STANDARD.encode(hmac(secret, &signed));
    assert_eq!(header(&head, "webhook-signature"), format!("v1,{expected}").to_ascii_lowercase());
    let told: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(told["type"], "session.done");
    assert_eq!(told["data"]["session"], json!(background.stdout.trim()));
    drop(serving);
}
