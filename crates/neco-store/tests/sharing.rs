//! Several stores on one file, as several processes have it.
#![allow(clippy::unwrap_used, reason = "a test")]

mod support;

use std::sync::Arc;

use futures::StreamExt as _;
use futures::future::join_all;
use neco_proto::{AgentId, Event, SessionId};
use neco_store::{Catalog, Durability, EventLog, SqliteStore, StoreError, lease_and_append};
use support::{append, event, new_store, record, seqs, session};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_write_their_own_sessions_at_the_same_time() {
    let (_dir, path, store) = new_store().await;
    let writers = (0..3).map(|index| {
        let path = path.clone();
        tokio::spawn(async move {
            let store = SqliteStore::open(&path).await.unwrap();
            let session = SessionId::new();
            store.create(record(session)).await.unwrap();
            for seq in 1..=150 {
                let durability = if (seq + index) % 2 == 0 { Durability::Now } else { Durability::Soon };
                lease_and_append(&store, vec![event(session, seq)], durability).await.unwrap();
            }
            store.close().await.unwrap();
            session
        })
    });
    for session in join_all(writers).await {
        assert_eq!(seqs(&store, session.unwrap()).await, (1..=150).collect::<Vec<_>>());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn all_may_be_the_first() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("new").join("neco.db");
    let openers = (0..8).map(|_| {
        let path = path.clone();
        tokio::spawn(async move {
            let store = SqliteStore::open(&path).await.unwrap();
            store.create(record(SessionId::new())).await.unwrap();
            store
        })
    });
    let stores: Vec<SqliteStore> = join_all(openers).await.into_iter().map(Result::unwrap).collect();
    for store in &stores {
        assert_eq!(store.list(None, 99).await.unwrap().len(), 8);
    }
}

#[tokio::test]
async fn a_session_goes_on_where_another_process_left_it() {
    let (_dir, path, here) = new_store().await;
    append(&here, 1, Durability::Now).await.unwrap();
    let there = SqliteStore::open(&path).await.unwrap();
    append(&there, 2, Durability::Now).await.unwrap();
    append(&there, 3, Durability::Now).await.unwrap();
    append(&here, 4, Durability::Soon).await.unwrap();
    here.flush().await.unwrap();
    assert_eq!(seqs(&there, session()).await, [1, 2, 3, 4]);
}

#[tokio::test]
async fn what_is_refused_is_shown_to_nobody() {
    let (_dir, path, here) = new_store().await;
    let here = Arc::new(here);
    append(&here, 1, Durability::Now).await.unwrap();
    let mut followed = Arc::clone(&here).subscribe(session(), 0);
    followed.next().await.unwrap().unwrap();
    let there = SqliteStore::open(&path).await.unwrap();
    let kept = event(session(), 2);
    lease_and_append(&there, vec![kept.clone()], Durability::Now).await.unwrap();
    let refused = Event { agent_id: AgentId::new(), ..kept.clone() };
    assert!(lease_and_append(here.as_ref(), vec![refused], Durability::Now).await.is_err());
    assert_eq!(followed.next().await, Some(Ok(kept)));
}

#[tokio::test]
async fn two_writers_of_one_session_do_not_mix() {
    let (_dir, path, here) = new_store().await;
    append(&here, 1, Durability::Now).await.unwrap();
    let there = SqliteStore::open(&path).await.unwrap();
    append(&there, 2, Durability::Now).await.unwrap();
    let gap = StoreError::Gap { session: session(), expected: 3, got: 2 };
    assert_eq!(append(&here, 2, Durability::Now).await, Err(gap));

    append(&here, 3, Durability::Now).await.unwrap();
    append(&there, 4, Durability::Now).await.unwrap();
    append(&here, 4, Durability::Soon).await.unwrap();
    let gap = StoreError::Gap { session: session(), expected: 5, got: 4 };
    assert_eq!(here.commit(SessionId::new()).await, Ok(()), "another session hears nothing of it");
    assert_eq!(here.flush().await, Err(gap), "what was appended and then refused is told");
    here.flush().await.unwrap();
    assert_eq!(seqs(&here, session()).await, [1, 2, 3, 4]);
    append(&here, 5, Durability::Now).await.unwrap();
}
