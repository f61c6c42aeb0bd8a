//! Servers that offer something else while they run: it is there, and what says something else of itself is asked about.

use neco_ext::mcp::Servers;
use neco_toolkit::ToolContext;
use serde_json::json;

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
