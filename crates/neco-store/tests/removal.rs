//! What is removed is gone, from the files too, and a full disk does not keep it.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::fs;
use std::path::Path;

use neco_proto::event::{SessionTitle, TitleSource};
use neco_proto::{EventBody, Message, SessionId};
use neco_store::{Catalog, Durability, SearchQuery, SessionRecord, lease_and_append};
use support::{event, new_store, record};

fn holds(folder: &Path, word: &str) -> Vec<String> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_file());
    let has =
        |path: &std::path::PathBuf| fs::read(path).unwrap().windows(word.len()).any(|part| part == word.as_bytes());
    files.filter(has).map(|path| path.file_name().unwrap().to_string_lossy().into_owned()).collect()
}

async fn say(store: &neco_store::SqliteStore, session: SessionId, words: &str) {
    store.create(SessionRecord { title: words.to_owned(), ..record(session) }).await.unwrap();
    let mut said = event(session, 1);
    said.body = EventBody::Message(Message::user(words));
    lease_and_append(store, vec![said], Durability::Now).await.unwrap();
}

#[tokio::test]
async fn words_of_a_removed_session_are_in_no_file() {
    let (dir, _, store) = new_store().await;
    let (gone, stays) = (SessionId::new(), SessionId::new());
    say(&store, gone, &format!("password is zebraquux {}", "and more zebraquux ".repeat(200))).await;
    say(&store, stays, "another ordinary matter").await;
    assert_eq!(store.search(SearchQuery::new("zebraquux", 5)).await.unwrap().len(), 2);
    store.remove(gone).await.unwrap();
    assert_eq!(holds(dir.path(), "zebraquux"), Vec::<String>::new());
    assert!(!store.search(SearchQuery::new("ordinary", 5)).await.unwrap().is_empty());
    store.close().await.unwrap();
    assert_eq!(holds(dir.path(), "zebraquux"), Vec::<String>::new());
}

#[tokio::test]
async fn a_search_that_nobody_waits_for_any_more_is_in_nobodys_way() {
    use futures::FutureExt;
    let (_dir, _, store) = new_store().await;
    for number in 0..20 {
        say(&store, SessionId::new(), &format!("needle {number}")).await;
    }
    for _ in 0..30 {
        let search = store.search(SearchQuery::new("needle", 99));
        // Polled a few times and then dropped, wherever that is.
        let mut search = std::pin::pin!(search);
        for _ in 0..3 {
            let _ = search.as_mut().now_or_never();
            tokio::task::yield_now().await;
        }
    }
    assert_eq!(store.search(SearchQuery::new("needle", 99)).await.unwrap().len(), 40);
    store.close().await.unwrap();
}

#[tokio::test]
async fn another_title_is_no_use_of_a_session() {
    let (_dir, _, store) = new_store().await;
    let (older, newer) = (SessionId::new(), SessionId::new());
    for (session, at) in [(older, 1), (newer, 2)] {
        store.create(SessionRecord { created_ms: at, updated_ms: at, ..record(session) }).await.unwrap();
    }
    let before = store.list(None, 9).await.unwrap();
    let mut named = event(older, 1);
    named.body = EventBody::Title(SessionTitle { title: "x".to_owned(), by: TitleSource::Person });
    lease_and_append(&store, vec![named], Durability::Now).await.unwrap();
    let after = store.list(None, 9).await.unwrap();
    assert_eq!(after[0].id, newer);
    assert_eq!(after[1].updated_ms, before[1].updated_ms);
}

#[tokio::test]
async fn whoever_stops_waiting_for_a_removal_locks_nobody_out() {
    let (_dir, path, store) = new_store().await;
    let session = SessionId::new();
    say(&store, session, "hello").await;
    // As another process that opens it has it.
    let lock = fs::File::open(path.with_extension("db-lock")).unwrap();
    let is_free = || lock.try_lock_shared().is_ok() && lock.unlock().is_ok();
    let others_wait = async {
        while is_free() {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        removed = store.remove(session) => removed.unwrap(),
        () = others_wait => {}
    }
    while !is_free() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
}
