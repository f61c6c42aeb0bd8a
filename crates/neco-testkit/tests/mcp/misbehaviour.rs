//! Servers that misbehave: what they do is bounded, and nobody but their caller hears of it.

use std::time::Duration;

use neco_ext::mcp::{Caller, McpError, ServerSettings, Servers};
use neco_proto::ErrorCode;
use neco_toolkit::ToolError;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::stage::{SERVER, Stage, running, signal, until, within};

/// A server with this fault that is given up after a moment of silence.
fn impatient(stage: &Stage, fault: &str) -> ServerSettings {
    ServerSettings { call_timeout: Duration::from_millis(500), ..stage.fake(&["--misbehave", fault]) }
}

fn silent() -> ToolError {
    McpError::Silent { server: SERVER.to_owned(), after: Duration::from_millis(500) }.into()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn lines_that_are_no_messages_and_answers_to_nothing_are_passed_over() {
    for fault in ["junk", "twice", "extra-id"] {
        for era in ["legacy", "modern"] {
            let stage = Stage::new();
            let servers = stage.learnt(stage.fake(&["--era", era, "--misbehave", fault])).await;
            for text in ["one", "two", "three"] {
                assert_eq!(stage.said(&servers, "echo", json!({ "text": text })).await, text, "{fault} {era}");
            }
            assert_eq!(stage.starts(), 1, "{fault} {era}");
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_is_too_big_fails_its_call_alone() {
    let stage = Stage::new();
    let servers = stage.learnt(stage.fake(&["--misbehave", "big"])).await;
    let error = stage.call(&servers, "echo", json!({ "text": "a" })).await.unwrap_err();
    assert!(error.code == ErrorCode::ToolFailed && error.message.contains("longer than 8 MB"), "{error}");
    assert_eq!(stage.said(&servers, "add", json!({ "a": 1, "b": 2 })).await, r#"{"sum":3}"#);
    assert_eq!(stage.starts(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_line_without_an_end_is_silence() {
    let stage = Stage::new();
    let servers = stage.learnt(impatient(&stage, "no-newline")).await;
    assert_eq!(stage.call(&servers, "echo", json!({ "text": "a" })).await, Err(silent()));
    within(servers.close()).await;
    assert_eq!(running(&stage.record), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_without_an_answer_is_given_up_and_the_server_told() {
    for fault in ["hang-call", "wrong-id"] {
        let stage = Stage::new();
        let servers = stage.learnt(impatient(&stage, fault)).await;
        let error = stage.call(&servers, "echo", json!({ "text": "a" })).await.unwrap_err();
        assert_eq!((error.code, &error), (ErrorCode::ToolTimedOut, &silent()), "{fault}");
        stage.until_recorded("it was not told", |line| line.contains("notifications/cancelled")).await;
        // The conversation goes on.
        let caller = Caller::silent(CancellationToken::new());
        let read = within(servers.read(SERVER, "test://item/1", &caller)).await.unwrap();
        assert_eq!((read.model.as_str(), stage.starts()), ("[test://item/1]\nItem 1.", 1), "{fault}");
    }
}

/// A pipe that nobody reads is full at some time, and whoever writes to it waits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_reads_nothing_any_more_is_given_up_and_can_be_closed() {
    let stage = Stage::new();
    let settings = ServerSettings { call_timeout: Duration::from_millis(500), ..stage.fake(&[]) };
    let servers = stage.learnt(settings).await;
    signal("STOP", &stage.said(&servers, "pid", json!({})).await);
    let long = "x".repeat(1 << 20);
    assert_eq!(stage.call(&servers, "echo", json!({ "text": long })).await, Err(silent()));
    within(servers.close()).await;
    stage.until_none_runs().await;
}

/// Whether it can be talked to while it floods is luck; that it can be got rid of is not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_lines_ends_with_the_server() {
    let stage = Stage::new();
    let flooding = ServerSettings { start_timeout: Duration::from_secs(3), ..stage.fake(&["--misbehave", "flood"]) };
    let servers = stage.servers(vec![flooding]);
    if within(servers.learn(SERVER)).await.is_ok() {
        stage.until_none_runs().await;
    }
    within(servers.close()).await;
    stage.until_none_runs().await;
    let log = stage.log();
    assert!(log.contains("noise that nobody asked for") && log.len() < 100_000, "{} bytes", log.len());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_errors_fills_no_disk_and_stops_no_call() {
    let stage = Stage::new();
    let servers = stage.learnt(stage.fake(&["--misbehave", "stderr-flood"])).await;
    assert_eq!(stage.said(&servers, "echo", json!({ "text": "dry" })).await, "dry");
    let now = Servers::log_file(&stage.data_dir, SERVER);
    let old = now.with_extension("log.old");
    until("the log is not begun anew", || old.exists()).await;
    for file in [now, old] {
        let size = file.metadata().map_or(0, |found| found.len());
        assert!(size < 600 * 1024, "{}: {size} bytes", file.display());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_of_an_unknown_version_is_not_talked_to() {
    for era in ["legacy", "modern"] {
        let stage = Stage::new();
        let servers = stage.servers(vec![stage.fake(&["--era", era, "--misbehave", "bad-version"])]);
        let Err(McpError::Connection { why, .. }) = within(servers.learn(SERVER)).await else {
            panic!("{era}: it is connected")
        };
        assert_eq!(why, "it speaks a version of the protocol that is not known here: 2099-01-01", "{era}");
    }
}
