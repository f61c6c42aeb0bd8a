//! Writing and reading the log in SQLite.
#![allow(clippy::unwrap_used, reason = "without a store a benchmark has nothing to go on with")]

mod support;

use divan::Bencher;
use divan::counter::ItemsCount;
use neco_proto::SessionId;
use neco_store::{Catalog as _, Durability, EventLog as _, SessionRecord, SqliteStore};
use tempfile::TempDir;
use tokio::runtime::Runtime;

const EVENTS: usize = 10_000;

fn main() {
    divan::main();
}

struct Open {
    store: SqliteStore,
    session: SessionId,
    // Dropped last: the store closes its file first.
    _folder: TempDir,
}

fn open(runtime: &Runtime) -> Open {
    let folder = tempfile::tempdir().unwrap();
    let session = SessionId::new();
    let record = SessionRecord {
        id: session,
        cwd: "/project".to_owned(),
        title: String::new(),
        created_ms: 0,
        updated_ms: 0,
        events: 0,
    };
    let store = runtime.block_on(async {
        let store = SqliteStore::open(&folder.path().join("neco.db")).await.unwrap();
        store.create(record).await.unwrap();
        store
    });
    Open { store, session, _folder: folder }
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
            for event in events {
                open.store.append(vec![event], Durability::Soon).await.unwrap();
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
    let mut events = support::events(open.session, EVENTS).into_iter();
    bencher.with_inputs(|| events.next().unwrap()).bench_local_values(|event| {
        runtime.block_on(open.store.append(vec![event], Durability::Now)).unwrap();
    });
}

#[divan::bench(sample_count = 20, sample_size = 1)]
fn read_all(bencher: Bencher<'_, '_>) {
    let runtime = Runtime::new().unwrap();
    let open = open(&runtime);
    runtime.block_on(open.store.append(support::events(open.session, EVENTS), Durability::Now)).unwrap();
    bencher
        .counter(ItemsCount::new(EVENTS))
        .bench(|| runtime.block_on(open.store.read(open.session, 0, usize::MAX)).unwrap());
}
