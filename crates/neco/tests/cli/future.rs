//! Sessions that a newer Neco wrote: what this one does not know is kept and passed over.

use std::fs;
use std::io::BufRead;

use serde_json::{Value, json};

use crate::attach::{UNTIL_GO, begun, ended, go, until};
use crate::support::{House, call, say};

/// A session that goes on with `bodies`, as a newer version would have written them; the house and its id.
fn written_by_a_newer_one(bodies: &[Value]) -> (House, String) {
    let house = House::playing(json!([say("Hello from the past.")]));
    let ran = house.run(&["-m", "hello", "--output-format", "json"]).ended_with(0).json();
    let id = ran["session_id"].as_str().unwrap().to_owned();
    let exported = house.run(&["session", "export", &id]).ended_with(0).stdout;
    house.run(&["session", "rm", &id, "--yes"]).ended_with(0);
    let last: Value = serde_json::from_str(exported.lines().last().unwrap()).unwrap();
    let mut text = exported.clone();
    for (body, seq) in bodies.iter().zip(last["seq"].as_u64().unwrap() + 1..) {
        let mut event =
            json!({ "seq": seq, "ts": last["ts"], "session_id": last["session_id"], "agent_id": last["agent_id"] });
        event.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        text.push_str(&format!("{event}\n"));
    }
    let file = house.path("session.jsonl");
    fs::write(&file, text).unwrap();
    house.run(&["session", "import", &file.display().to_string()]).ended_with(0);
    (house, id)
}

fn exported(house: &House, id: &str) -> Vec<Value> {
    let text = house.run(&["session", "export", id]).ended_with(0).stdout;
    text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn events_values_and_fields_of_a_newer_version_are_kept_and_passed_over() {
    let future = [
        json!({ "type": "hologram", "shape": { "edges": 12, "of": ["light", 0.5, null] } }),
        json!({ "type": "error", "code": 7001, "message": "the moon is full" }),
        json!({ "type": "notification", "level": "blinking", "text": "look up" }),
        json!({ "type": "message_queued", "message": { "id": "m", "role": "oracle", "parts": [] } }),
        json!({ "type": "title", "title": "Words of later", "by": "person", "colour": "red" }),
        json!({ "type": "usage", "model": "play/a", "input": 3, "output": 4, "weighs": { "grams": [1, 2] } }),
    ];
    let (house, id) = written_by_a_newer_one(&future);
    let events = exported(&house, &id);
    for body in &future {
        let kept = events.iter().find(|event| event["type"] == body["type"] && is_within(body, event));
        assert!(kept.is_some(), "{body} is not there any more");
    }
    house.run(&["session", "list"]).ended_with(0).says("Words of later");
    house.run(&["session", "show", &id]).ended_with(0).says("Hello from the past.");
    house.run(&["session", "log", &id]).ended_with(0).says("hologram").says("another version of Neco");
    house.run(&["session", "search", "past"]).ended_with(0).says("Hello from the past");
    for format in ["markdown", "html"] {
        house.run(&["session", "export", &id, "--format", format]).ended_with(0).says("Hello from the past.");
    }
    house.script("script.json", json!([{ "say": "And on.", "expect": { "last_user_contains": "go on" } }]));
    let printed = house.run(&["-m", "go on", "--session", &id, "--output-format", "stream-json"]).ended_with(0);
    assert!(printed.events().iter().any(|event| event["type"] == "agent_complete"));
    let after = exported(&house, &id);
    assert_eq!(after[..events.len()], events[..], "what was there stays as it was");
    house.run(&["session", "fork", &id]).ended_with(0);
}

#[test]
fn a_second_process_follows_a_session_of_a_newer_version() {
    let later = json!({ "type": "title", "title": "Words of later", "by": "person", "colour": "red" });
    let (house, id) = written_by_a_newer_one(&[json!({ "type": "hologram" }), later.clone()]);
    let wait = call("bash", json!({ "command": UNTIL_GO, "timeout": 60 }));
    house.script("script.json", json!([wait, say("And on.")]));
    let owner = house.start(&["-m", "drive", "--session", &id, "--yes"]);
    begun(&house);
    let mut guest = house.start(&["-m", "turn left", "--session", &id, "--output-format", "stream-json"]);
    let rest = until(&mut guest, "\"message_queued\"");
    go(&house);
    let rest: String = rest.lines().map_while(Result::ok).collect();
    assert!(rest.contains("And on.") && rest.contains("\"agent_complete\""), "{rest}");
    ended(guest, 0);
    ended(owner, 0);
    assert!(exported(&house, &id).iter().any(|event| is_within(&later, event)));
}

#[test]
fn a_secret_in_a_field_of_a_newer_version_is_not_kept() {
    let key = format!("sk-ant-api03-{}", "Ab1".repeat(30));
    let later = json!({ "type": "title", "title": "Later", "by": "person", "of": { "key": key } });
    let (house, id) = written_by_a_newer_one(&[later]);
    let title = exported(&house, &id).into_iter().find(|event| event["title"] == "Later").unwrap();
    assert!(title["of"]["key"].as_str().unwrap().contains("[redacted"), "{title}");
}

#[test]
fn a_session_that_needs_a_newer_version_can_be_read_and_not_written() {
    let (house, id) = written_by_a_newer_one(&[json!({ "type": "hologram", "needs": 2 })]);
    house.run(&["session", "show", &id]).ended_with(0).says("Hello from the past.");
    let before = exported(&house, &id);
    for refused in [&["-m", "go on", "--session", &id][..], &["session", "rename", &id, "Another"]] {
        house.run(refused).ended_with(2).says("by a newer Neco").says("Update Neco");
    }
    assert_eq!(exported(&house, &id), before);
}

/// Whether every field of `body` is in `event`.
fn is_within(body: &Value, event: &Value) -> bool {
    body.as_object().unwrap().iter().all(|(name, value)| event[name] == *value)
}
