//! How servers end, and what is said of one that ended too soon.

use neco_ext::mcp::McpError;
use serde_json::json;

use crate::stage::{SERVER, Stage, running, within};

/// Why a server could not be started.
async fn why(stage: &Stage, program: &str, arguments: &[&str]) -> String {
    let arguments = arguments.iter().map(|argument| (*argument).to_owned()).collect();
    let servers = stage.servers(vec![stage.program(program, arguments)]);
    match within(servers.learn(SERVER)).await {
        Err(McpError::Connection { why, .. }) => why,
        result => panic!("{result:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_closed_sees_the_end_of_its_input_and_ends_by_itself() {
    let stage = Stage::new();
    let servers = stage.learnt(stage.fake(&[])).await;
    within(servers.close()).await;
    assert_eq!(running(&stage.record), 0, "it is gone when it is closed");
    assert_eq!(stage.recorded().last().map(String::as_str), Some("end of input"), "it was not killed");
    assert_eq!(stage.said(&servers, "echo", json!({ "text": "again" })).await, "again");
    assert_eq!(stage.starts(), 2, "it is started again when something is wanted of it");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_last_lines_of_its_error_stream_are_told() {
    let stage = Stage::new();
    let script = "i=0; while [ $i -lt 2000 ]; do echo line $i; i=$((i + 1)); done >&2; echo 'Cannot find zod' >&2";
    let why = why(&stage, "sh", &["-c", script]).await;
    let expected = "it ended before it answered; it printed: line 1998⏎line 1999⏎Cannot find zod";
    assert_eq!(why, expected);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn who_lacks_the_network_of_a_box_is_told_the_setting() {
    let stage = Stage::new();
    let script = "echo 'npm error network getaddrinfo EAI_AGAIN registry.npmjs.org' >&2; exit 1";
    let settings = stage.program("sh", vec!["-c".to_owned(), script.to_owned()]);
    let Some(servers) = stage.boxed(settings) else { return };
    let Err(McpError::Connection { why, .. }) = within(servers.learn(SERVER)).await else { panic!("it is connected") };
    assert!(why.contains("EAI_AGAIN") && why.contains("`network = true`"), "{why}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_the_box_does_not_show_is_named_with_what_helps() {
    let stage = Stage::new();
    let file = tempfile::Builder::new().suffix(".sh").tempfile_in("/tmp").unwrap();
    let path = file.path().to_str().unwrap().to_owned();
    let Some(servers) = stage.boxed(stage.program("sh", vec![path.clone()])) else { return };
    let Err(McpError::Connection { why, .. }) = within(servers.learn(SERVER)).await else { panic!("it is connected") };
    assert!(why.contains(&format!("its box does not show {path}")) && why.contains("`sandbox = false`"), "{why}");
}
