//! A damaged file is set aside as it is, and a new one begins with what can be read of it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use futures::future::join_all;
use neco_proto::event::SessionStart;
use neco_proto::{ApprovalMode, Event, EventBody, Message, Mode, Part, SessionId};
use neco_store::{
    Catalog, Durability, EventLog, SearchQuery, SessionRecord, SqliteStore, StoreError, lease_and_append,
};
use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions, Connection};
use support::{append, event, new_store, record, seqs};

const PAGE: usize = 4096;

/// The files beside `path` that were set aside.
fn set_aside(path: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let name = |file: &PathBuf| file.file_name().unwrap().to_str().unwrap().to_owned();
    files.filter(|file| name(file).starts_with("neco-damaged-") && name(file).ends_with(".db")).collect()
}

async fn works(store: &SqliteStore) {
    let session = SessionId::new();
    store.create(record(session)).await.unwrap();
    lease_and_append(store, vec![event(session, 1)], Durability::Now).await.unwrap();
    assert_eq!(seqs(store, session).await, [1]);
    store.remove(session).await.unwrap();
}

#[tokio::test]
async fn what_is_no_database_is_set_aside_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("neco.db");
    let bytes = "not a database, but long enough to look for a header in it. ".repeat(100);
    fs::write(&path, &bytes).unwrap();
    let store = SqliteStore::open(&path).await.unwrap();
    let told = store.set_aside().unwrap();
    assert_eq!((set_aside(&path), (told.whole, told.cut.len(), told.lost.len())), (vec![told.path.clone()], (0, 0, 0)));
    assert_eq!(fs::read_to_string(&told.path).unwrap(), bytes);
    assert!(told.to_string().contains(told.path.to_str().unwrap()), "{told}");
    works(&store).await;
    store.close().await.unwrap();
    assert!(SqliteStore::open(&path).await.unwrap().set_aside().is_none());
}

#[tokio::test]
async fn a_damaged_first_page_is_set_aside_once_however_many_find_it() {
    let (_dir, path, store) = new_store().await;
    append(&store, 1, Durability::Now).await.unwrap();
    store.close().await.unwrap();
    let mut bytes = fs::read(&path).unwrap();
    bytes[100..PAGE].fill(0x55);
    fs::write(&path, &bytes).unwrap();
    let stores = join_all((0..6).map(|_| SqliteStore::open(&path))).await;
    let told: Vec<_> = stores.iter().filter_map(|store| store.as_ref().unwrap().set_aside()).collect();
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!(set_aside(&path), [told[0].path.clone()]);
    assert_eq!(fs::read(&told[0].path).unwrap(), bytes);
    works(stores[3].as_ref().unwrap()).await;
}

/// A store with ten sessions, each with 40 events and a picture.
async fn ten_sessions() -> (tempfile::TempDir, PathBuf, Vec<SessionId>) {
    let (dir, path, store) = new_store().await;
    let sessions: Vec<SessionId> = (0..10).map(|_| SessionId::new()).collect();
    for id in &sessions {
        store.create(record(*id)).await.unwrap();
        let mut events: Vec<Event> = (1..=40).map(|seq| event(*id, seq)).collect();
        events[0].body = start();
        let data = id.to_string().repeat(300);
        let parts = vec![Part::Text { text: "needle".into() }, Part::Image { media_type: "image/png".into(), data }];
        events[20].body = EventBody::Message(Message { parts, ..Message::user("") });
        lease_and_append(&store, events, Durability::Now).await.unwrap();
    }
    store.fork(record(session_of_fork()), sessions[9], 30).await.unwrap();
    lease_and_append(&store, vec![event(session_of_fork(), 31)], Durability::Now).await.unwrap();
    store.close().await.unwrap();
    (dir, path, sessions)
}

fn start() -> EventBody {
    EventBody::SessionStart(SessionStart {
        version: "1".into(),
        cwd: "/project".into(),
        model: "main".into(),
        scripted: true,
        mode: Mode::Agent,
        approval: ApprovalMode::Auto,
        generation: 8,
        sandbox: "none".into(),
        usual_sandbox: false,
        resumed: false,
        single: false,
        forked_from: None,
    })
}

fn session_of_fork() -> SessionId {
    SessionId::from(uuid::Uuid::from_u128(u128::MAX - 1))
}

#[tokio::test]
async fn damage_that_shows_later_is_named_and_what_is_readable_taken_over() {
    let (_dir, path, sessions) = ten_sessions().await;
    let whole = fs::read(&path).unwrap();
    let pages = whole.len() / PAGE;
    let (mut taken_over, mut all_events) = (0, 0);
    // Every page but the first in turn: whatever it holds, the rest is there.
    for page in 1..pages {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("neco.db");
        let mut bytes = whole.clone();
        bytes[page * PAGE..(page + 1) * PAGE].fill(0x55);
        fs::write(&path, &bytes).unwrap();

        let store = SqliteStore::open(&path).await.unwrap();
        assert!(store.set_aside().is_none(), "a start does not read everything");
        let mut is_damaged = false;
        for id in &sessions {
            match store.read(*id, 0, usize::MAX).await {
                Err(StoreError::Damaged { .. }) => is_damaged = true,
                other => drop(other.unwrap()),
            }
        }
        drop(store);
        if !is_damaged {
            continue;
        }
        let store = SqliteStore::open(&path).await.unwrap();
        let told = store.set_aside().unwrap().clone();
        assert_eq!(fs::read(&told.path).unwrap(), bytes, "page {page}");
        let mut events = 0;
        for id in &sessions {
            let there = seqs(&store, *id).await;
            assert_eq!(there, (1..=there.len() as u64).collect::<Vec<_>>(), "page {page}");
            events += there.len();
        }
        assert!(events >= 150, "page {page}: {events} of 400 events, {told:?}");
        all_events += events;
        assert!(
            told.whole >= 5 && told.whole as usize + told.cut.len() + told.lost.len() <= 12,
            "page {page}: {told:?}"
        );
        assert!(store.search(SearchQuery::new("needle", 99)).await.unwrap().len() >= 5, "page {page}");
        works(&store).await;
        taken_over += 1;
    }
    assert!(all_events / taken_over > 340, "{} of 400 events in the middle", all_events / taken_over);
    assert!(taken_over > 3, "{taken_over} of {pages} pages");
}

/// A store of twelve sessions of different lengths that were written side by side, as several windows write theirs.
async fn twelve_sessions() -> (tempfile::TempDir, PathBuf, Vec<(SessionId, u64)>) {
    let (dir, path, store) = new_store().await;
    let sessions: Vec<(SessionId, u64)> = (0..12).map(|number| (SessionId::new(), 60 + number * 10)).collect();
    for (at, (id, last)) in sessions.iter().enumerate() {
        store.create(record(*id)).await.unwrap();
        let mut first = event(*id, 1);
        first.body = start();
        lease_and_append(&store, vec![first], Durability::Soon).await.unwrap();
        for seq in 2..=*last {
            lease_and_append(&store, vec![event(*id, seq)], Durability::Soon).await.unwrap();
        }
        if at.is_multiple_of(3) {
            store.flush().await.unwrap();
        }
    }
    store.close().await.unwrap();
    (dir, path, sessions)
}

/// Whether an event lies in `bytes`, as it is written.
fn lies_in(bytes: &[u8], session: SessionId, seq: u64) -> bool {
    let mut event = event(session, seq);
    if seq == 1 {
        event.body = start();
    }
    let json = serde_json::to_string(&event).unwrap();
    memchr::memmem::find(bytes, json.as_bytes()).is_some()
}

#[tokio::test]
async fn of_a_file_that_was_cut_off_everything_that_is_left_is_taken_over() {
    let (_dir, path, sessions) = twelve_sessions().await;
    let whole = fs::read(&path).unwrap();
    let all_events: u64 = sessions.iter().map(|(_, last)| last).sum();
    let pages = whole.len() / PAGE;
    let cuts = [("a quarter", pages / 4 * PAGE), ("half", pages / 2 * PAGE), ("three quarters", pages * 3 / 4 * PAGE)];
    let torn = ("half, in the middle of a page", pages / 2 * PAGE + PAGE * 2 / 3);
    for (name, length) in cuts.into_iter().chain([torn]) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("neco.db");
        let left = &whole[..length];
        fs::write(&path, left).unwrap();
        let store = SqliteStore::open(&path).await.unwrap();
        let told = store.set_aside().unwrap().clone();
        assert_eq!(fs::read(&told.path).unwrap(), left);
        let (mut events, mut expected) = (0, 0);
        for (id, last) in &sessions {
            let there = store.read(*id, 0, usize::MAX).await.unwrap_or_default().len() as u64;
            let should = (1..=*last).take_while(|seq| lies_in(left, *id, *seq)).count() as u64;
            assert!(there >= should, "{name}: {there} of {should} that are left of {id}");
            (events, expected) = (events + there, expected + should);
        }
        println!(
            "cut to {name}: {} of {} sessions whole, {} up to where it was cut; {events} of {all_events} events, {expected} are in the rest",
            told.whole,
            sessions.len() + 1,
            told.cut.len()
        );
        assert!(expected > 0, "{name}: nothing was left, so this proves nothing");
        works(&store).await;
    }
}

#[tokio::test]
async fn a_file_without_its_head_is_read_page_by_page() {
    let (_dir, path, sessions) = ten_sessions().await;
    let mut bytes = fs::read(&path).unwrap();
    bytes[..100].fill(0x55);
    fs::write(&path, &bytes).unwrap();
    let store = SqliteStore::open(&path).await.unwrap();
    let told = store.set_aside().unwrap().clone();
    assert_eq!((told.whole, told.cut.len(), told.lost.len()), (12, 0, 0), "{told}");
    assert_eq!(fs::read(&told.path).unwrap(), bytes);
    assert_eq!(seqs(&store, sessions[9]).await.len(), 40);
    let beside = fs::read_dir(path.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name());
    let copies: Vec<_> = beside.filter(|name| name.to_str().unwrap().contains("-found")).collect();
    assert!(copies.is_empty(), "{copies:?}");
}

/// Changes a store by SQL, then damages it a little, so that the next opening looks closely.
async fn changed_and_damaged(path: &Path, sql: &'static str) {
    let mut connection = SqliteConnectOptions::new().filename(path).connect().await.unwrap();
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let mut bytes = fs::read(path).unwrap();
    bytes[..100].fill(0x55);
    fs::write(path, bytes).unwrap();
}

#[tokio::test]
async fn a_session_whose_row_is_no_row_is_made_of_its_events() {
    let (_dir, path, sessions) = ten_sessions().await;
    let sql = "PRAGMA ignore_check_constraints = ON; UPDATE sessions SET parent_seq = 'x', parent_id = x'0102', folder = x'ff'
        WHERE id = (SELECT max(id) FROM sessions WHERE parent_id IS NULL AND last_seq > 0)";
    changed_and_damaged(&path, sql).await;
    let store = SqliteStore::open(&path).await.unwrap();
    let told = store.set_aside().unwrap();
    assert_eq!((told.whole, told.cut.len(), told.lost.len()), (12, 0, 0), "{told}");
    for session in sessions {
        assert_eq!(seqs(&store, session).await.len(), 40);
    }
}

#[tokio::test]
async fn events_count_more_than_a_row_that_is_older() {
    let (_dir, path, sessions) = ten_sessions().await;
    changed_and_damaged(&path, "UPDATE sessions SET last_seq = 0 WHERE parent_id IS NULL").await;
    let store = SqliteStore::open(&path).await.unwrap();
    assert_eq!(store.set_aside().unwrap().whole, 12);
    for session in sessions {
        assert_eq!(seqs(&store, session).await.len(), 40);
    }
}

#[tokio::test]
async fn a_big_string_that_is_damaged_is_lost_and_nothing_else() {
    let (_dir, path, store) = new_store().await;
    let mut events: Vec<Event> = (1..=20).map(|seq| event(support::session(), seq)).collect();
    let odd: Vec<String> =
        (1..900u64).map(|number| format!("{:x}", number.wrapping_mul(0x9e37_79b9_7f4a_7c15))).collect();
    events[9].body = EventBody::Message(Message::user(odd.join(" ")));
    lease_and_append(&store, events, Durability::Now).await.unwrap();
    store.close().await.unwrap();
    let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    let kept: Vec<u8> = sqlx::query_scalar("SELECT content FROM blobs").fetch_one(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let middle = kept.len() / 2;
    let at = memchr::memmem::find(&bytes, &kept[middle..middle + 40]).unwrap();
    bytes[at + 20] ^= 0x04;
    bytes[..100].fill(0x55);
    fs::write(&path, bytes).unwrap();
    let store = SqliteStore::open(&path).await.unwrap();
    assert_eq!(store.set_aside().unwrap().whole, 1);
    let events = store.read(support::session(), 0, usize::MAX).await.unwrap();
    let EventBody::Message(message) = &events[9].body else { panic!("{:?}", events[9]) };
    assert_eq!(
        (events.len(), message.parts.as_slice()),
        (20, [Part::Text { text: "[lost: the session store was damaged]".into() }].as_slice())
    );
}

/// Puts another byte into the middle of some words in the file.
fn change_words(path: &Path, words: &str, byte: u8) {
    let mut bytes = fs::read(path).unwrap();
    let at = memchr::memmem::find(&bytes, words.as_bytes()).unwrap();
    bytes[at + words.len() / 2] = byte;
    fs::write(path, bytes).unwrap();
}

#[tokio::test]
async fn a_byte_that_is_no_text_costs_no_more_than_itself() {
    for (words, byte, whole) in [("the words of its title", 0xff, 2), ("piece 7 of", 0xff, 2), ("piece 7 of", b'"', 1)]
    {
        let (_dir, path, store) = new_store().await;
        let other = SessionId::new();
        store.create(SessionRecord { title: "the words of its title".to_owned(), ..record(other) }).await.unwrap();
        let mut events: Vec<Event> = (1..=20).map(|seq| event(other, seq)).collect();
        events[0].body = start();
        lease_and_append(&store, events, Durability::Now).await.unwrap();
        store.close().await.unwrap();
        change_words(&path, words, byte);
        let store = SqliteStore::open(&path).await.unwrap();
        let (listed, read) = (store.list(None, 9).await, store.read(other, 0, usize::MAX).await);
        let is_damage = |error: &StoreError| matches!(error, StoreError::Damaged { .. });
        let is_told = listed.as_ref().is_err_and(is_damage) || read.as_ref().is_err_and(is_damage);
        assert!(is_told, "{words}: {listed:?}, {read:?}");
        assert!(store.check().await.unwrap().is_some(), "{words}");
        store.close().await.unwrap();
        let store = SqliteStore::open(&path).await.unwrap();
        let told = store.set_aside().unwrap();
        assert_eq!((told.whole, told.lost.len()), (whole, 0), "{words}: {told}");
        let there = seqs(&store, other).await.len();
        assert_eq!(there, if byte == b'"' { 6 } else { 20 }, "{words}");
        assert_eq!(store.list(None, 9).await.unwrap().len(), 2);
        assert!(store.check().await.unwrap().is_none(), "{words}");
    }
}

#[tokio::test]
async fn a_file_of_which_nothing_is_left_is_told() {
    let (_dir, path, _) = ten_sessions().await;
    fs::write(&path, "").unwrap();
    let store = SqliteStore::open(&path).await.unwrap();
    assert!(store.set_aside().is_some_and(|told| told.reason.contains("empty")));
    works(&store).await;
    store.close().await.unwrap();
    assert!(SqliteStore::open(&path).await.unwrap().set_aside().is_none());
}

#[tokio::test]
async fn what_waits_in_the_write_ahead_log_is_taken_over_too() {
    let (_dir, path, store) = new_store().await;
    append(&store, 1, Durability::Now).await.unwrap();
    store.close().await.unwrap();
    // Somebody reads, so that what is written stays in the log.
    let mut reader = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    sqlx::query("BEGIN").execute(&mut reader).await.unwrap();
    sqlx::query("SELECT count(*) FROM events").fetch_one(&mut reader).await.unwrap();
    let store = SqliteStore::open(&path).await.unwrap();
    for seq in 2..=30 {
        append(&store, seq, Durability::Now).await.unwrap();
    }
    let elsewhere = tempfile::tempdir().unwrap();
    let copy = elsewhere.path().join("neco.db");
    fs::write(&copy, vec![0x55; fs::read(&path).unwrap().len()]).unwrap();
    fs::write(copy.with_file_name("neco.db-damaged"), "").unwrap();
    let mut log = fs::read(path.with_file_name("neco.db-wal")).unwrap();
    // The last frames are torn, as by a loss of power: the rest counts.
    let end = log.len() - 3 * (PAGE + 24);
    log[end..].iter_mut().for_each(|byte| *byte ^= 0x55);
    fs::write(copy.with_file_name("neco.db-wal"), log).unwrap();
    let store = SqliteStore::open(&copy).await.unwrap();
    assert!(store.set_aside().is_some());
    let there = seqs(&store, support::session()).await;
    assert!((20..30).contains(&there.len()), "{there:?}");
    assert_eq!(there, (1..=there.len() as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_mark_on_a_sound_file_changes_nothing() {
    let (_dir, path, sessions) = ten_sessions().await;
    let mark = path.with_file_name("neco.db-damaged");
    fs::write(&mark, "").unwrap();
    let store = SqliteStore::open(&path).await.unwrap();
    assert!(store.set_aside().is_none() && !mark.exists() && set_aside(&path).is_empty());
    assert_eq!(seqs(&store, sessions[0]).await.len(), 40);
    assert_eq!(seqs(&store, session_of_fork()).await.len(), 31);
}

#[tokio::test]
async fn a_damaged_search_index_is_made_anew() {
    let (_dir, path, _) = ten_sessions().await;
    let index = path.with_file_name("neco-search.db");
    let find = async || {
        let store = SqliteStore::open(&path).await.unwrap();
        let found = store.search(SearchQuery::new("needle", 99)).await.unwrap().len();
        store.close().await.unwrap();
        found
    };
    assert_eq!(find().await, 10);
    let whole = fs::read(&index).unwrap();
    for page in 0..whole.len() / PAGE {
        let mut bytes = whole.clone();
        bytes[page * PAGE..(page + 1) * PAGE].fill(0x55);
        fs::write(&index, bytes).unwrap();
        assert_eq!(find().await, 10, "page {page}");
    }
    assert!(set_aside(&path).is_empty(), "the sessions themselves are sound");
}

#[tokio::test]
async fn an_event_that_is_missing_is_damage_and_not_the_end_of_the_log() {
    let (_dir, path, sessions) = ten_sessions().await;
    let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    let gone = sqlx::query("DELETE FROM events WHERE session_id = ? AND seq = 17").bind(sessions[9].as_uuid());
    assert_eq!(gone.execute(&mut connection).await.unwrap().rows_affected(), 1);
    connection.close().await.unwrap();
    let store = SqliteStore::open(&path).await.unwrap();
    for session in [sessions[9], session_of_fork()] {
        let read = store.read(session, 0, usize::MAX).await;
        assert!(matches!(&read, Err(StoreError::Damaged { reason, .. }) if reason.contains("event 17")), "{read:?}");
    }
    assert_eq!(seqs(&store, sessions[0]).await.len(), 40);
    store.close().await.unwrap();
    let store = SqliteStore::open(&path).await.unwrap();
    let told = store.set_aside().unwrap();
    assert_eq!((told.cut.len(), told.lost.len()), (2, 0), "{told}");
    assert_eq!(seqs(&store, sessions[9]).await, (1..=16).collect::<Vec<_>>());
}

#[tokio::test]
async fn an_event_that_is_no_event_keeps_nobody_from_the_other_sessions() {
    let (_dir, path, sessions) = ten_sessions().await;
    let mut connection = SqliteConnectOptions::new().filename(&path).connect().await.unwrap();
    let bad = sqlx::query("UPDATE events SET body = 'no event' WHERE session_id = ? AND seq = 21");
    let bad = bad.bind(sessions[3].as_uuid()).execute(&mut connection).await.unwrap();
    assert_eq!(bad.rows_affected(), 1);
    connection.close().await.unwrap();
    let store = SqliteStore::open(&path).await.unwrap();
    let counted = store.count_messages(sessions.clone()).await.unwrap();
    assert_eq!((counted.len(), counted.get(&sessions[3])), (9, None));
    assert_eq!((counted[&sessions[2]], counted[&sessions[4]]), (1, 1));
    assert_eq!(store.list(None, 99).await.unwrap().len(), 12);
}
