//! What a server gets of this machine: no secrets of ours, no more than its box, and no process that outlives it.

use std::net::{Ipv4Addr, TcpListener};

use neco_ext::mcp::Servers;
use neco_proto::ErrorCode;
use secrecy::SecretString;
use serde_json::json;

use crate::stage::{SERVER, Stage, program_of, running, within};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_sees_its_own_variables_and_none_of_our_secrets() {
    let stage = Stage::new();
    let mut settings = stage.fake(&[]);
    let own = [("OWN_API_KEY", "for the server"), ("IS_PLAIN", "its own")];
    let own = own.map(|(name, value)| (name.to_owned(), SecretString::from(value.to_owned())));
    program_of(&mut settings).variables.extend(own);
    let servers = stage.learnt(settings).await;
    for (name, value) in [
        ("MY_API_KEY", "unset"),
        ("LOOKS_PLAIN", "unset"),
        ("OWN_API_KEY", "for the server"),
        ("IS_PLAIN", "its own"),
        ("NECO", "1"),
    ] {
        assert_eq!(stage.said(&servers, "env", json!({ "name": name })).await, value, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_in_its_box_writes_to_the_workspace_alone() {
    let stage = Stage::new();
    let Some(servers) = stage.boxed(stage.fake(&[])) else { return };
    within(servers.learn(SERVER)).await.unwrap();
    let (inside, outside) = (stage.workspace.join("made"), stage.root.join("made"));
    let written = stage.call(&servers, "write", json!({ "path": inside, "text": "a" })).await.unwrap();
    assert_eq!((written.model.as_str(), inside.exists()), ("written", true));
    let refused = stage.call(&servers, "write", json!({ "path": outside, "text": "a" })).await.unwrap();
    assert_eq!((refused.error_code, outside.exists()), (Some(ErrorCode::ToolFailed), false), "{}", refused.model);
    assert_eq!(stage.said(&servers, "env", json!({ "name": "MY_API_KEY" })).await, "unset");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_in_its_box_reaches_the_network_if_the_settings_say_so() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = json!({ "host": "127.0.0.1", "port": listener.local_addr().unwrap().port() });
    for (network, reached) in [(false, "failed"), (true, "connected")] {
        let stage = Stage::new();
        let mut settings = stage.fake(&[]);
        program_of(&mut settings).network = network;
        let Some(servers) = stage.boxed(settings) else { return };
        within(servers.learn(SERVER)).await.unwrap();
        let said = stage.said(&servers, "fetch_tcp", address.clone()).await;
        assert!(said.starts_with(reached), "with network = {network}: {said}");
    }
}

/// Closes a server that left a process behind.
async fn leaves_nothing(stage: &Stage, servers: &Servers) {
    within(servers.learn(SERVER)).await.unwrap();
    stage.until_recorded("it left nothing behind", |line| line.starts_with("forked ")).await;
    assert!(running(&stage.record) > 1);
    within(servers.close()).await;
    stage.until_none_runs().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_server_started_goes_with_it() {
    let stage = Stage::new();
    leaves_nothing(&stage, &stage.servers(vec![stage.fake(&["--misbehave", "fork"])])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_does_not_want_to_end_is_made_to() {
    let stage = Stage::new();
    let stubborn = stage.fake(&["--misbehave", "fork", "--misbehave", "ignore-term"]);
    leaves_nothing(&stage, &stage.servers(vec![stubborn])).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_of_a_box() {
    let stage = Stage::new();
    let stubborn = stage.fake(&["--misbehave", "fork", "--misbehave", "ignore-term"]);
    let Some(servers) = stage.boxed(stubborn) else { return };
    leaves_nothing(&stage, &servers).await;
}

/// Nobody closes anything when a session is dropped.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn servers_that_nobody_has_any_more_end() {
    let stage = Stage::new();
    drop(stage.learnt(stage.fake(&[])).await);
    stage.until_none_runs().await;
}
