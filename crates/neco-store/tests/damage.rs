//! A damaged file is set aside as it is, and a new one begins with what can be read of it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use futures::future::join_all;
use neco_proto::event::SessionStart;
use neco_proto::{ApprovalMode, Event, EventBody, Message, Mode, Part, SessionId};
use neco_store::{Catalog, Durability, EventLog, SearchQuery, SqliteStore, StoreError};
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
    store.append(vec![event(session, 1)], Durability::Now).await.unwrap();
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
        store.append(events, Durability::Now).await.unwrap();
    }
    store.fork(record(session_of_fork()), sessions[9], 30).await.unwrap();
    store.append(vec![event(session_of_fork(), 31)], Durability::Now).await.unwrap();
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
        resumed: false,
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
    let (mut taken_over, mut unreadable, mut all_events) = (0, 0, 0);
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
        if told.lost.len() >= 10 {
            // The page that leads to all events: without it none is found.
            unreadable += 1;
            continue;
        }
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
    assert!(taken_over > 3 && unreadable <= 1, "{taken_over} of {pages} pages, {unreadable} unreadable");
}

#[tokio::test]
async fn of_a_file_that_was_cut_off_what_is_left_is_taken_over() {
    let (_dir, path, sessions) = ten_sessions().await;
    let whole = fs::read(&path).unwrap();
    let mut most = 0;
    for eighths in [4, 6, 7] {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("neco.db");
        let left = &whole[..whole.len() / PAGE * eighths / 8 * PAGE];
        fs::write(&path, left).unwrap();
        let store = SqliteStore::open(&path).await.unwrap();
        let told = store.set_aside().unwrap().clone();
        assert_eq!(fs::read(&told.path).unwrap(), left);
        // Those whose beginning is gone are lost, and named; without looking past the cut nothing would be known.
        assert_eq!(told.whole as usize + told.cut.len() + told.lost.len(), 12, "{told}");
        let mut events = 0;
        for id in &sessions {
            events += store.read(*id, 0, usize::MAX).await.map_or(0, |events| events.len());
        }
        most = most.max(events);
        works(&store).await;
    }
    assert!(most > 100, "{most} of 400");
}

#[tokio::test]
async fn a_file_without_its_head_is_read_with_another_one() {
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
    let copies: Vec<_> = beside.filter(|name| name.to_str().unwrap().contains("headed")).collect();
    assert!(copies.is_empty(), "{copies:?}");
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
