//! What the tests of the store share: events, sessions, and this test program started once more.

#![allow(dead_code, reason = "every test program uses its own part")]

#[cfg(target_os = "linux")]
pub mod shim;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use jiff::Timestamp;
use neco_proto::event::StreamChunk;
use neco_proto::{AgentId, Event, EventBody, Message, MessageId, Part, Seq, SessionId};
use neco_store::{Catalog, Durability, EventLog, SessionRecord, SqliteStore, lease_and_append};
use uuid::Uuid;

const PATH: &str = "NECO_STORE_TEST_PATH";

/// The session of tests that need only one.
pub fn session() -> SessionId {
    SessionId::from(Uuid::from_u128(7))
}

pub fn record(id: SessionId) -> SessionRecord {
    SessionRecord::new(id, "/project", 0)
}

pub fn event(session_id: SessionId, seq: Seq) -> Event {
    Event::new(
        seq,
        Timestamp::from_millisecond(seq as i64).unwrap(),
        session_id,
        AgentId::from(Uuid::from_u128(9)),
        None,
        EventBody::StreamChunk(StreamChunk { text: format!("piece {seq} of the answer, about as long as usual") }),
    )
}

pub async fn append(store: &SqliteStore, seq: Seq, durability: Durability) -> Result<(), neco_store::StoreError> {
    lease_and_append(store, vec![event(session(), seq)], durability).await
}

pub async fn seqs(store: &SqliteStore, session: SessionId) -> Vec<Seq> {
    store.read(session, 0, usize::MAX).await.unwrap().iter().map(|event| event.seq).collect()
}

/// A store in a new folder, with one session.
pub async fn new_store() -> (tempfile::TempDir, PathBuf, SqliteStore) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("neco.db");
    let store = SqliteStore::open(&path).await.unwrap();
    store.create(record(session())).await.unwrap();
    (dir, path, store)
}

/// Runs the ignored test `name` of this test program in a process of its own.
pub fn child(name: &str, path: &Path) -> Child {
    child_command(name, path).spawn().unwrap()
}

/// The same, not started yet.
pub fn child_command(name: &str, path: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", name, "--ignored", "--nocapture", "--test-threads=1"]);
    command.env(PATH, path).stdin(Stdio::null()).stdout(Stdio::piped());
    command
}

/// An event that only `session` and `seq` decide about; now and then one with a string that is kept apart.
pub fn sample(session_id: SessionId, seq: Seq) -> Event {
    let mut sample = event(session_id, seq);
    if seq.is_multiple_of(5) {
        let mut number = seq;
        let mut text = String::new();
        while text.len() < 3000 {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            text.push_str(&format!("{number:016x}"));
        }
        let parts = vec![Part::Text { text }];
        let id = MessageId::from(Uuid::from_u128(seq.into()));
        sample.body = EventBody::Message(Message { id, parts, ..Message::user("") });
    }
    sample
}

/// A number from the environment, for those who want more than the usual run does.
pub fn how_many(variable: &str, usual: usize) -> usize {
    std::env::var(variable).ok().and_then(|number| number.parse().ok()).unwrap_or(usual)
}

/// What the parent gave the child; `None` when somebody runs the ignored test by hand.
pub fn child_path() -> Option<PathBuf> {
    std::env::var_os(PATH).map(PathBuf::from)
}
