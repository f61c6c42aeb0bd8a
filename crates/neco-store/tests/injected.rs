//! Every write, sync and truncation of a store may fail or be cut short: that is error 6001, and nothing that
//! was answered before is lost. `NECO_FAULTS` sets how many of them are tried.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use neco_proto::event::TitleSource;
use neco_proto::{ErrorCode, Seq, SessionId};
use neco_store::{Catalog, Durability, EventLog, SqliteStore, StoreError, lease_and_append};
use support::{child_command, child_path, how_many, record, sample, seqs, session, shim};
use uuid::Uuid;

const KINDS: [&str; 4] = ["enospc", "eio", "short", "half"];

/// The file that says what fails.
struct Arm(PathBuf);

impl Arm {
    /// From here on the call `number` fails; gives how many there were before.
    fn set(&self, number: usize, kind: &str) -> usize {
        fs::write(&self.0, format!("{number} {kind}")).unwrap();
        drop(fs::File::open(&self.0).unwrap());
        fs::read_to_string(self.0.with_extension("count")).unwrap().parse().unwrap()
    }
}

fn fork() -> SessionId {
    SessionId::from(Uuid::from_u128(8))
}

/// What the store has answered.
#[derive(Default)]
struct Answered {
    is_created: bool,
    last: Seq,
    errors: Vec<StoreError>,
}

impl Answered {
    fn note<T>(&mut self, outcome: Result<T, StoreError>) -> Option<T> {
        outcome.map_err(|error| self.errors.push(error)).ok()
    }
}

/// Works with the store, and goes on after errors as a session that is opened again would.
async fn work(path: &Path, answered: &mut Answered) {
    let Some(store) = answered.note(SqliteStore::open(path).await) else { return };
    if !answered.is_created {
        answered.is_created = answered.note(store.create(record(session())).await).is_some();
    }
    if !answered.is_created {
        return;
    }
    for _ in 0..8 {
        let there = answered.note(store.read(session(), 0, usize::MAX).await).unwrap_or_default();
        let next = there.len() as Seq + 1;
        assert!(next > answered.last, "{} were answered, {} are there", answered.last, there.len());
        let durability = if next.is_multiple_of(3) { Durability::Soon } else { Durability::Now };
        let appended = answered.note(lease_and_append(&store, vec![sample(session(), next)], durability).await);
        if appended.is_some() && durability == Durability::Now {
            answered.last = next;
        }
    }
    answered.note(store.set_title(session(), "a title", TitleSource::Person).await);
    let forks = answered.note(store.find(&fork().to_string(), 1).await).unwrap_or_default();
    if !forks.is_empty() || answered.note(store.fork(record(fork()), session(), 2).await).is_some() {
        answered.note(store.remove(fork()).await);
    }
    let there = answered.note(store.read(session(), 0, usize::MAX).await).unwrap_or_default().len() as Seq;
    if answered.note(store.close().await).is_some() {
        answered.last = answered.last.max(there);
    }
}

async fn one(arm: &Arm, number: usize, kind: &str) -> (usize, usize) {
    let what = format!("call {number}, {kind}");
    let dir = tempfile::tempdir_in(arm.0.parent().unwrap().join("data")).unwrap();
    let path = dir.path().join("neco.db");
    let mut answered = Answered::default();
    arm.set(number, kind);
    work(&path, &mut answered).await;
    let calls = arm.set(0, "none");
    for error in &answered.errors {
        assert_eq!(error.code(), ErrorCode::StoreFailed, "{what}: {error}");
        assert!(matches!(error, StoreError::Write(_) | StoreError::Read(_)), "{what}: {error:?}");
    }
    let failed = answered.errors.len();

    // There is room again.
    answered.errors.clear();
    let store = SqliteStore::open(&path).await.unwrap();
    assert!(store.set_aside().is_none(), "{what}: {:?}", store.set_aside());
    let there = if answered.is_created { seqs(&store, session()).await } else { Vec::new() };
    assert_eq!(there, (1..=there.len() as Seq).collect::<Vec<_>>(), "{what}");
    assert!(there.len() as Seq >= answered.last, "{what}: {} answered, {there:?} there", answered.last);
    store.close().await.unwrap();
    answered.is_created = !SqliteStore::open(&path).await.unwrap().list(None, 9).await.unwrap().is_empty();
    work(&path, &mut answered).await;
    assert_eq!(answered.errors, [], "{what}");
    let store = SqliteStore::open(&path).await.unwrap();
    let events = store.read(session(), 0, usize::MAX).await.unwrap();
    assert!(events.len() >= 8, "{what}");
    assert!(events.iter().all(|event| *event == sample(session(), event.seq)), "{what}");
    (calls, failed)
}

#[test]
fn a_failure_at_any_call_loses_nothing() {
    let library = match shim::library() {
        Ok(library) => library,
        Err(reason) if std::env::var_os("CI").is_some() => panic!("{reason}"),
        Err(reason) => return println!("SKIPPED: {reason}"),
    };
    let scene = tempfile::tempdir().unwrap();
    fs::create_dir(scene.path().join("data")).unwrap();
    let output = child_command("fail_at_every_call", scene.path())
        .env("LD_PRELOAD", &library)
        .env("NECO_SHIM_DIR", scene.path().join("data"))
        .env("NECO_SHIM_ARM", scene.path().join("arm"))
        .output();
    let _ = fs::remove_file(library);
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
    println!("{}", said.lines().find(|line| line.contains("of them told")).unwrap());
}

#[tokio::test]
#[ignore = "run by a_failure_at_any_call_loses_nothing"]
async fn fail_at_every_call() {
    let Some(path) = child_path() else { return };
    let arm = Arm(path.join("arm"));
    let (calls, failed) = one(&arm, 0, "none").await;
    assert!(failed == 0 && calls > 40, "{calls} calls, {failed} failed");
    let wanted = how_many("NECO_FAULTS", 60);
    let step = (calls * KINDS.len()).div_ceil(wanted.max(1)).max(1);
    let all = (1..=calls).flat_map(|number| KINDS.map(|kind| (number, kind)));
    let (mut tried, mut told) = (0, 0);
    for (number, kind) in all.step_by(step) {
        let (_, failed) = one(&arm, number, kind).await;
        assert!(kind != "half" || failed == 0, "call {number}: a write that goes on where it was cut is no failure");
        tried += 1;
        told += usize::from(failed > 0);
    }
    // Were nothing injected, nothing would be told, and this would prove nothing.
    assert!(told * 3 >= tried, "{told} of {tried} were told");
    println!("{tried} failures tried at {calls} calls of the store, {told} of them told as 6001: nothing lost");
}
