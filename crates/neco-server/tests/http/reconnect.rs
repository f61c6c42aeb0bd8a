//! Whoever follows a session and loses the connection again and again sees what happened, once and in order.
//!
//! The logs are those of scenarios, as `fixtures/view/logs` has them.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::StreamExt;
use neco_proto::app::opening::OpenSession;
use neco_proto::app::{App, Caller};
use neco_proto::{Event, Seq};
use neco_server::http::connect;
use neco_view::reduce::View;
use proptest::prelude::*;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::session::chunk;
use crate::stage::Stage;

/// Hands bytes on and, once it may, cuts every connection after some, in turn.
fn cutter(listener: TcpListener, server: SocketAddr, cuts: Vec<usize>) -> Arc<AtomicBool> {
    let cutting = Arc::<AtomicBool>::default();
    let own = Arc::clone(&cutting);
    std::thread::spawn(move || {
        let mut cuts = cuts.into_iter();
        while let Ok((here, _)) = listener.accept() {
            let there = TcpStream::connect(server).unwrap();
            let most = if own.load(Ordering::SeqCst) { cuts.next().unwrap_or(usize::MAX) } else { usize::MAX };
            let (mut up, mut down) = (here.try_clone().unwrap(), there.try_clone().unwrap());
            std::thread::spawn(move || std::io::copy(&mut up, &mut down));
            std::thread::spawn(move || hand_on(there, here, most));
        }
    });
    cutting
}

fn hand_on(mut from: TcpStream, mut to: TcpStream, most: usize) {
    let (mut left, mut piece) = (most, [0; 512]);
    while left > 0 {
        let wanted = left.min(piece.len());
        match from.read(&mut piece[..wanted]) {
            Ok(read) if read > 0 && to.write_all(&piece[..read]).is_ok() => left -= read,
            Ok(_) | Err(_) => break,
        }
    }
    let _ = from.shutdown(std::net::Shutdown::Both);
    let _ = to.shutdown(std::net::Shutdown::Both);
}

/// The events of a stream of server-sent events that was cut somewhere.
fn read_events(told: &str) -> Vec<Event> {
    // What has no end was never said.
    let whole = told.rsplit_once("\n\n").map_or("", |(whole, _)| whole);
    let data = whole.split("\n\n").filter(|message| message.contains("event: event"));
    data.filter_map(|message| message.lines().find_map(|line| line.strip_prefix("data: ")))
        .map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

/// What `told` holds of the body: pieces without their lengths.
fn unchunked(told: &str) -> String {
    let (_, mut rest) = told.split_once("\r\n\r\n").unwrap_or_default();
    let mut body = String::new();
    while let Some((length, more)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length, 16).unwrap_or(0);
        let Some(piece) = more.get(..length).filter(|piece| !piece.is_empty()) else {
            body.push_str(more);
            break;
        };
        body.push_str(piece);
        rest = more.get(length + 2..).unwrap_or_default();
    }
    body
}

/// Follows by server-sent events, from cut to cut, until `last` was seen.
fn follow_stream(stage: &Stage, address: SocketAddr, last: Seq) -> Vec<Event> {
    let mut seen: Vec<Event> = Vec::new();
    while seen.last().is_none_or(|event| event.seq < last) {
        let mut stream = TcpStream::connect(address).unwrap();
        let request = format!(
            "GET {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nAccept: text/event-stream\r\nLast-Event-ID: {}\r\n\r\n",
            stage.path("/events"),
            stage.address,
            stage.token,
            seen.last().map_or(0, |event| event.seq),
        );
        let _ = stream.write_all(request.as_bytes());
        let (mut told, mut piece) = (String::new(), [0; 512]);
        let whole = format!("id: {last}\n");
        while let Ok(read) = stream.read(&mut piece)
            && read > 0
        {
            told.push_str(std::str::from_utf8(&piece[..read]).unwrap());
            if told.contains(&whole) && told.ends_with("\n\n\r\n") {
                break;
            }
        }
        seen.extend(read_events(&unchunked(&told)));
    }
    seen
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    #[test]
    fn a_window_that_is_cut_off_anywhere_ends_with_the_same_view(
        cuts in proptest::collection::vec(200usize..3000, 1..10),
        before in 0usize..20,
        after in 1usize..20,
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").unwrap();
            let address = listener.local_addr().unwrap();
            let stage = Stage::called(&[&address.to_string()]).await;
            stage.session.babble(before);
            let cutting = cutter(listener, stage.address, cuts);
            let server = connect(&format!("http://{address}"), &stage.token).await.unwrap();
            let opened = server.open(&Caller::person(), OpenSession { folder: "/project".to_owned(), ..OpenSession::default() }).await.unwrap();
            cutting.store(true, Ordering::SeqCst);
            let last = (before + after) as Seq;
            let adding = Arc::clone(&stage.session);
            let adds = tokio::spawn(async move {
                for number in 0..after {
                    adding.add(chunk(&format!("more {number}")));
                    tokio::task::yield_now().await;
                }
            });
            let seen: Vec<Event> =
                opened.client.events(0).take(before + after).map(Result::unwrap).collect().await;
            adds.await.unwrap();
            prop_assert_eq!(&seen, &stage.session.log());
            let stage = Arc::new(stage);
            let own = Arc::clone(&stage);
            let by_stream = tokio::task::spawn_blocking(move || follow_stream(&own, address, last)).await.unwrap();
            prop_assert_eq!(&by_stream, &stage.session.log());
            Ok(())
        })?;
    }
}

/// The log of a scenario that is short enough to come back at each of its events.
fn logs() -> Vec<Vec<Event>> {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/view/logs");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: std::path::PathBuf| -> Vec<Event> {
        let text = std::fs::read_to_string(path).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let numbered = |log: &Vec<Event>| log.iter().enumerate().all(|(at, event)| event.seq == at as Seq + 1);
    paths.into_iter().map(read).filter(|log| log.len() < 60 && numbered(log)).collect()
}

/// What people see of events.
fn seen(events: &[Event]) -> serde_json::Value {
    let mut view = View::default();
    events.iter().for_each(|event| drop(view.apply(event)));
    serde_json::to_value(view).unwrap()
}

/// The first event after `since` of a stream that is cut then.
async fn one_event(stage: &Stage, since: Seq) -> Event {
    let mut stream = tokio::net::TcpStream::connect(stage.address).await.unwrap();
    let request = format!(
        "GET {} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\nAccept: text/event-stream\r\nLast-Event-ID: {since}\r\n\r\n",
        stage.path("/events"),
        stage.address,
        stage.token,
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let (mut told, mut piece) = (Vec::new(), [0; 512]);
    loop {
        let text = String::from_utf8_lossy(&told).into_owned();
        if let Some(event) = read_events(&unchunked(&text)).into_iter().next() {
            return event;
        }
        let read = stream.read(&mut piece).await.unwrap();
        assert!(read > 0, "the stream ended: {text}");
        told.extend_from_slice(&piece[..read]);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_reader_that_comes_back_at_every_event_ends_with_the_same_view(
        log in proptest::sample::select(logs()),
        seed in proptest::collection::vec(any::<u32>(), 60),
        window in any::<bool>(),
    ) {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(async {
            let stage = Stage::new().await;
            stage.session.tell(&log);
            // In any order, each with a connection of its own that is cut after what it came for.
            let mut order: Vec<Seq> = (0..log.len() as Seq).collect();
            order.sort_by_key(|since| seed[*since as usize]);
            let server = connect(&stage.url(), &stage.token).await.unwrap();
            let opened = server.open(&Caller::person(), OpenSession { folder: "/project".to_owned(), ..OpenSession::default() }).await.unwrap();
            let mut got = Vec::new();
            for since in order {
                got.push(match window {
                    true => opened.client.events(since).next().await.unwrap().unwrap(),
                    false => one_event(&stage, since).await,
                });
            }
            got.sort_by_key(|event| event.seq);
            prop_assert_eq!(&got, &log);
            prop_assert_eq!(seen(&got), seen(&log));
            Ok(())
        })?;
    }
}
