//! Every scenario as blocks: recorded logs in, what people see of them as JSON out. Other reducers are held to the same
//! files.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};

use neco_proto::event::PermissionRequest;
use neco_proto::{Event, EventBody};
use neco_view::reduce::View;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/view")
}

/// The recorded logs by the names of their scenarios.
fn logs() -> Vec<(String, Vec<Event>)> {
    let mut paths: Vec<_> = fs::read_dir(fixtures().join("logs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let events = fs::read_to_string(&path).unwrap();
        (name, events.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    };
    paths.into_iter().map(read).collect()
}

fn json(events: &[Event]) -> String {
    let mut view = View::default();
    events.iter().for_each(|event| drop(view.apply(event)));
    serde_json::to_string_pretty(&view).unwrap() + "\n"
}

#[test]
fn a_recorded_session_is_seen_as_it_was() {
    let logs = logs();
    let record = std::env::var_os("RECORD_VIEWS").is_some();
    for (name, events) in &logs {
        let path = fixtures().join("blocks").join(format!("{name}.json"));
        let seen = json(events);
        if record {
            fs::write(&path, &seen).unwrap();
        }
        let kept = fs::read_to_string(&path).unwrap_or_default();
        assert_eq!(seen, kept, "{name} is seen otherwise; RECORD_VIEWS=1 writes it down anew");
    }
    assert_eq!(fs::read_dir(fixtures().join("blocks")).unwrap().count(), logs.len(), "a view without its log");
}

#[test]
fn what_another_version_wrote_is_passed_over() {
    for (name, events) in logs() {
        let unknown = |event: &Event| {
            let mut json = serde_json::to_value(event).unwrap();
            json["type"] = "from_the_future".into();
            let event: Event = serde_json::from_value(json).unwrap();
            assert!(matches!(event.body, EventBody::Unknown(_)));
            event
        };
        let more: Vec<Event> = events.iter().flat_map(|event| [unknown(event), event.clone()]).collect();
        assert_eq!(json(&more), json(&events), "{name}");
    }
}

#[test]
fn what_was_let_go_of_is_not_missed() {
    for (name, events) in logs() {
        let (mut all, mut few) = (View::default(), View::default());
        for event in &events {
            assert_eq!(few.apply(event), all.apply(event), "{name}, event {}", event.seq);
            drop(few.take_over());
        }
    }
}

#[test]
fn a_call_of_an_agent_that_was_stopped_is_not_asked_about_any_more() {
    let (_, events) = logs().into_iter().find(|(name, _)| name == "agent-asks-the-person").unwrap();
    let undecided: Vec<Event> =
        events.into_iter().filter(|event| !matches!(event.body, EventBody::PermissionDecision(_))).collect();
    let seen = json(&undecided);
    assert!(seen.contains("\"approval\"") && !seen.contains("\"open\": true"), "{seen}");
}

#[test]
fn one_answer_of_two_does_not_end_the_waiting_for_the_person() {
    let (_, events) = logs().into_iter().find(|(name, _)| name == "agent-asks-the-person").unwrap();
    let asks = |view: &View| view.agents.all().any(|node| view.agents.asks(node));
    let mut view = View::default();
    for event in &events {
        view.apply(event);
        match &event.body {
            EventBody::PermissionRequest(request) => {
                let second = PermissionRequest { call_id: "second".into(), ..request.clone() };
                view.apply(&Event { body: EventBody::PermissionRequest(second), ..event.clone() });
                assert!(asks(&view));
            }
            EventBody::PermissionDecision(_) => return assert!(asks(&view)),
            _ => {}
        }
    }
    panic!("nobody was asked");
}
