//! What changes something over a WebSocket is done to its end, and once for each key; what is asked there is bounded.

use std::sync::Arc;
use std::time::Duration;

use futures::{SinkExt, StreamExt};
use http::header::AUTHORIZATION;
use neco_proto::app::Request;
use neco_proto::app::sessions::ForkSession;
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::tungstenite::client::IntoClientRequest;
use tokio_tungstenite::{WebSocketStream, client_async};

use crate::stage::Stage;

/// A WebSocket after its hello.
pub struct Socket(WebSocketStream<TcpStream>);

impl Socket {
    pub async fn open(stage: &Stage) -> Self {
        let mut request = format!("ws://{}/api/v1/ws", stage.address).into_client_request().unwrap();
        request.headers_mut().insert(AUTHORIZATION, format!("Bearer {}", stage.token).parse().unwrap());
        let stream = TcpStream::connect(stage.address).await.unwrap();
        let mut socket = Self(client_async(request, stream).await.unwrap().0);
        let told = socket.asked(json!({ "id": 1, "says": { "hello": { "protocol": 1 } } })).await;
        assert!(told["says"]["welcome"].is_object(), "{told}");
        socket
    }

    pub async fn say(&mut self, line: &Value) {
        self.0.send(Message::text(line.to_string())).await.unwrap();
    }

    /// Says something; what comes back under its number.
    pub async fn asked(&mut self, line: Value) -> Value {
        self.say(&line).await;
        self.heard(line["id"].as_u64().unwrap()).await
    }

    /// What comes back under a number.
    pub async fn heard(&mut self, id: u64) -> Value {
        loop {
            let Some(Ok(Message::Text(text))) = self.0.next().await else { panic!("no answer to {id}") };
            let told: Value = serde_json::from_str(&text).unwrap();
            if told["id"] == id {
                return told;
            }
        }
    }
}

fn fork(id: u64, key: Option<&str>, session: &str) -> Value {
    let call = json!({ "name": ForkSession::ROUTE.name, "arguments": { "session": session } });
    match key {
        Some(key) => json!({ "id": id, "key": key, "says": { "call": call } }),
        None => json!({ "id": id, "says": { "call": call } }),
    }
}

async fn until(what: &str, is: impl Fn() -> bool) {
    let waits = async {
        while !is() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(30), waits).await.unwrap_or_else(|_| panic!("never: {what}"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_change_is_made_when_its_socket_is_gone_and_its_answer_is_found_again() {
    let stage = Stage::new().await;
    let session = Arc::clone(&stage.session);
    let done = || session.callers.lock().unwrap().len();
    for (key, begun) in [(Some("one"), 1), (None, 2)] {
        let held = session.busy.lock().await;
        let mut socket = Socket::open(&stage).await;
        socket.say(&fork(2, key, "a")).await;
        session.stuck.subscribe().wait_for(|stuck| *stuck == begun).await.unwrap();
        // Neither a window that does not wait any more nor one that is gone ends it.
        socket.say(&json!({ "id": 2, "says": "cancel" })).await;
        drop(socket);
        drop(held);
        until("it is done", || done() == begun).await;
    }
    let mut socket = Socket::open(&stage).await;
    let again = socket.asked(fork(7, Some("one"), "a")).await;
    assert_eq!(again["says"]["called"]["arguments"]["session"], "a", "{again}");
    assert_eq!(done(), 2, "it was done once");
    let other = socket.asked(fork(8, Some("one"), "b")).await;
    assert!(other["says"]["not_called"]["message"].as_str().unwrap().contains("something else"), "{other}");
    let long = socket.asked(fork(9, Some(&"x".repeat(256)), "b")).await;
    assert!(long["says"]["not_called"].is_object() && done() == 2, "{long}");
    let new = socket.asked(fork(10, Some("two"), "b")).await;
    assert!(new["says"]["called"].is_object() && done() == 3, "{new}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_cancelled_before_it_began_is_done_when_it_is_asked_again() {
    let stage = Stage::new().await;
    let session = Arc::clone(&stage.session);
    let held = session.busy.lock().await;
    let mut socket = Socket::open(&stage).await;
    // As many as are worked on at a time.
    for id in 10..18 {
        socket.say(&fork(id, None, "a")).await;
    }
    session.stuck.subscribe().wait_for(|stuck| *stuck == 8).await.unwrap();
    socket.say(&fork(2, Some("late"), "b")).await;
    socket.say(&json!({ "id": 2, "says": "cancel" })).await;
    // What is said is read in its order.
    let told = socket.asked(json!({ "id": 3, "says": "nonsense" })).await;
    assert!(!told["says"]["error"].is_null(), "{told}");
    drop(held);
    let told = socket.asked(fork(4, Some("late"), "b")).await;
    assert!(told["says"]["called"].is_object(), "{told}");
    assert_eq!(session.callers.lock().unwrap().len(), 9);
}

#[tokio::test]
async fn what_is_asked_over_a_websocket_is_counted_and_bounded() {
    let stage = Stage::new().await;
    stage.json("POST /api/v1/sessions", r#"{"folder":"/project"}"#).await;
    let mut socket = Socket::open(&stage).await;
    let long = "x".repeat(9 * 1024 * 1024);
    let says = |id: u64, text: &str| {
        let send = json!({ "send": { "type": "steer", "text": text } });
        json!({ "id": id, "session": stage.session.id, "says": send })
    };
    let busy = stage.session.busy.lock().await;
    socket.say(&says(2, &long)).await;
    let told = socket.asked(says(3, &long)).await;
    assert!(told["says"]["error"].to_string().contains("room"), "{told}");
    drop(busy);
    let told = socket.heard(2).await;
    assert!(told["says"]["taken"].is_object(), "{told}");
    let told = socket.asked(says(4, &long)).await;
    assert!(told["says"]["taken"].is_object(), "there is room again: {told}");
    let stage = Stage::new().await;
    stage.json("POST /api/v1/sessions", r#"{"folder":"/project"}"#).await;
    let mut socket = Socket::open(&stage).await;
    // As many as may be asked in a minute, and what is added meanwhile.
    let mut id = 4;
    let mut refused = false;
    for _ in 0..200 {
        for _ in 0..100 {
            id += 1;
            let ask = json!({ "id": id, "session": stage.session.id, "says": { "ask": { "type": "snapshot" } } });
            socket.say(&ask).await;
        }
        refused |= socket.heard(id).await.to_string().contains("too much in one minute");
        if refused {
            break;
        }
    }
    assert!(refused, "{id} questions were answered");
}
