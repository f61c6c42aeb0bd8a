//! A loss of power at any moment takes nothing that was answered, and what is left is sound.
//!
//! The writes and syncs of a process that works with a store are recorded. Then the disk is built as it may be
//! after a loss of power at many moments: with nothing but what was synced, with everything that was written,
//! and with a part of what was not synced. `NECO_POWER_CUTS` sets the number of moments.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use neco_proto::event::TitleSource;
use neco_proto::{Seq, SessionId};
use neco_store::{Catalog, Durability, EventLog, SqliteStore};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use support::shim::{self, Record};
use support::{child_command, child_path, how_many, record, sample, session};
use uuid::Uuid;

/// Where the child says what it was answered: session, last event.
const ANSWERS: &str = "answers";
const EVENTS: Seq = 420;
const FORKED_AT: Seq = 200;

fn fork() -> SessionId {
    SessionId::from(Uuid::from_u128(8))
}

/// A file as it is, as it is on the disk for certain, and what was done to it since.
#[derive(Clone, Default)]
struct File {
    now: Vec<u8>,
    synced: Vec<u8>,
    since: Vec<Change>,
}

#[derive(Clone)]
enum Change {
    Write(usize, Vec<u8>),
    Truncate(usize),
}

impl Change {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Self::Truncate(length) => bytes.resize(*length, 0),
            Self::Write(offset, data) => {
                let end = offset + data.len();
                bytes.resize(bytes.len().max(end), 0);
                bytes[*offset..end].copy_from_slice(data);
            }
        }
    }
}

/// A disk: files, their names, and the names that are certain.
#[derive(Default)]
struct Disk {
    folder: PathBuf,
    files: Vec<File>,
    names: BTreeMap<PathBuf, usize>,
    synced_names: BTreeMap<PathBuf, usize>,
}

impl Disk {
    fn apply(&mut self, record: &Record) {
        match record {
            Record::Create(path) => {
                self.files.push(File::default());
                self.names.insert(path.clone(), self.files.len() - 1);
            }
            Record::Write(path, offset, data) => self.change(path, Change::Write(*offset, data.clone())),
            Record::Truncate(path, length) => self.change(path, Change::Truncate(*length)),
            Record::Sync(path) => match self.names.get(path) {
                Some(file) => {
                    let file = &mut self.files[*file];
                    file.synced = file.now.clone();
                    file.since.clear();
                }
                None if *path == self.folder => self.synced_names = self.names.clone(),
                // It has no name any more, so nothing of it is left anyway.
                None => {}
            },
            Record::Unlink(path) => drop(self.names.remove(path)),
            Record::Rename(from, to) => {
                let file = self.names.remove(from).unwrap();
                self.names.insert(to.clone(), file);
            }
        }
    }

    fn change(&mut self, path: &Path, change: Change) {
        let Some(file) = self.names.get(path) else { return };
        let file = &mut self.files[*file];
        change.apply(&mut file.now);
        file.since.push(change);
    }

    /// What is there after a loss of power, when `stays` decides about each change that was not synced.
    fn after_loss(&self, mut stays: impl FnMut() -> bool) -> BTreeMap<PathBuf, Vec<u8>> {
        let content = |file: &usize, stays: &mut dyn FnMut() -> bool| {
            let file = &self.files[*file];
            let mut bytes = file.synced.clone();
            file.since.iter().filter(|_| stays()).for_each(|change| change.apply(&mut bytes));
            bytes
        };
        self.synced_names.iter().map(|(path, file)| (path.clone(), content(file, &mut stays))).collect()
    }
}

/// What was answered according to the file of answers, however much of it is on the disk.
fn answered(disk: &Disk, dir: &Path) -> BTreeMap<u128, Seq> {
    let text = disk.names.get(&dir.join(ANSWERS)).map(|file| disk.files[*file].now.as_slice()).unwrap_or_default();
    let text = String::from_utf8(text.to_vec()).unwrap();
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    pairs.map(|(session, seq)| (session.parse().unwrap(), seq.parse().unwrap())).collect()
}

async fn check(files: &BTreeMap<PathBuf, Vec<u8>>, answered: &BTreeMap<u128, Seq>, what: &str) {
    let dir = tempfile::tempdir().unwrap();
    for (path, bytes) in files {
        let name = path.file_name().unwrap().to_str().unwrap();
        // It is memory that processes share, and made anew by whoever comes first.
        if !name.ends_with("-shm") {
            fs::write(dir.path().join(name), bytes).unwrap();
        }
    }
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

#[tokio::test]
async fn nothing_answered_is_lost_and_nothing_is_corrupt() {
    let library = match shim::library() {
        Ok(library) => library,
        Err(reason) if std::env::var_os("CI").is_some() => panic!("{reason}"),
        Err(reason) => return println!("SKIPPED: {reason}"),
    };
    let scene = tempfile::tempdir().unwrap();
    let (dir, log) = (scene.path().join("data"), scene.path().join("log"));
    fs::create_dir(&dir).unwrap();
    let child = child_command("work_while_recorded", &dir)
        .env("LD_PRELOAD", &library)
        .env("NECO_SHIM_DIR", &dir)
        .env("NECO_SHIM_LOG", &log)
        .output();
    let _ = fs::remove_file(library);
    let output = child.unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));

    let records = shim::records(&log);
    let syncs = records.iter().filter(|record| matches!(record, Record::Sync(_))).count();
    assert!(syncs > EVENTS as usize / 2, "{syncs} syncs");
    let cuts = how_many("NECO_POWER_CUTS", 40);
    let mut random = 1u64;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 33) as usize
    };
    let moments: BTreeSet<usize> = (0..cuts).map(|_| next() % records.len()).chain([records.len() - 1]).collect();
    let mut disk = Disk { folder: dir.clone(), ..Disk::default() };
    for (moment, record) in records.iter().enumerate() {
        disk.apply(record);
        if !moments.contains(&moment) {
            continue;
        }
        let answered = answered(&disk, &dir);
        check(&disk.after_loss(|| false), &answered, &format!("moment {moment}, only what was synced")).await;
        check(&disk.after_loss(|| true), &answered, &format!("moment {moment}, everything")).await;
        let part = disk.after_loss(|| next() % 2 == 0);
        check(&part, &answered, &format!("moment {moment}, a part of it")).await;
    }
    let all = answered(&disk, &dir);
    assert_eq!(all.get(&7), Some(&EVENTS));
    println!("{} of {} moments, three disks each, {syncs} syncs: nothing lost", moments.len(), records.len());
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
    for seq in 1..=EVENTS {
        if seq.is_multiple_of(3) {
            store.append(vec![sample(session(), seq)], Durability::Soon).await.unwrap();
        } else {
            store.append(vec![sample(session(), seq)], Durability::Now).await.unwrap();
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
                store.append(vec![sample(fork(), FORKED_AT + 1)], Durability::Now).await.unwrap();
                answer(fork(), FORKED_AT + 1);
            }
            _ => {}
        }
    }
    store.flush().await.unwrap();
    answer(session(), EVENTS);
    store.close().await.unwrap();
}
