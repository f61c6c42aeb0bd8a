//! A loss of power at any moment takes nothing that was answered, and what is left is sound.
//!
//! The writes and syncs of a process that works with a store are recorded. Then the disk is built as it may be
//! after a loss of power at many moments: with nothing but what was synced, with everything that was written,
//! and with a part of what was not synced. `NECO_POWER_CUTS` sets the number of moments.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod support;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;

use neco_proto::event::TitleSource;
use neco_proto::{Seq, SessionId};
use neco_store::{Catalog, Durability, EventLog, SqliteStore, lease_and_append};
use neco_testkit::power::{Disk, Left, lose_power, watch};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use support::{child_command, child_path, how_many, record, sample, session};
use uuid::Uuid;

/// Where the child says what it was answered: session, last event.
const ANSWERS: &str = "answers";
const EVENTS: Seq = 420;
const FORKED_AT: Seq = 200;

fn fork() -> SessionId {
    SessionId::from(Uuid::from_u128(8))
}

/// What was answered according to the file of answers, however much of it is on the disk.
fn answered(disk: &Disk, dir: &Path) -> BTreeMap<u128, Seq> {
    let text = disk.text(&dir.join(ANSWERS));
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    pairs.map(|(session, seq)| (session.parse().unwrap(), seq.parse().unwrap())).collect()
}

async fn check(disk: &Disk, left: Left<'_>, answered: &BTreeMap<u128, Seq>, what: &str) {
    let dir = tempfile::tempdir().unwrap();
    disk.build(dir.path(), left);
    // It is memory that processes share, and made anew by whoever comes first.
    let _ = fs::remove_file(dir.path().join("neco.db-shm"));
    let path = dir.path().join("neco.db");
    let store = SqliteStore::open(&path).await.unwrap();
    assert!(store.set_aside().is_none(), "{what}: {:?}", store.set_aside());
    for (number, last) in answered {
        let session = SessionId::from(Uuid::from_u128(*number));
        let events = store.read(session, 0, usize::MAX).await.unwrap();
        assert!(events.len() as Seq >= *last, "{what}: {last} answered, {} there", events.len());
        for (event, seq) in events.iter().zip(1..) {
            let owner = if *number == 8 && seq <= FORKED_AT { support::session() } else { session };
            let expected = neco_proto::Event { session_id: session, ..sample(owner, seq) };
            assert_eq!(*event, expected, "{what}");
        }
    }
    store.close().await.unwrap();
    let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    let sound: String = sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&mut connection).await.unwrap();
    assert_eq!(sound, "ok", "{what}");
    connection.close().await.unwrap();
}

#[test]
fn nothing_answered_is_lost_and_nothing_is_corrupt() {
    let scene = tempfile::tempdir().unwrap();
    let dir = scene.path().canonicalize().unwrap().join("data");
    fs::create_dir(&dir).unwrap();
    let mut disk = Disk::of(&dir);
    let records = match watch(&dir, &child_command("work_while_recorded", &dir)) {
        Ok(records) => records,
        Err(reason) if std::env::var_os("CI").is_some() => panic!("{reason}"),
        Err(reason) => return println!("SKIPPED: {reason}"),
    };
    let syncs = records.iter().filter(|record| record.syncs()).count();
    assert!(syncs > EVENTS as usize / 2, "{syncs} syncs");
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let moments = lose_power(&mut disk, &records, how_many("NECO_POWER_CUTS", 40), |disk, left, what| {
        runtime.block_on(check(disk, left, &answered(disk, &dir), what));
    });
    assert_eq!(answered(&disk, &dir).get(&7), Some(&EVENTS));
    println!("{moments} of {} moments, three disks each, {syncs} syncs: nothing lost", records.len());
}

#[tokio::test]
#[ignore = "run by nothing_answered_is_lost_and_nothing_is_corrupt"]
async fn work_while_recorded() {
    let Some(dir) = child_path() else { return };
    let mut answers = fs::OpenOptions::new().create(true).append(true).open(dir.join(ANSWERS)).unwrap();
    let mut answer = |session: SessionId, seq: Seq| {
        // In one piece, so that no answer is half there.
        answers.write_all(format!("{} {seq}\n", session.as_uuid().as_u128()).as_bytes()).unwrap();
    };
    let mut store = SqliteStore::open(&dir.join("neco.db")).await.unwrap();
    store.create(record(session())).await.unwrap();
    let lease = store.lease(session()).await.unwrap();
    for seq in 1..=EVENTS {
        if seq.is_multiple_of(3) {
            store.append(&lease, vec![sample(session(), seq)], Durability::Soon).await.unwrap();
        } else {
            store.append(&lease, vec![sample(session(), seq)], Durability::Now).await.unwrap();
            answer(session(), seq);
        }
        match seq {
            // Closed and opened again: the write-ahead log goes and comes.
            150 => {
                store.close().await.unwrap();
                store = SqliteStore::open(&dir.join("neco.db")).await.unwrap();
            }
            250 => {
                store.fork(record(fork()), session(), FORKED_AT).await.unwrap();
                answer(fork(), FORKED_AT);
            }
            260 => {
                store.set_title(session(), "a title", TitleSource::Person).await.unwrap();
                lease_and_append(&store, vec![sample(fork(), FORKED_AT + 1)], Durability::Now).await.unwrap();
                answer(fork(), FORKED_AT + 1);
            }
            _ => {}
        }
    }
    store.flush().await.unwrap();
    answer(session(), EVENTS);
    store.close().await.unwrap();
}

/// What only shows how the work goes on is forced to the disk with what follows, or when somebody asks for that.
#[test]
fn what_shows_how_the_work_goes_on_costs_no_sync_and_is_there_once_somebody_waited_for_it() {
    let scene = tempfile::tempdir().unwrap();
    let dir = scene.path().canonicalize().unwrap().join("data");
    fs::create_dir(&dir).unwrap();
    let mut disk = Disk::of(&dir);
    let records = match watch(&dir, &child_command("show_how_the_work_goes_on_while_recorded", &dir)) {
        Ok(records) => records,
        Err(reason) if std::env::var_os("CI").is_some() => panic!("{reason}"),
        Err(reason) => return println!("SKIPPED: {reason}"),
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    lose_power(&mut disk, &records, how_many("NECO_POWER_CUTS", 40), |disk, left, what| {
        runtime.block_on(check(disk, left, &answered(disk, &dir), what));
    });
    assert_eq!(answered(&disk, &dir).get(&7), Some(&(2 * ROUNDS)));
    let syncs = records.iter().filter(|record| record.syncs()).count();
    assert!(syncs < 2 * ROUNDS as usize, "{syncs} syncs");
}

/// How often something is shown, and then waited for.
const ROUNDS: Seq = 40;

#[tokio::test]
#[ignore = "run by what_shows_how_the_work_goes_on_costs_no_sync_and_is_there_once_somebody_waited_for_it"]
async fn show_how_the_work_goes_on_while_recorded() {
    let Some(dir) = child_path() else { return };
    let mut answers = fs::OpenOptions::new().create(true).append(true).open(dir.join(ANSWERS)).unwrap();
    let store = SqliteStore::open(&dir.join("neco.db")).await.unwrap();
    store.create(record(session())).await.unwrap();
    let lease = store.lease(session()).await.unwrap();
    for round in 0..ROUNDS {
        for seq in [2 * round + 1, 2 * round + 2] {
            store.append(&lease, vec![sample(session(), seq)], Durability::Soon).await.unwrap();
            store.written(session(), seq).await.unwrap();
        }
        store.flush().await.unwrap();
        let answer = format!("{} {}\n", session().as_uuid().as_u128(), 2 * round + 2);
        answers.write_all(answer.as_bytes()).unwrap();
    }
    store.close().await.unwrap();
}
