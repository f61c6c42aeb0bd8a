//! Calls that take a while: they are watched, go on for as long as they live, and are stopped.

use std::sync::Arc;
use std::time::Duration;

use neco_ext::mcp::{McpError, ServerSettings};
use neco_toolkit::{ToolContext, ToolError};
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::stage::{Heard, SERVER, Stage, call_with, until};

const ERAS: [&str; 2] = ["legacy", "modern"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_stopped_stops_in_the_server_too() {
    for era in ERAS {
        let stage = Stage::new();
        let servers = stage.learnt(stage.fake(&["--era", era])).await;
        let cancel = CancellationToken::new();
        let ctx = ToolContext { cancel: cancel.clone(), ..stage.context() };
        let (result, ()) = tokio::join!(call_with(ctx, &servers, "slow", json!({ "ms": 600_000 })), async {
            stage.until_recorded("it was not called", |line| line.contains("tools/call")).await;
            cancel.cancel();
        });
        assert_eq!(result, Err(ToolError::from(McpError::Stopped)), "{era}");
        stage.until_recorded("the server goes on", |line| line == "cancelled").await;
        assert_eq!(stage.said(&servers, "echo", json!({ "text": "next" })).await, "next", "{era}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_that_is_dropped_stops_in_the_server_too() {
    for era in ERAS {
        let stage = Stage::new();
        let servers = stage.learnt(stage.fake(&["--era", era])).await;
        tokio::select! {
            result = stage.call(&servers, "slow", json!({ "ms": 600_000 })) => panic!("{era}: {result:?}"),
            () = stage.until_recorded("it was not called", |line| line.contains("tools/call")) => {}
        }
        stage.until_recorded("the server goes on", |line| line == "cancelled").await;
        assert_eq!(stage.said(&servers, "echo", json!({ "text": "next" })).await, "next", "{era}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_in_silence_is_given_up_and_stops_in_the_server_too() {
    let stage = Stage::new();
    let patience = Duration::from_millis(500);
    let servers = stage.learnt(ServerSettings { call_timeout: patience, ..stage.fake(&[]) }).await;
    let result = stage.call(&servers, "slow", json!({ "ms": 600_000 })).await;
    assert_eq!(result, Err(ToolError::from(McpError::Silent { server: SERVER.to_owned(), after: patience })));
    stage.until_recorded("the server goes on", |line| line == "cancelled").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn progress_is_heard_and_keeps_a_call_alive() {
    for era in ERAS {
        let stage = Stage::new();
        let patient = ServerSettings { call_timeout: Duration::from_secs(1), ..stage.fake(&["--era", era]) };
        let servers = stage.learnt(patient).await;
        let heard = Arc::new(Heard::default());
        let ctx = ToolContext { live: heard.clone(), ..stage.context() };
        let slow = json!({ "ms": 2_000, "steps": 20 });
        assert_eq!(call_with(ctx, &servers, "slow", slow).await.unwrap().model, "done in 20 steps", "{era}");
        let heard = heard.0.lock().unwrap().clone();
        assert!(heard.lines().any(|line| line == "10 of 20 step 10 of 20"), "{era}: {heard}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_does_not_wait_for_another() {
    let stage = Stage::new();
    let servers = stage.learnt(stage.fake(&[])).await;
    let cancel = CancellationToken::new();
    let ctx = ToolContext { cancel: cancel.clone(), ..stage.context() };
    let (slow, ()) = tokio::join!(call_with(ctx, &servers, "slow", json!({ "ms": 600_000 })), async {
        stage.until_recorded("it was not called", |line| line.contains("tools/call")).await;
        assert_eq!(stage.said(&servers, "echo", json!({ "text": "quick" })).await, "quick");
        cancel.cancel();
    });
    assert_eq!(slow, Err(ToolError::from(McpError::Stopped)));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_logs_is_in_its_log() {
    let stage = Stage::new();
    let servers = stage.learnt(stage.fake(&[])).await;
    assert_eq!(stage.said(&servers, "log", json!({})).await, "logged");
    until("it is not in the log", || stage.log().contains("a line of the log")).await;
}
