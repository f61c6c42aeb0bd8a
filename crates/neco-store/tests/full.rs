//! A disk that is really full: sessions can be read, and removed, which makes room.
//!
//! Each story runs on a small disk of its own, which only it sees.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod support;

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;

use neco_proto::{EventBody, Message, SessionId};
use neco_store::{Catalog, Durability, EventLog, Prune, SearchQuery, SqliteStore, StoreError, lease_and_append};
use support::{child_command, child_path, event, record, sample, seqs};

/// Runs an ignored test of this program with a new disk of `size` at the path that it is given; whether it could.
fn on_a_disk_of(size: &str, name: &str) {
    let dir = tempfile::tempdir().unwrap();
    let test = child_command(name, dir.path());
    let mut command = Command::new("unshare");
    command.args(["--user", "--map-root-user", "--mount", "sh", "-ec"]);
    command.arg(format!("mount -t tmpfs -o size={size} none \"$0\"; exec \"$@\""));
    command.arg(dir.path()).arg(test.get_program()).args(test.get_args());
    command.envs(test.get_envs().filter_map(|(key, value)| Some((key, value?))));
    let output = command.output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if !output.status.success() && !said.contains("running 1 test") {
        return println!("SKIPPED: no disk of its own: {said}");
    }
    assert!(output.status.success(), "{said}");
    said.lines().filter_map(|line| line.split_once("full: ")).for_each(|(_, line)| println!("{line}"));
}

/// Takes whatever is left of the disk.
fn fill(folder: &Path) {
    let mut file = fs::OpenOptions::new().create(true).append(true).open(folder.join("filling")).unwrap();
    for size in [1 << 16, 1 << 12, 1 << 8, 1] {
        while file.write_all(&vec![7; size]).is_ok() {}
    }
}

async fn say(store: &SqliteStore, session: SessionId, first: u64, count: u64) -> Result<(), StoreError> {
    let lease = store.lease(session).await?;
    for seq in first..first + count {
        store.append(&lease, vec![sample(session, seq)], Durability::Now).await?;
    }
    Ok(())
}

/// Opens a store on a full disk, as whoever wants to remove something does.
async fn open_to_remove(path: &Path) -> SqliteStore {
    loop {
        match SqliteStore::open(path).await {
            Ok(store) => return store,
            Err(error) => assert!(SqliteStore::make_room(path).await, "nothing to give, and {error}"),
        }
    }
}

#[test]
fn a_session_that_filled_the_disk_can_be_removed() {
    for size in ["3m", "5m", "8m"] {
        on_a_disk_of(size, "fill_it_with_a_session");
    }
}

#[tokio::test]
#[ignore = "run by a_session_that_filled_the_disk_can_be_removed"]
async fn fill_it_with_a_session() {
    let Some(folder) = child_path() else { return };
    let path = folder.join("neco.db");
    let store = SqliteStore::open(&path).await.unwrap();
    let (small, big) = (SessionId::new(), SessionId::new());
    for session in [small, big] {
        store.create(record(session)).await.unwrap();
    }
    say(&store, small, 1, 20).await.unwrap();
    let mut last = 0;
    let refused = loop {
        match say(&store, big, last + 1, 1).await {
            Ok(()) => last += 1,
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, StoreError::Write(_)), "{refused}");
    drop(store);
    fill(&folder);

    let store = open_to_remove(&path).await;
    assert_eq!((seqs(&store, small).await.len(), seqs(&store, big).await.len() as u64), (20, last));
    store.remove(big).await.unwrap();
    assert_eq!(store.list(None, 9).await.unwrap().len(), 1);
    // There is room again for what comes next, and for the next time.
    say(&store, small, 21, 50).await.unwrap();
    store.close().await.unwrap();
    let store = SqliteStore::open(&path).await.unwrap();
    assert_eq!(seqs(&store, small).await.len(), 70);
    let sizes = store.sizes().await.unwrap();
    assert!(store.check().await.unwrap().is_none());
    println!(
        "full: a session of {last} events was removed; {} kB are the store now, {} kB are kept",
        sizes.file_bytes / 1000,
        sizes.reserve_bytes / 1000
    );
    assert_eq!(sizes.reserve_bytes, 1 << 20);
    assert!(sizes.file_bytes < 300_000, "{sizes:?}");
}

#[test]
fn on_a_disk_that_others_filled_sessions_go_one_after_the_other() {
    on_a_disk_of("12m", "fill_it_from_outside");
}

#[tokio::test]
#[ignore = "run by on_a_disk_that_others_filled_sessions_go_one_after_the_other"]
async fn fill_it_from_outside() {
    let Some(folder) = child_path() else { return };
    let path = folder.join("neco.db");
    let store = SqliteStore::open(&path).await.unwrap();
    let sessions: Vec<SessionId> = (0..4).map(|_| SessionId::new()).collect();
    for session in &sessions {
        store.create(record(*session)).await.unwrap();
        let events: Vec<_> = (1..=1500).map(|seq| event(*session, seq)).collect();
        lease_and_append(&store, events, Durability::Now).await.unwrap();
    }
    let mut picture = event(sessions[0], 1501);
    picture.body = EventBody::Message(Message::user(sample(sessions[0], 5).seq.to_string().repeat(2_000_000)));
    lease_and_append(&store, vec![picture], Durability::Now).await.unwrap();
    store.fork(record(SessionId::new()), sessions[1], 700).await.unwrap();
    assert!(store.search(SearchQuery::new("nothing", 5)).await.unwrap().is_empty());
    store.close().await.unwrap();
    fill(&folder);
    for (gone, session) in sessions.iter().enumerate().take(3) {
        let store = open_to_remove(&path).await;
        let before = store.sizes().await.unwrap().file_bytes;
        store.remove(*session).await.unwrap();
        let after = store.sizes().await.unwrap();
        assert_eq!(store.list(None, 9).await.unwrap().len(), 4 - gone);
        assert!(after.file_bytes < before, "{before} {after:?}");
        println!("full: {} kB of {} kB were given back", (before - after.file_bytes) / 1000, before / 1000);
        store.close().await.unwrap();
        fill(&folder);
    }
    let store = open_to_remove(&path).await;
    let dry = Prune { keep_newest: Some(1), dry_run: true, ..Prune::default() };
    let wanted = store.prune(dry.clone()).await.unwrap();
    let pruned = store.prune(Prune { dry_run: false, ..dry }).await.unwrap();
    assert_eq!((pruned.sessions.len(), pruned.stopped_by), (wanted.sessions.len(), None));
    assert!(store.check().await.unwrap().is_none());
    store.close().await.unwrap();
}

#[test]
fn a_store_that_has_everything_written_closes_on_a_full_disk() {
    on_a_disk_of("6m", "close_it_on_a_full_disk");
}

#[tokio::test]
#[ignore = "run by a_store_that_has_everything_written_closes_on_a_full_disk"]
async fn close_it_on_a_full_disk() {
    let Some(folder) = child_path() else { return };
    let path = folder.join("neco.db");
    let store = SqliteStore::open(&path).await.unwrap();
    let session = SessionId::new();
    store.create(record(session)).await.unwrap();
    lease_and_append(&store, vec![event(session, 1)], Durability::Soon).await.unwrap();
    store.written(session, 1).await.unwrap();
    fill(&folder);
    let flushed = store.flush().await;
    assert!(matches!(flushed, Err(StoreError::Write(_))), "it is not there for good: {flushed:?}");
    store.close().await.unwrap();
    fs::remove_file(folder.join("filling")).unwrap();
    assert_eq!(seqs(&SqliteStore::open(&path).await.unwrap(), session).await, [1]);
}

#[test]
fn a_damaged_store_stays_where_it_is_when_there_is_no_room() {
    on_a_disk_of("6m", "damage_it_on_a_full_disk");
}

#[tokio::test]
#[ignore = "run by a_damaged_store_stays_where_it_is_when_there_is_no_room"]
async fn damage_it_on_a_full_disk() {
    let Some(folder) = child_path() else { return };
    let path = folder.join("neco.db");
    let store = SqliteStore::open(&path).await.unwrap();
    let session = SessionId::new();
    store.create(record(session)).await.unwrap();
    let events: Vec<_> = (1..=7000).map(|seq| event(session, seq)).collect();
    lease_and_append(&store, events, Durability::Now).await.unwrap();
    store.close().await.unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[..100].fill(0x55);
    fs::write(&path, &bytes).unwrap();
    fill(&folder);
    for _ in 0..2 {
        let opened = SqliteStore::open(&path).await.map(drop);
        assert!(matches!(opened, Err(StoreError::Write(_) | StoreError::Read(_))), "{opened:?}");
        assert_eq!(fs::read(&path).unwrap(), bytes, "it stays where it is");
        let names = fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let left: Vec<_> = names.filter(|name| name.contains("-new") || name.contains("-found")).collect();
        assert_eq!(left, Vec::<String>::new());
    }
    fs::remove_file(folder.join("filling")).unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let path = elsewhere.path().join("neco.db");
    fs::write(&path, &bytes).unwrap();
    let store = SqliteStore::open(&path).await.unwrap();
    assert_eq!((store.set_aside().unwrap().whole, seqs(&store, session).await.len()), (1, 7000));
}
