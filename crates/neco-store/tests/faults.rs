//! A disk that takes no more loses nothing that was written or appended before.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::path::Path;

use neco_proto::event::TitleSource;
use neco_proto::{Seq, SessionId};
use neco_store::{Catalog, Durability, EventLog, Lease, SqliteStore, StoreError};
use rustix::process::{Resource, Rlimit, Signal, getrlimit, setrlimit};
use support::{child, child_path, event, new_store, record, seqs, session};
use tokio::signal::unix::{SignalKind, signal};

/// From here on no file of this process may grow beyond `bytes`.
fn limit_files(bytes: Option<u64>) {
    let Rlimit { maximum, .. } = getrlimit(Resource::Fsize);
    setrlimit(Resource::Fsize, Rlimit { current: bytes.or(maximum), maximum }).unwrap();
}

async fn append(store: &SqliteStore, lease: &Lease, seq: Seq, durability: Durability) -> Result<(), StoreError> {
    store.append(lease, vec![event(session(), seq)], durability).await
}

fn assert_write_error(outcome: Result<(), StoreError>, path: &Path) {
    let Err(StoreError::Write(message)) = outcome else { panic!("{outcome:?}") };
    assert!(message.contains(path.to_str().unwrap()), "{message}");
}

async fn in_a_child(name: &str) {
    let (_dir, path, store) = new_store().await;
    store.close().await.unwrap();
    let output = child(name, &path).wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    let store = SqliteStore::open(&path).await.unwrap();
    assert_eq!(seqs(&store, session()).await, [1, 2, 3, 4, 5, 6]);
}

#[tokio::test]
async fn a_full_disk_refuses_until_there_is_room_again() {
    in_a_child("fill_the_disk_and_make_room").await;
}

#[tokio::test]
#[ignore = "run by a_full_disk_refuses_until_there_is_room_again"]
async fn fill_the_disk_and_make_room() {
    let Some(path) = child_path() else { return };
    // Without a handler the signal that comes with the refusal ends the process.
    let _ignored = signal(SignalKind::from_raw(Signal::XFSZ.as_raw())).unwrap();
    let store = SqliteStore::open(&path).await.unwrap();
    let lease = store.lease(session()).await.unwrap();
    for seq in 1..=3 {
        append(&store, &lease, seq, Durability::Now).await.unwrap();
    }
    assert_eq!(seqs(&store, session()).await, [1, 2, 3]);

    limit_files(Some(0));
    append(&store, &lease, 4, Durability::Soon).await.unwrap();
    append(&store, &lease, 5, Durability::Soon).await.unwrap();
    assert_write_error(store.flush().await, &path);
    for durability in [Durability::Soon, Durability::Now, Durability::Soon] {
        assert_write_error(append(&store, &lease, 6, durability).await, &path);
        assert_eq!(seqs(&store, session()).await, [1, 2, 3, 4, 5]);
    }
    assert_write_error(store.set_title(session(), "no", TitleSource::Person).await, &path);
    assert_write_error(store.create(record(SessionId::new())).await, &path);
    assert_write_error(store.close().await, &path);
    assert_eq!(seqs(&store, session()).await, [1, 2, 3, 4, 5]);
    let gap = StoreError::Gap { session: session(), expected: 6, got: 7 };
    assert_eq!(append(&store, &lease, 7, Durability::Now).await, Err(gap));

    limit_files(None);
    append(&store, &lease, 6, Durability::Soon).await.unwrap();
    store.close().await.unwrap();
    let records = SqliteStore::open(&path).await.unwrap().list(None, 9).await.unwrap();
    assert_eq!(records.len(), 1);
    assert_eq!((records[0].title.as_str(), records[0].events), ("", 6));
}

#[tokio::test]
async fn what_was_refused_can_be_appended_again() {
    in_a_child("be_refused_and_append_again").await;
}

#[tokio::test]
#[ignore = "run by what_was_refused_can_be_appended_again"]
async fn be_refused_and_append_again() {
    let Some(path) = child_path() else { return };
    let _ignored = signal(SignalKind::from_raw(Signal::XFSZ.as_raw())).unwrap();
    let store = SqliteStore::open(&path).await.unwrap();
    let lease = store.lease(session()).await.unwrap();
    append(&store, &lease, 1, Durability::Now).await.unwrap();

    limit_files(Some(0));
    append(&store, &lease, 2, Durability::Soon).await.unwrap();
    let three = vec![event(session(), 3), event(session(), 4)];
    // Two at a time: the second goes on from the first, so it falls with it, sooner or later.
    let (first, _second) = futures::join!(
        store.append(&lease, three.clone(), Durability::Now),
        append(&store, &lease, 5, Durability::Soon)
    );
    assert_write_error(first, &path);
    assert_write_error(store.flush().await, &path);
    assert_eq!(seqs(&store, session()).await, [1, 2]);

    limit_files(None);
    let _told = store.flush().await;
    store.append(&lease, three, Durability::Now).await.unwrap();
    append(&store, &lease, 5, Durability::Now).await.unwrap();
    append(&store, &lease, 6, Durability::Soon).await.unwrap();
    drop(store);
}
