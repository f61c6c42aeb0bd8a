//! Writing and reading the log in SQLite.
#![allow(clippy::unwrap_used, reason = "without a store a benchmark has nothing to go on with")]

#[path = "support/promise.rs"]
#[allow(dead_code, reason = "what is measured here is not measured again and again")]
mod promise;
mod support;

use std::time::{Duration, Instant};

use divan::Bencher;
use divan::counter::ItemsCount;
use neco_proto::{AgentId, Event, EventBody, Message, SessionId};
use neco_store::{Catalog as _, Durability, EventLog as _, SearchQuery, SessionRecord, SqliteStore, lease_and_append};
use tempfile::TempDir;
use tokio::runtime::Runtime;

const EVENTS: usize = 10_000;

/// How many messages are searched, and how many of them a session has.
const MESSAGES: usize = 1_000_000;
const PER_SESSION: usize = 500;
/// How many sessions begin as one conversation of 5 MB does, and how many forks each of them has.
const SESSIONS: usize = 1_000;
const FORKS: usize = 100;

fn main() {
    divan::main();
    if promise::is_asked_for() {
        let runtime = Runtime::new().unwrap();
        throughput(&runtime);
        runtime.block_on(listing());
        runtime.block_on(searching());
        runtime.block_on(forking());
    }
}

fn milliseconds(name: &str, took: Duration, most: u64) {
    let value = format!("{:.1} ms", took.as_secs_f64() * 1000.0);
    promise::report(name, &value, &format!("< {most} ms"), took < Duration::from_millis(most));
}

/// Events a second in group commit, and a session of 10,000 events read whole by a store that was just opened.
fn throughput(runtime: &Runtime) {
    let Open { store, session, folder } = open(runtime);
    let events = support::events(session, EVENTS);
    runtime.block_on(async {
        let lease = store.lease(session).await.unwrap();
        let start = Instant::now();
        for event in events {
            store.append(&lease, vec![event], Durability::Soon).await.unwrap();
        }
        store.flush().await.unwrap();
        let rate = EVENTS as f64 / start.elapsed().as_secs_f64();
        promise::report("append in group commit", &format!("{rate:.0} events/s"), "≥ 50000 events/s", rate >= 50_000.0);
        store.close().await.unwrap();
        let start = Instant::now();
        let store = SqliteStore::open(&folder.path().join("neco.db")).await.unwrap();
        assert_eq!(store.read(session, 0, usize::MAX).await.unwrap().len(), EVENTS);
        milliseconds("open a session of 10,000 events", start.elapsed(), 50);
    });
}

async fn listing() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("neco.db")).await.unwrap();
    let record = |number: i64| SessionRecord::new(SessionId::new(), format!("/project/{}", number % 50), number);
    futures::future::try_join_all((0..10_000).map(|number| store.create(record(number)))).await.unwrap();
    let start = Instant::now();
    assert_eq!(store.list(None, 10_000).await.unwrap().len(), 10_000);
    milliseconds("list 10,000 sessions", start.elapsed(), 30);
}

/// A message of 30 common words, one that 20 messages have, and one that a thousandth of them have.
fn message(session: SessionId, seq: u64, number: usize) -> Event {
    let common =
        ["parser", "timeout", "please", "fix", "build", "数据库", "connection", "error", "function", "returns"];
    let mut words: Vec<String> = (0..30).map(|index| common[(number + index * index) % common.len()].into()).collect();
    words.push(format!("word{}", number % 50_000));
    if number.is_multiple_of(1000) {
        words.push("rare".to_owned());
    }
    Event::new(
        seq,
        jiff::Timestamp::from_millisecond(1_700_000_000_000 + number as i64 * 5_000).unwrap(),
        session,
        AgentId::new(),
        None,
        EventBody::Message(Message::user(words.join(" "))),
    )
}

async fn searching() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("neco.db")).await.unwrap();
    let session_of =
        |first: usize| SessionRecord::new(SessionId::new(), format!("/project/{}", first / PER_SESSION % 50), 0);
    let sessions: Vec<SessionRecord> = (0..MESSAGES).step_by(PER_SESSION).map(session_of).collect();
    futures::future::try_join_all(sessions.iter().map(|new| store.create(new.clone()))).await.unwrap();
    for (session, first) in sessions.iter().map(|new| new.id).zip((0..MESSAGES).step_by(PER_SESSION)) {
        let events = (0..PER_SESSION).map(|index| message(session, index as u64 + 1, first + index)).collect();
        lease_and_append(&store, events, Durability::Soon).await.unwrap();
    }
    let start = Instant::now();
    store.search(SearchQuery::new("rare", 1)).await.unwrap();
    promise::report("take 1 M messages into the index", &format!("{:.1} s", start.elapsed().as_secs_f64()), "–", true);
    let everywhere = |words: &str| SearchQuery::new(words, 20);
    for (name, query) in [
        ("search 1 M messages: a seldom word", everywhere("rare")),
        ("search 1 M messages: a word of all", everywhere("parser")),
        ("search 1 M messages: a common and a seldom word", everywhere("parser word76")),
        ("search 1 M messages: Chinese", everywhere("数据库")),
        ("search 1 M messages: in one folder", SearchQuery { cwd: Some("/project/8".into()), ..everywhere("rare") }),
        ("search 1 M messages: before a date", SearchQuery { until_ms: Some(1_700_100_000_000), ..everywhere("fix") }),
    ] {
        let mut times = Vec::new();
        for _ in 0..11 {
            let start = Instant::now();
            assert!(!store.search(query.clone()).await.unwrap().is_empty());
            times.push(start.elapsed());
        }
        times.sort_unstable();
        milliseconds(name, times[5], 50);
    }
}

async fn forking() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(&folder.path().join("neco.db")).await.unwrap();
    let session = SessionId::new();
    store.create(SessionRecord::new(session, "/project", 0)).await.unwrap();
    // About 5 MB.
    lease_and_append(&store, support::events(session, 16_000), Durability::Now).await.unwrap();
    let record =
        || SessionRecord { title: "a long conversation".into(), ..SessionRecord::new(SessionId::new(), "/project", 0) };
    let sessions: Vec<SessionRecord> = (0..SESSIONS).map(|_| record()).collect();
    let begin = |new: &SessionRecord| store.fork(new.clone(), session, 15_000);
    futures::future::try_join_all(sessions.iter().map(begin)).await.unwrap();
    // Many at once are written together: what is measured is the room that they take.
    for some in sessions.chunks(20) {
        let forks =
            some.iter().flat_map(|parent| (0..FORKS as u64).map(|at| store.fork(record(), parent.id, 14_000 + at)));
        futures::future::try_join_all(forks).await.unwrap();
    }
    store.flush().await.unwrap();
    let sizes = store.sizes().await.unwrap();
    assert_eq!(sizes.forks as usize, SESSIONS * (FORKS + 1));
    let megabytes = sizes.file_bytes as f64 / 1e6;
    let name = format!("{} forks of a conversation of 5 MB", sizes.forks);
    promise::report(&name, &format!("{megabytes:.1} MB"), "< 100 MB", megabytes < 100.0);
}

struct Open {
    store: SqliteStore,
    session: SessionId,
    // Dropped last: the store closes its file first.
    folder: TempDir,
}

fn open(runtime: &Runtime) -> Open {
    let folder = tempfile::tempdir().unwrap();
    let session = SessionId::new();
    let record = SessionRecord::new(session, "/project", 0);
    let store = runtime.block_on(async {
        let store = SqliteStore::open(&folder.path().join("neco.db")).await.unwrap();
        store.create(record).await.unwrap();
        store
    });
    Open { store, session, folder }
}

/// One append an event, written in groups; done when all is on the disk.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn append_soon(bencher: Bencher<'_, '_>) {
    let runtime = Runtime::new().unwrap();
    let input = || {
        let open = open(&runtime);
        let events = support::events(open.session, EVENTS);
        (open, events)
    };
    bencher.counter(ItemsCount::new(EVENTS)).with_inputs(input).bench_values(|(open, events)| {
        runtime.block_on(async {
            let lease = open.store.lease(open.session).await.unwrap();
            for event in events {
                open.store.append(&lease, vec![event], Durability::Soon).await.unwrap();
            }
            open.store.flush().await.unwrap();
        });
        open
    });
}

/// One durable append, which has to wait for the disk.
#[divan::bench(sample_count = 200, sample_size = 1)]
fn append_now(bencher: Bencher<'_, '_>) {
    let runtime = Runtime::new().unwrap();
    let open = open(&runtime);
    let lease = runtime.block_on(open.store.lease(open.session)).unwrap();
    let mut events = support::events(open.session, EVENTS).into_iter();
    bencher.with_inputs(|| events.next().unwrap()).bench_local_values(|event| {
        runtime.block_on(open.store.append(&lease, vec![event], Durability::Now)).unwrap();
    });
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn read_all(bencher: Bencher<'_, '_>) {
    let runtime = Runtime::new().unwrap();
    let open = open(&runtime);
    runtime.block_on(lease_and_append(&open.store, support::events(open.session, EVENTS), Durability::Now)).unwrap();
    bencher
        .counter(ItemsCount::new(EVENTS))
        .bench(|| runtime.block_on(open.store.read(open.session, 0, usize::MAX)).unwrap());
}
