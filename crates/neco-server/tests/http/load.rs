//! How much a thousand readers cost: `ulimit -n 8192; cargo test --workspace --test http -- --ignored --nocapture load`.

use std::time::{Duration, Instant};

use futures::StreamExt;
use neco_proto::Event;
use neco_proto::app::opening::OpenSession;
use neco_proto::app::{App, Caller};
use neco_server::http::connect;

use crate::session::chunk;
use crate::stage::Stage;

/// Who follows.
const READERS: usize = 1000;

/// What is said to them.
const WORDS: usize = 100;

/// Bytes of memory that this process has, the readers among them.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok()).unwrap_or_default() * 1024
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "it takes a while and measures the machine"]
async fn load() {
    let (stage, before) = (Stage::new().await, memory());
    let (sender, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let begun = Instant::now();
    for _ in 0..READERS {
        let server = connect(&stage.url(), &stage.token).await.unwrap();
        let wanted = OpenSession { folder: "/project".to_owned(), ..OpenSession::default() };
        let opened = server.open(&Caller::person(), wanted).await.unwrap();
        let sender = sender.clone();
        tokio::spawn(async move {
            let _server = server;
            let mut events = opened.client.events(0);
            while let Some(Ok(Event { seq, .. })) = events.next().await {
                let _ = sender.send((seq, Instant::now()));
            }
        });
    }
    println!("{READERS} readers came in {:?}", begun.elapsed());
    println!("memory of server and readers together: {} MB", (memory() - before) / 1_000_000);
    let mut waits = Vec::new();
    for _ in 0..WORDS {
        let said = Instant::now();
        stage.session.add(chunk("word "));
        for _ in 0..READERS {
            let (_, at) = heard.recv().await.unwrap();
            waits.push(at.saturating_duration_since(said));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    waits.sort_unstable();
    let at = |part: usize| waits[(waits.len() * part / 100).min(waits.len() - 1)];
    println!("fan-out to {READERS}: p50 {:?}, p99 {:?}", at(50), at(99));
}
