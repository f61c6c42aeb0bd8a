//! How fast the store is: `cargo test -p neco-store --test figures -- --ignored --nocapture`.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod support;

use std::path::Path;
use std::time::{Duration, Instant};

use neco_proto::{Event, EventBody, Message, SessionId};
use neco_store::{Catalog, Durability, EventLog, SearchQuery, SessionRecord, SqliteStore, lease_and_append};
use support::{append, event, new_store, record, session};

const ROUNDS: u64 = 20;
/// How many messages are searched; `NECO_MESSAGES` sets another number.
const MESSAGES: usize = 1_000_000;
/// How many messages a session has.
const PER_SESSION: usize = 500;
/// How many sessions begin as one conversation of 5 MB does, and how many forks each of them has.
const SESSIONS: usize = 1_000;
const FORKS: usize = 100;

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
    let lease = store.lease(session).await.unwrap();
    let start = Instant::now();
    for one in events {
        store.append(&lease, vec![one], Durability::Soon).await.unwrap();
    }
    store.flush().await.unwrap();
    print("100,000 events, one append each, soon", start.elapsed());

    let start = Instant::now();
    for seq in 100_001..=100_200 {
        store.append(&lease, vec![event(session, seq)], Durability::Now).await.unwrap();
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

const WORDS: [&str; 12] = [
    "parser",
    "timeout",
    "please",
    "fix",
    "the",
    "build",
    "数据库",
    "connection",
    "error",
    "function",
    "returns",
    "and",
];

/// A message of about 30 words, of which `rare` is in one of a thousand and the rest everywhere.
fn message(session: SessionId, seq: u64, number: usize) -> Event {
    let word = |index: usize| WORDS[(number * 7 + index * 5 + index * index) % WORDS.len()];
    let mut text: Vec<String> = (0..30).map(|index| word(index).to_owned()).collect();
    text.push(format!("word{}", number % 50_000));
    if number.is_multiple_of(1000) {
        text.push("rare".to_owned());
    }
    let mut event = event(session, seq);
    event.ts = jiff::Timestamp::from_millisecond(1_700_000_000_000 + number as i64 * 5_000).unwrap();
    event.body = EventBody::Message(Message::user(text.join(" ")));
    event
}

#[tokio::test]
#[ignore = "prints figures; takes minutes"]
async fn search() {
    let (_dir, _path, store) = new_store().await;
    let messages = support::how_many("NECO_MESSAGES", MESSAGES);
    let start = Instant::now();
    for first in (0..messages).step_by(PER_SESSION) {
        let session = SessionId::new();
        let cwd = format!("/project/{}", first / PER_SESSION % 50);
        store.create(SessionRecord::new(session, cwd, 0)).await.unwrap();
        let events = (0..PER_SESSION).map(|index| message(session, index as u64 + 1, first + index)).collect();
        lease_and_append(&store, events, Durability::Soon).await.unwrap();
    }
    store.flush().await.unwrap();
    print("write all messages", start.elapsed());
    let start = Instant::now();
    assert!(!store.search(SearchQuery::new("rare", 1)).await.unwrap().is_empty());
    print("take all of them into the index", start.elapsed());
    let ask = |words: &str, cwd: Option<&str>, until_ms: Option<i64>| SearchQuery {
        cwd: cwd.map(str::to_owned),
        until_ms,
        ..SearchQuery::new(words, 20)
    };
    for (what, query) in [
        ("a word of one message in a thousand", ask("rare", None, None)),
        ("a word of every message", ask("parser", None, None)),
        ("four words of every message", ask("parser timeout error function", None, None)),
        ("a word of 20 messages", ask("word77", None, None)),
        ("a common and a seldom word", ask("parser word77", None, None)),
        ("Chinese", ask("数据库", None, None)),
        ("a phrase", ask("\"please fix\"", None, None)),
        ("a word of every message, in one folder", ask("parser", Some("/project/7"), None)),
        ("a seldom word, in one folder", ask("rare", Some("/project/7"), None)),
        ("a word of every message, before a date", ask("parser", None, Some(1_700_100_000_000))),
        ("a word that is nowhere", ask("nowhere", None, None)),
    ] {
        let mut times = Vec::new();
        let mut hits = 0;
        for _ in 0..11 {
            let start = Instant::now();
            hits = store.search(query.clone()).await.unwrap().len();
            times.push(start.elapsed());
        }
        times.sort_unstable();
        print(&format!("search: {what} ({hits} hits)"), times[5]);
    }
    let sizes = store.sizes().await.unwrap();
    println!("{} messages: {} MB and {} MB for search", messages, sizes.file_bytes >> 20, sizes.search_bytes >> 20);
}

#[tokio::test]
#[ignore = "prints figures; takes a minute"]
async fn forks() {
    let (_dir, _path, store) = new_store().await;
    // 5 MB that can't be packed: a picture, outputs, and many small events.
    let events: Vec<_> = (1..=4000).map(|seq| support::sample(session(), seq)).collect();
    let bytes: usize = events.iter().map(|event| serde_json::to_string(event).unwrap().len()).sum();
    lease_and_append(&store, events, Durability::Now).await.unwrap();
    let more = 5_000_000usize.saturating_sub(bytes) / 3000;
    let more: Vec<_> = (4001..=4000 + more as u64).map(|seq| support::sample(session(), seq * 5)).collect();
    for (index, mut event) in more.into_iter().enumerate() {
        event.seq = 4001 + index as u64;
        lease_and_append(&store, vec![event], Durability::Soon).await.unwrap();
    }
    let start = Instant::now();
    for number in 0..SESSIONS {
        let id = SessionId::new();
        let new = |id| SessionRecord { title: "a fork of a long conversation".into(), ..record(id) };
        store.fork(new(id), session(), 4000).await.unwrap();
        let forks = (0..FORKS).map(|fork| store.fork(new(SessionId::new()), id, 3000 + fork as u64));
        futures::future::try_join_all(forks).await.unwrap();
        if number == 0 {
            print("101 forks", start.elapsed());
        }
    }
    store.flush().await.unwrap();
    print("all forks", start.elapsed());
    let start = Instant::now();
    assert_eq!(store.list(None, 20).await.unwrap().len(), 20);
    print("list 20 of them", start.elapsed());
    let sizes = store.sizes().await.unwrap();
    let (megabytes, forks) = (sizes.file_bytes as f64 / 1e6, sizes.forks);
    println!("{forks} forks of a conversation of 5 MB: {megabytes:.1} MB on disk");
    assert!(forks == (SESSIONS * (FORKS + 1)) as u64 && megabytes < 100.0);
}
