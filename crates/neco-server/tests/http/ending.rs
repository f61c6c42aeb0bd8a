//! A server on its way out: who works may go on for a moment, and whoever asks for something is told what to do.

use std::time::Duration;

use neco_proto::event::{AgentNode, NodeState};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::once::Socket;
use crate::stage::Stage;

/// An agent below the root in a state.
fn agent(state: NodeState) -> AgentNode {
    let usage = json!(neco_proto::Usage::default());
    let node = json!({
        "id": neco_proto::AgentId::new(), "name": "explore-2", "type": "act_only", "role": "explore", "children": [],
        "task": "look", "model_group": "fast", "state": state, "progress": 0.5, "usage": usage,
        "subtree_usage": usage, "created": "1970-01-01T00:00:00Z",
        "changed": "1970-01-01T00:00:00Z",
    });
    serde_json::from_value(node).unwrap()
}

/// A request that is half said.
async fn begun(stage: &Stage, line: &str) -> TcpStream {
    let mut stream = TcpStream::connect(stage.address).await.unwrap();
    let head = format!("{line} HTTP/1.1\r\nHost: {}\r\nAuthorization: Bearer {}\r\n", stage.address, stage.token);
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// The rest of it, and what comes back.
async fn ended(mut stream: TcpStream, body: &str) -> String {
    let rest = format!("Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}", body.len());
    stream.write_all(rest.as_bytes()).await.unwrap();
    let mut told = String::new();
    let _ = tokio::time::timeout(Duration::from_secs(20), stream.read_to_string(&mut told)).await;
    told
}

#[tokio::test]
async fn agents_below_the_root_may_go_on_and_whoever_asks_is_told_to_ask_again() {
    let mut stage = Stage::new().await;
    stage.json("POST /api/v1/sessions", r#"{"folder":"/project"}"#).await;
    *stage.session.below.lock().unwrap() = vec![agent(NodeState::Running), agent(NodeState::Paused)];
    let mut socket = Socket::open(&stage).await;
    let ready = begun(&stage, "GET /health/ready").await;
    let commands = begun(&stage, &format!("POST {}", stage.path("/commands"))).await;
    // All of it is on its way to the server before that ends.
    tokio::time::sleep(Duration::from_millis(300)).await;
    stage.stop.cancel();
    assert!(tokio::time::timeout(Duration::from_millis(700), &mut stage.served).await.is_err(), "an agent works");
    let told = ended(ready, "").await;
    assert!(told.starts_with("HTTP/1.1 503 ") && told.contains("about to end"), "{told}");
    let told = ended(commands, r#"{"type":"steer","text":"turn left"}"#).await;
    assert!(told.starts_with("HTTP/1.1 503 ") && told.to_lowercase().contains("retry-after: 1"), "{told}");
    assert!(told.contains("6003"), "{told}");
    let says = json!({ "send": { "type": "steer", "text": "turn left" } });
    let told: Value = socket.asked(json!({ "id": 7, "session": stage.session.id, "says": says })).await;
    assert_eq!(told["says"]["error"]["failed"]["code"], 6003, "{told}");
    assert!(stage.session.commands.lock().unwrap().is_empty());
    *stage.session.below.lock().unwrap() = vec![agent(NodeState::Completed), agent(NodeState::Paused)];
    let served = tokio::time::timeout(Duration::from_secs(20), &mut stage.served).await;
    served.expect("nobody works any more").unwrap().unwrap();
}

#[tokio::test]
async fn a_server_that_nobody_needs_ends_and_one_that_somebody_is_connected_to_does_not() {
    let mut stage = Stage::idle(Duration::from_secs(2)).await;
    let socket = Socket::open(&stage).await;
    assert!(tokio::time::timeout(Duration::from_secs(3), &mut stage.served).await.is_err(), "somebody is connected");
    drop(socket);
    let served = tokio::time::timeout(Duration::from_secs(30), &mut stage.served).await;
    served.expect("nobody needs it any more").unwrap().unwrap();
}
