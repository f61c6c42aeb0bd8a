//! How fast the store is: `cargo test -p neco-store --test figures -- --ignored --nocapture`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use neco_proto::SessionId;
use neco_store::{Catalog, Durability, EventLog, SqliteStore};
use support::{append, event, new_store, record, session};

const ROUNDS: u64 = 20;

fn print(what: &str, took: Duration) {
    println!("{what:<48} {:>10.3} ms", took.as_secs_f64() * 1000.0);
}

/// The memory of this process in KiB, where the system tells.
fn memory() -> i64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
    line.trim().trim_end_matches(" kB").parse().unwrap_or_default()
}

async fn opening(path: &Path, first: u64) {
    let mut opened = Duration::ZERO;
    let mut appended = Duration::ZERO;
    let mut closed = Duration::ZERO;
    for round in 0..ROUNDS {
        let start = Instant::now();
        let store = SqliteStore::open(path).await.unwrap();
        opened += start.elapsed();
        let start = Instant::now();
        append(&store, first + round, Durability::Now).await.unwrap();
        appended += start.elapsed();
        let start = Instant::now();
        store.close().await.unwrap();
        closed += start.elapsed();
    }
    print("open a store that is there", opened / ROUNDS as u32);
    print("first append, durable, of a session that is there", appended / ROUNDS as u32);
    print("close", closed / ROUNDS as u32);
}

async fn appending(store: &SqliteStore) -> SessionId {
    let session = SessionId::new();
    store.create(record(session)).await.unwrap();
    let events: Vec<_> = (1..=100_000).map(|seq| event(session, seq)).collect();
    let start = Instant::now();
    for one in events {
        store.append(vec![one], Durability::Soon).await.unwrap();
    }
    store.flush().await.unwrap();
    print("100,000 events, one append each, soon", start.elapsed());

    let start = Instant::now();
    for seq in 100_001..=100_200 {
        store.append(vec![event(session, seq)], Durability::Now).await.unwrap();
    }
    print("one durable append", start.elapsed() / 200);
    session
}

#[tokio::test]
#[ignore = "prints figures"]
async fn figures() {
    let before = memory();
    let start = Instant::now();
    let (dir, path, store) = new_store().await;
    println!("{:<48} {:>10} KiB", "memory of a new store", memory() - before);
    print("make a store and a session", start.elapsed());
    append(&store, 1, Durability::Now).await.unwrap();
    store.close().await.unwrap();
    let before = memory();
    let store = SqliteStore::open(&path).await.unwrap();
    append(&store, 2, Durability::Now).await.unwrap();
    println!("{:<48} {:>10} KiB", "memory of a store after the first append", memory() - before);
    store.close().await.unwrap();
    opening(&path, 3).await;

    let store = SqliteStore::open(&path).await.unwrap();
    let large = appending(&store).await;
    let start = Instant::now();
    assert_eq!(store.read(session(), 0, 1).await.unwrap().len(), 1);
    print("open the reader and read one event", start.elapsed());
    let start = Instant::now();
    assert_eq!(store.read(large, 0, 10_000).await.unwrap().len(), 10_000);
    print("read 10,000 events", start.elapsed());

    let creations = (0..10_000).map(|_| store.create(record(SessionId::new())));
    futures::future::try_join_all(creations).await.unwrap();
    let start = Instant::now();
    assert_eq!(store.list(None, 10_000).await.unwrap().len(), 10_000);
    print("list 10,000 sessions", start.elapsed());
    let start = Instant::now();
    assert_eq!(store.list(Some("/project"), 1).await.unwrap().len(), 1);
    print("the last session of a folder among 10,000", start.elapsed());
    store.close().await.unwrap();
    drop(dir);
}
