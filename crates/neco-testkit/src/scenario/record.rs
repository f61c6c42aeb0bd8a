//! The log of a scenario, for tests of what shows sessions: the same every time it is recorded, on any machine.

use std::collections::HashMap;

use jiff::{SignedDuration, Timestamp};
use neco_proto::Event;
use serde_json::Value;

/// When every recorded session begins: 2026-01-01, midnight.
const BEGINNING: Timestamp = Timestamp::constant(1_767_225_600, 0);

/// From one event to the next.
const STEP: SignedDuration = SignedDuration::from_millis(100);

/// What every duration is.
const TOOK_MS: u64 = 40;

/// How many characters an id has.
const ID: usize = 36;

/// How a temporary folder begins, and how many characters follow.
const FOLDER: (&str, usize) = ("/tmp/.tmp", 6);

/// One event a line, with ids, times, durations and folders that depend on nothing but their order.
pub fn recorded(events: &[Event]) -> String {
    let mut names = Names::default();
    let mut lines = String::new();
    let mut ts = BEGINNING;
    for event in events {
        ts = ts.saturating_add(STEP).unwrap_or(ts);
        let event = Event { ts, ..event.clone() };
        let mut json = serde_json::to_value(&event).unwrap_or_default();
        settle(&mut json, &mut names);
        // Read and written once more, so that its fields stand in the order in which the product writes them.
        let event: Result<Event, _> = serde_json::from_value(json);
        lines.extend(event.ok().and_then(|event| serde_json::to_string(&event).ok()));
        lines.push('\n');
    }
    lines
}

fn settle(json: &mut Value, names: &mut Names) {
    match json {
        Value::String(text) => *text = names.replace(text),
        Value::Array(items) => items.iter_mut().for_each(|item| settle(item, names)),
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::Number(_) if name.ends_with("_ms") => *value = TOOK_MS.into(),
                    _ => settle(value, names),
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What stands for the ids and folders that were seen, by the order in which they were.
#[derive(Default)]
struct Names {
    ids: HashMap<String, String>,
    folders: HashMap<String, String>,
}

impl Names {
    fn replace(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let (ids, folders) = (self.ids.len() + 1, self.folders.len());
            rest = if let Some((id, after)) = rest.split_at_checked(ID).filter(|(id, _)| is_id(id)) {
                let name = || format!("01900000-0000-7000-8000-{ids:012}");
                out.push_str(self.ids.entry(id.to_owned()).or_insert_with(name));
                after
            } else if let Some((folder, after)) = folder_at(rest) {
                let name = || if folders == 0 { "/project".to_owned() } else { format!("/data{folders}") };
                out.push_str(self.folders.entry(folder.to_owned()).or_insert_with(name));
                after
            } else {
                let mut chars = rest.chars();
                out.extend(chars.next());
                chars.as_str()
            };
        }
        out
    }
}

fn is_id(text: &str) -> bool {
    text.char_indices().all(|(at, char)| match at {
        8 | 13 | 18 | 23 => char == '-',
        _ => char.is_ascii_hexdigit(),
    })
}

fn folder_at(text: &str) -> Option<(&str, &str)> {
    let (begins, more) = FOLDER;
    let (folder, after) = text.split_at_checked(begins.len() + more)?;
    folder.strip_prefix(begins)?.chars().all(char::is_alphanumeric).then_some((folder, after))
}
