//! Servers that offer something else while they run: it is there, and what says something else of itself is asked about.

use std::sync::Arc;

use neco_ext::mcp::{ServerSettings, Servers};
use neco_proto::ErrorCode;
use neco_toolkit::ToolContext;
use serde_json::json;

use crate::questions::{Person, chosen};
use crate::stage::{Stage, call_with, names, tool, until, within};

/// A server of each era that tells its changes.
async fn listened_to(stage: &Stage, era: &str) -> Servers {
    let servers = stage.learnt(stage.fake(&["--era", era])).await;
    if era == "modern" {
        stage.until_recorded("nobody listens", |line| line.contains("subscriptions/listen")).await;
    }
    servers
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_comes_later_is_there_in_both_eras() {
    for era in ["legacy", "modern"] {
        let stage = Stage::new();
        let servers = listened_to(&stage, era).await;
        assert!(tool(&servers, "grown").is_err(), "{era}");
        stage.said(&servers, "grow", json!({})).await;
        until("the new tool is not there", || names(&servers).contains(&"mcp__x__grown".to_owned())).await;
        assert_eq!(stage.said(&servers, "grown", json!({})).await, "called grown", "{era}");
        assert_eq!(stage.starts(), 1, "{era}");
    }
}

/// Whether a person must be asked about a call of `echo`, whatever rules allow.
async fn must_ask(stage: &Stage, servers: &Servers) -> bool {
    let call = tool(servers, "echo").unwrap().prepare(json!({ "text": "a" })).ok().unwrap();
    call.plan(&stage.context()).await.unwrap().must_ask.is_some()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_tool_that_says_something_else_is_asked_about_until_a_call_is_approved() {
    for era in ["legacy", "modern"] {
        let stage = Stage::new();
        let servers = listened_to(&stage, era).await;
        assert!(!must_ask(&stage, &servers).await, "{era}");
        stage.said(&servers, "change", json!({})).await;
        let says = |servers: &Servers| tool(servers, "echo").unwrap().description().to_owned();
        until("it says the same", || says(&servers).starts_with("IMPORTANT")).await;
        assert!(must_ask(&stage, &servers).await, "{era}");
        // Somebody let it through without being asked: that is no approval.
        stage.said(&servers, "echo", json!({ "text": "a" })).await;
        assert!(must_ask(&stage, &servers).await, "{era}");
        let approved = ToolContext { approved: true, ..stage.context() };
        call_with(approved, &servers, "echo", json!({ "text": "a" })).await.unwrap();
        assert!(!must_ask(&stage, &servers).await, "{era}");
        // Also for those who come later and know the server as it was then.
        within(servers.close()).await;
        let later = stage.servers(servers.status().into_iter().map(|status| status.settings).collect());
        assert!(says(&later).starts_with("IMPORTANT") && !must_ask(&stage, &later).await, "{era}");
    }
}

/// A server that changed one of its tools, which a person allowed, and which says once more what it said first when it is
/// started again.
async fn changed_back(stage: &Stage) -> Vec<ServerSettings> {
    let servers = listened_to(stage, "legacy").await;
    stage.said(&servers, "change", json!({})).await;
    until("it says the same", || tool(&servers, "echo").unwrap().description().starts_with("IMPORTANT")).await;
    let approved = ToolContext { approved: true, ..stage.context() };
    call_with(approved, &servers, "echo", json!({ "text": "a" })).await.unwrap();
    within(servers.close()).await;
    servers.status().into_iter().map(|status| status.settings).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_says_once_it_is_started_for_a_call_is_asked_about_before_the_call_is_sent() {
    for (says, code) in [
        (vec![vec![chosen("Call it")]], None),
        (vec![vec![chosen("No")]], Some(ErrorCode::RejectedByUser)),
        (Vec::new(), Some(ErrorCode::BlockedByPolicy)),
    ] {
        let stage = Stage::new();
        let servers = stage.servers(changed_back(&stage).await);
        assert!(!must_ask(&stage, &servers).await, "nobody knows yet that it has changed");
        let calls = || stage.recorded().iter().filter(|line| line.contains("tools/call")).count();
        let before = calls();
        let person = Arc::new(Person::who_says(says));
        let ctx = ToolContext { person: person.clone(), ..stage.context() };
        let result = call_with(ctx, &servers, "echo", json!({ "text": "a" })).await;
        assert_eq!(result.err().map(|error| error.code), code);
        assert_eq!(calls() - before, usize::from(code.is_none()), "{code:?}");
        assert_eq!(must_ask(&stage, &servers).await, code.is_some(), "{code:?}");
        let asked = person.asked.lock().unwrap();
        assert!(asked[0][0].text.contains("changed what it says of its tool echo"), "{}", asked[0][0].text);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_kept_of_a_changed_tool_blocks_nothing_once_the_server_says_the_old_thing_again() {
    let stage = Stage::new();
    let servers = listened_to(&stage, "legacy").await;
    stage.said(&servers, "change", json!({})).await;
    until("it says the same", || tool(&servers, "echo").unwrap().description().starts_with("IMPORTANT")).await;
    assert!(must_ask(&stage, &servers).await, "nobody allowed it");
    within(servers.close()).await;
    // Started anew it says what it said first, which is asked of it before a person is.
    let later = stage.servers(servers.status().into_iter().map(|status| status.settings).collect());
    assert!(tool(&later, "echo").unwrap().description().starts_with("IMPORTANT"), "that is what was kept");
    assert!(!must_ask(&stage, &later).await);
    assert_eq!(stage.said(&later, "echo", json!({ "text": "a" })).await, "a");
    assert_eq!(stage.starts(), 2);
}
