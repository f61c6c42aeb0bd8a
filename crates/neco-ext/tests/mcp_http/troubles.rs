//! What goes wrong on the way to a server is told in words that say what to do.

use neco_ext::mcp::{McpError, ServerState};
use serde_json::json;
use tokio::net::TcpListener;

use crate::fake::Fake;
use crate::stage::{SERVER, Stage, greet, state};
use crate::web::{Reply, Web};

/// Why a server can't be reached that answers everything so.
async fn told(reply: Reply) -> String {
    let web = Web::start(move |_| reply.clone()).await;
    let servers = Stage::new().at(&web.mcp());
    let error = servers.learn(SERVER).await.unwrap_err();
    let McpError::Connection { why, .. } = error else { panic!("{error:?}") };
    assert_eq!(state(&servers), ServerState::Failed(why.clone()));
    why
}

#[tokio::test]
async fn every_kind_of_wrong_answer_has_its_words() {
    let long = format!("{{\"x\": \"{}\"}}", "x".repeat(9 * 1024 * 1024));
    for (reply, words) in [
        (Reply::new(200, "application/json", "what?"), "its answer can't be understood"),
        (Reply::new(200, "application/json", ""), "its answer can't be understood"),
        (Reply::new(200, "image/png", "PNG"), "it is image/png"),
        (Reply::new(200, "text/event-stream", ": nothing\n\n"), "it ended before it was whole"),
        (Reply::new(200, "application/json", long), "its answer is longer than 8 MB"),
        (Reply::new(200, "text/html; charset=utf-8", "<html>"), "is a web page, not an MCP server"),
        (Reply::new(404, "text/plain", "no"), "there is no MCP server at this address (HTTP 404)"),
        (Reply::new(500, "text/plain", "on\u{1b}[31m fire"), "it failed (HTTP 500): on\\x1b[31m fire"),
        (Reply::new(403, "text/plain", "go away"), "it does not allow this (HTTP 403): go away"),
        (Reply::json(200, &json!({ "jsonrpc": "2.0", "id": 77, "result": {} })), "it belongs to another question"),
        (Reply::moved(302, "/elsewhere"), "it has moved to"),
    ] {
        let shown = format!("{reply:?}").chars().take(80).collect::<String>();
        let why = told(reply).await;
        assert!(why.contains(words), "{shown}: {why}");
    }
}

#[tokio::test]
async fn nobody_at_the_address_is_told_with_the_address() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let error = Stage::new().at(&format!("{address}/mcp")).learn(SERVER).await.unwrap_err().to_string();
    assert!(error.contains(&format!("nothing answers at {address}")), "{error}");
    let error = Stage::new().at("ftp://h/mcp").learn(SERVER).await.unwrap_err().to_string();
    assert!(error.contains("does not begin with http:// or https://"), "{error}");
}

#[tokio::test]
async fn another_address_of_the_same_server_is_followed_and_another_server_never_asked() {
    let fake = Fake::default();
    let web = Web::start(move |asked| match asked.path() {
        "/mcp" => Reply::moved(307, "/mcp/"),
        _ => fake.answer(asked),
    })
    .await;
    let servers = Stage::new().at(&web.mcp());
    assert!(greet(&servers, "Ada").await.unwrap().contains("hello Ada"));

    let other = Web::start(|_| Reply::bare(200)).await;
    let elsewhere = other.mcp();
    let web = Web::start(move |_| Reply::moved(307, &elsewhere)).await;
    let servers = Stage::new().with(&web.mcp(), |address| address.bearer = Some("token-of-the-settings".into()));
    let error = servers.learn(SERVER).await.unwrap_err().to_string();
    assert!(error.contains(&format!("it has moved to {}", other.mcp())), "{error}");
    assert!(other.asked().is_empty(), "{:?}", other.asked());
}

#[tokio::test]
async fn the_old_transport_is_known_and_named() {
    let web = Web::start(|asked| match asked.method.as_str() {
        "GET" => Reply::new(200, "text/event-stream", "event: endpoint\ndata: /messages\n\n"),
        _ => Reply::bare(405),
    })
    .await;
    let error = Stage::new().at(&web.mcp()).learn(SERVER).await.unwrap_err().to_string();
    assert!(error.contains("it speaks only the old transport"), "{error}");
}

#[tokio::test]
async fn a_server_that_wants_a_login_says_how_whenever_it_wants_it() {
    let web = Web::start(|_| Reply::bare(401)).await;
    let servers = Stage::new().at(&web.mcp());
    for _ in 0..3 {
        let error = servers.learn(SERVER).await.unwrap_err();
        assert_eq!(error, McpError::NeedsLogin(SERVER.to_owned()), "and no pause keeps somebody who logged in waiting");
        assert!(error.to_string().contains("neco mcp login docs"));
        assert_eq!(state(&servers), ServerState::NeedsLogin);
    }
    // Some greet everybody, and want a login for the rest.
    let fake = Fake::default();
    let web = Web::start(move |asked| match asked.message().as_str() {
        "tools/list" => Reply::bare(401),
        _ => fake.answer(asked),
    })
    .await;
    let servers = Stage::new().at(&web.mcp());
    assert_eq!(servers.learn(SERVER).await.unwrap_err(), McpError::NeedsLogin(SERVER.to_owned()));
    assert_eq!(state(&servers), ServerState::NeedsLogin);
}
