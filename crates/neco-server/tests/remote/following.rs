//! Events reach every window in order and without gaps, however slow it is and whatever breaks.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt;
use neco_proto::{Client, ClientError, Query, Seq};
use neco_server::{RemoteClient, Server};
use proptest::prelude::*;

use crate::session::{Stage, chunk};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_window_that_does_not_read_stalls_nobody_and_misses_nothing() {
    const FLOOD: usize = 20_000;
    let stage = Stage::new();
    let window = stage.window().await;
    let mut slow = window.events(0);
    stage.session.add(chunk("first"));
    assert_eq!(slow.next().await.unwrap().unwrap().seq, 1);
    let session = Arc::clone(&stage.session);
    let begun = Instant::now();
    tokio::task::spawn_blocking(move || session.babble(FLOOD)).await.unwrap();
    let flooded = begun.elapsed();
    let quick: Vec<Seq> = window.events(1).take(FLOOD).map(|event| event.unwrap().seq).collect().await;
    assert_eq!(quick, (2..=FLOOD as Seq + 1).collect::<Vec<_>>());
    // Answers have a way of their own.
    window.ask(Query::Snapshot).await.unwrap();
    let late: Vec<Seq> = slow.take(FLOOD).map(|event| event.unwrap().seq).collect().await;
    assert_eq!(late, quick);
    assert!(flooded < Duration::from_secs(10), "the session was kept waiting: {flooded:?}");
}

#[tokio::test]
async fn after_a_break_it_goes_on_where_it_was_with_whoever_has_the_session_then() {
    let Stage { session, server, places, folder: _folder } = Stage::new();
    let window = RemoteClient::attach(&places, session.id).await.unwrap();
    session.babble(3);
    let mut events = window.events(0);
    for seq in 1..=3 {
        assert_eq!(events.next().await.unwrap().unwrap().seq, seq);
    }
    // As if its process had died: nobody is told.
    drop(server);
    let _again = Server::open(session.clone(), session.clone(), session.id, &places, "another").unwrap();
    session.babble(2);
    for seq in 4..=5 {
        assert_eq!(events.next().await.unwrap().unwrap().seq, seq);
    }
    assert!(window.ask(Query::Snapshot).await.is_ok(), "questions find the new one too");
}

#[tokio::test]
async fn when_nobody_takes_over_the_session_is_gone() {
    let Stage { session, server, places, folder: _folder } = Stage::new();
    let window = RemoteClient::attach(&places, session.id).await.unwrap();
    let mut events = window.events(0);
    session.babble(1);
    assert!(events.next().await.unwrap().is_ok());
    drop(server);
    let begun = Instant::now();
    assert_eq!(events.next().await, Some(Err(ClientError::Gone)));
    assert!(begun.elapsed() < Duration::from_secs(5));
    assert_eq!(events.next().await, None);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_window_gets_exactly_what_came_after_the_point_it_names(
        before in 0usize..40,
        after in 0usize..40,
        starts in proptest::collection::vec(0u64..60, 1..5),
        breaks in proptest::bool::ANY,
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async move {
            let Stage { session, server, places, folder: _folder } = Stage::new();
            session.babble(before);
            let window = RemoteClient::attach(&places, session.id).await.unwrap();
            let total = (before + after) as Seq;
            let followers: Vec<_> = starts.iter().map(|start| (*start).min(total)).map(|start| {
                let events = window.events(start);
                tokio::spawn(async move {
                    let seen: Vec<Seq> = events.map(|event| event.unwrap().seq).collect().await;
                    assert_eq!(seen, (start + 1..=total).collect::<Vec<_>>());
                })
            }).collect();
            let server = if breaks {
                drop(server);
                Server::open(session.clone(), session.clone(), session.id, &places, "another").unwrap()
            } else {
                server
            };
            session.babble(after);
            session.end();
            for follower in followers {
                follower.await.unwrap();
            }
            server.end().await;
        });
    }
}
