//! What must hold after a kill.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

use neco_proto::event::CallStatus;
use neco_proto::{Event, EventBody, Part, Role};
use neco_store::{Catalog, EventLog, SqliteStore};
use serde_json::Value;

use crate::support::House;
use crate::{FILES, file};

/// By then nothing stands in for anything any more.
const CLEANED: Duration = Duration::from_secs(10);

/// What was found right so far.
#[derive(Default)]
pub struct Verdict {
    pub last_seq: u64,
    pub acknowledged: usize,
    pub calls: usize,
    pub files: usize,
}

impl Verdict {
    /// Looks at the house after a kill.
    pub async fn add(&mut self, house: &House, round: usize, printed: &[Value], what: &str) {
        let events = events(house, what).await;
        let acknowledged = acknowledged(printed);
        for line in printed {
            let seq = line["seq"].as_u64().unwrap();
            match events.get(seq as usize - 1) {
                Some(event) => assert_eq!(serde_json::to_value(event).unwrap(), *line, "{what}"),
                None => {
                    assert!(!acknowledged.contains(&seq), "{what}: event {seq} was acknowledged and is gone: {line}")
                }
            }
        }
        self.acknowledged += acknowledged.len();
        self.last_seq = events.len() as u64;
        self.files += whole_files(house, round, &events, what);
        self.calls = closed_calls(&events, what).0;
    }

    /// Looks at it when a last process has come to its end.
    pub async fn end(&mut self, house: &House, what: &str) {
        let events = events(house, what).await;
        let (closed, open) = closed_calls(&events, what);
        assert_eq!(open, [] as [String; 0], "{what}: they have no result");
        self.calls = closed;
    }
}

async fn events(house: &House, what: &str) -> Vec<Event> {
    let store = SqliteStore::open(&house.path("home/data/neco.db")).await.unwrap();
    assert!(store.set_aside().is_none(), "{what}: {:?}", store.set_aside());
    let sessions = store.list(None, 9).await.unwrap();
    assert!(sessions.len() <= 1, "{what}: {sessions:?}");
    let events = match sessions.first() {
        Some(record) => store.read(record.id, 0, usize::MAX).await.unwrap(),
        None => Vec::new(),
    };
    store.close().await.unwrap();
    let seqs: Vec<u64> = events.iter().map(|event| event.seq).collect();
    assert_eq!(seqs, (1..=events.len() as u64).collect::<Vec<_>>(), "{what}");
    events
}

/// The events of which the one who read them knows that they are on the disk: all that can be acted on, and what
/// came before them.
fn acknowledged(printed: &[Value]) -> BTreeSet<u64> {
    let lasts = |line: &Value| !serde_json::from_value::<Event>(line.clone()).unwrap().body.is_passing();
    let upto = printed.iter().rposition(lasts).map_or(0, |index| index + 1);
    printed[..upto].iter().filter_map(|line| line["seq"].as_u64()).collect()
}

/// The calls of the model by id, with their arguments.
fn calls(events: &[Event]) -> BTreeMap<String, String> {
    parts(events)
        .filter_map(|part| match part {
            Part::ToolCall(call) => Some((call.id.to_string(), call.arguments.clone())),
            _ => None,
        })
        .collect()
}

/// How many calls have their result, and those that have none yet. Whenever somebody says something, every call
/// before it has its result: a conversation that can be sent to any model.
fn closed_calls(events: &[Event], what: &str) -> (usize, Vec<String>) {
    let (mut closed, mut open) = (0, Vec::new());
    for event in events {
        match &event.body {
            EventBody::Message(message) => {
                let is_said = message.role == Role::User;
                assert!(!is_said || open.is_empty(), "{what}: event {}: {open:?} are open", event.seq);
                open.extend(message.tool_calls().map(|call| call.id.to_string()));
            }
            EventBody::ToolCallEnd(end) => {
                let id = end.call_id.to_string();
                let at = open.iter().position(|call| *call == id);
                open.remove(at.unwrap_or_else(|| panic!("{what}: a result of {id}, which nobody called")));
                closed += 1;
            }
            _ => {}
        }
    }
    (closed, open)
}

fn parts(events: &[Event]) -> impl Iterator<Item = &Part> {
    events.iter().flat_map(|event| match &event.body {
        EventBody::Message(message) => message.parts.as_slice(),
        _ => &[],
    })
}

/// How many files are there; each is whole, and one that a call has begun to write.
fn whole_files(house: &House, round: usize, events: &[Event], what: &str) -> usize {
    let calls = calls(events);
    let path_of = |id: &str| {
        let arguments: Value = serde_json::from_str(calls.get(id)?).ok()?;
        arguments["path"].as_str().map(str::to_owned)
    };
    let (mut begun, mut done) = (BTreeSet::new(), BTreeSet::new());
    for event in events {
        match &event.body {
            EventBody::ToolCallUpdate(update) if update.status == CallStatus::Executing => {
                begun.extend(path_of(&update.call_id.to_string()));
            }
            EventBody::ToolCallEnd(end) if end.status == CallStatus::Success => {
                done.extend(path_of(&end.call_id.to_string()));
            }
            _ => {}
        }
    }
    let mut there = BTreeSet::new();
    for round in 0..=round {
        for (name, content) in (0..FILES).map(|number| file(round, number)) {
            let Ok(found) = std::fs::read_to_string(house.project().join(&name)) else { continue };
            assert_eq!(found.len(), content.len(), "{what}: {name} is not whole");
            assert_eq!(found, content, "{what}: {name}");
            there.insert(name);
        }
    }
    assert!(there.is_subset(&begun), "{what}: written without a mark: {:?}", there.difference(&begun));
    assert!(done.is_subset(&there), "{what}: reported and not there: {:?}", done.difference(&there));
    let others = || -> Vec<String> {
        std::fs::read_dir(house.project())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .filter(|name| !there.contains(name) && !name.starts_with("command-"))
            // A file that was not whole yet: it has no name of the user's, and nobody was told of it.
            .filter(|name| !(name.starts_with(".neco-") && name.ends_with(".tmp")))
            .collect()
    };
    // What stood in for settings that are not there is taken away by whoever watches over the process, after its end.
    let latest = Instant::now() + CLEANED;
    while !others().is_empty() && Instant::now() < latest {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(others(), [] as [&str; 0], "{what}: what is no file of anybody");
    there.len()
}
