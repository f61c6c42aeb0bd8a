//! What an editor must have been told of what happened in a session.

use std::collections::HashMap;

use neco_proto::event::CallStatus;
use neco_proto::{Event, EventBody, Role};
use serde_json::Value;

/// What the root said to the end.
fn answers(events: &[Event]) -> Vec<String> {
    let root = events[0].agent_id;
    let said = events.iter().filter(|event| event.agent_id == root).filter_map(|event| match &event.body {
        EventBody::Message(message) if message.role == Role::Assistant => Some(message.text()),
        _ => None,
    });
    said.filter(|text| !text.trim().is_empty()).collect()
}

/// How every call ended.
fn ends(events: &[Event]) -> HashMap<String, &'static str> {
    let end = |event: &Event| match &event.body {
        EventBody::ToolCallEnd(end) => {
            let status = if end.status == CallStatus::Success { "completed" } else { "failed" };
            Some((end.call_id.to_string(), status))
        }
        _ => None,
    };
    events.iter().filter_map(end).collect()
}

/// Everything that was told in updates of a kind.
fn told(updates: &[Value], kind: &str) -> String {
    let of_kind = updates.iter().filter(|update| update["sessionUpdate"] == kind);
    of_kind.filter_map(|update| update["content"]["text"].as_str()).collect()
}

/// How the calls stand that the editor was told of.
fn statuses(updates: &[Value]) -> HashMap<String, String> {
    let mut statuses = HashMap::new();
    for update in updates.iter().filter(|update| update["toolCallId"].is_string()) {
        let id = update["toolCallId"].as_str().unwrap().to_owned();
        assert!(
            statuses.contains_key(&id) || update["sessionUpdate"] == "tool_call",
            "an update of a call that nobody knows: {update}"
        );
        let status = update["status"].as_str().unwrap_or("pending").to_owned();
        if update["status"].is_string() || !statuses.contains_key(&id) {
            statuses.insert(id, status);
        }
    }
    statuses
}

/// That the editor knows what was said, in order, and how every call ended.
#[track_caller]
pub fn holds(name: &str, events: &[Event], updates: &[Value]) {
    let all = told(updates, "agent_message_chunk");
    let mut rest = all.as_str();
    for answer in answers(events) {
        let at = rest.find(&answer);
        let at = at.unwrap_or_else(|| panic!("{name}: {answer:?} is not told: {all}"));
        rest = rest.get(at + answer.len()..).unwrap();
    }
    let statuses = statuses(updates);
    for (id, status) in ends(events) {
        assert_eq!(statuses.get(&id).map(String::as_str), Some(status), "{name}: {id} {statuses:#?}");
    }
    let todos = events.iter().rev().find_map(|event| match &event.body {
        EventBody::TodoUpdate(update) if event.agent_id == events[0].agent_id => Some(update.todos.len()),
        _ => None,
    });
    let plans = updates.iter().rev().find(|update| update["sessionUpdate"] == "plan");
    if let (Some(todos), Some(plan)) = (todos, plans) {
        assert_eq!(plan["entries"].as_array().unwrap().len(), todos, "{name}");
    }
}
