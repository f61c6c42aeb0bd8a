//! A process that is killed loses nothing that was answered.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::io::{BufRead, BufReader};
use std::process::Child;

use neco_proto::Seq;
use neco_store::{Durability, EventLog, SessionLock, SqliteStore, StoreError};
use support::{append, child, child_path, new_store, seqs, session};

/// Kills the child and gives its lines up to there, the `count` ones that were waited for first.
fn kill_after(mut child: Child, count: usize) -> Vec<Seq> {
    let mut answered = Vec::new();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    for line in lines.map_while(Result::ok) {
        // The test harness of the child prints lines of its own, and may do so before ours.
        let Some((_, seq)) = line.split_once("answered ") else { continue };
        answered.push(seq.parse().unwrap());
        if answered.len() == count {
            child.kill().unwrap();
        }
    }
    child.wait().unwrap();
    assert!(answered.len() >= count, "the child ended by itself after {answered:?}");
    answered
}

/// A number below 150, another one each time.
fn random() -> usize {
    usize::from(uuid::Uuid::now_v7().as_bytes()[15]) % 150
}

#[tokio::test]
async fn what_was_answered_is_there_after_a_kill() {
    let (_dir, path, store) = new_store().await;
    store.close().await.unwrap();
    let mut last = 0;
    for _ in 0..3 {
        let count = random() + 1;
        let answered = kill_after(child("append_until_killed", &path), count);
        let store = SqliteStore::open(&path).await.unwrap();
        let there = seqs(&store, session()).await;
        let gapless: Vec<Seq> = (1..=there.len() as Seq).collect();
        assert_eq!(there, gapless);
        let last_answered = *answered.last().unwrap();
        assert!(there.len() as Seq >= last_answered, "{last_answered} was answered, {} are there", there.len());
        assert!(last_answered > last);
        last = there.len() as Seq;
        append(&store, last + 1, Durability::Now).await.unwrap();
        store.close().await.unwrap();
    }
}

#[tokio::test]
#[ignore = "run by what_was_answered_is_there_after_a_kill"]
async fn append_until_killed() {
    let Some(path) = child_path() else { return };
    let store = SqliteStore::open(&path).await.unwrap();
    let first = seqs(&store, session()).await.len() as Seq + 1;
    for seq in first.. {
        if seq % 3 == 0 {
            append(&store, seq, Durability::Soon).await.unwrap();
        } else if seq % 7 == 0 {
            append(&store, seq, Durability::Soon).await.unwrap();
            store.flush().await.unwrap();
            println!("answered {seq}");
        } else {
            append(&store, seq, Durability::Now).await.unwrap();
            println!("answered {seq}");
        }
    }
}

#[test]
fn the_lock_of_a_killed_process_is_free() {
    let dir = tempfile::tempdir().unwrap();
    let mut owner = child("lock_until_killed", dir.path());
    let mut lines = BufReader::new(owner.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("locked")));
    let in_use = StoreError::InUse { session: session(), pid: owner.id() };
    assert_eq!(SessionLock::acquire(dir.path(), session()).unwrap_err(), in_use);
    owner.kill().unwrap();
    owner.wait().unwrap();
    let lock = SessionLock::acquire(dir.path(), session()).unwrap();
    let in_use = StoreError::InUse { session: session(), pid: std::process::id() };
    assert_eq!(SessionLock::acquire(dir.path(), session()).unwrap_err(), in_use);
    drop(lock);
}

#[test]
#[ignore = "run by the_lock_of_a_killed_process_is_free"]
fn lock_until_killed() {
    let Some(path) = child_path() else { return };
    let _lock = SessionLock::acquire(&path, session()).unwrap();
    println!("locked");
    std::thread::sleep(std::time::Duration::from_secs(60));
}

#[test]
fn the_end_of_the_runtime_loses_nothing() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (_dir, path, store) = runtime.block_on(new_store());
    runtime.block_on(append(&store, 1, Durability::Soon)).unwrap();
    drop(runtime);
    drop(store);
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let there = runtime.block_on(async { seqs(&SqliteStore::open(&path).await.unwrap(), session()).await });
    assert_eq!(there, [1]);
}
