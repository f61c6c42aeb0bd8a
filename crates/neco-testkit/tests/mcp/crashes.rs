//! Servers that die or never begin: what was wanted of them fails with a reason, and the next thing is tried again.

use std::time::{Duration, Instant};

use neco_ext::mcp::{McpError, ServerSettings, ServerState, Servers};
use neco_toolkit::ToolError;
use serde_json::json;

use crate::stage::{SERVER, Stage, signal, state, until, within};

fn ended() -> ToolError {
    let printed = Some("fake-mcp: crashed in a call, as asked".to_owned());
    McpError::Ended { server: SERVER.to_owned(), printed }.into()
}

fn not_connected(why: &str) -> McpError {
    McpError::Connection { server: SERVER.to_owned(), why: why.to_owned() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_dies_in_a_call_is_started_again_by_the_next() {
    let stage = Stage::new();
    let servers = stage.learnt(stage.fake(&["--misbehave", "crash-call"])).await;
    assert_eq!(stage.call(&servers, "echo", json!({ "text": "a" })).await, Err(ended()));
    assert_eq!(stage.starts(), 1);
    assert_eq!(stage.call(&servers, "echo", json!({ "text": "a" })).await, Err(ended()));
    assert_eq!(stage.starts(), 2);
    until("its last words are not in the log", || stage.log().contains("crashed in a call, as asked")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_killed_is_started_again_by_the_next_call() {
    let stage = Stage::new();
    let servers = stage.learnt(stage.fake(&[])).await;
    let pid = stage.said(&servers, "pid", json!({})).await;
    signal("KILL", &pid);
    stage.until_none_runs().await;
    // A call that meets it dying fails; the one after that does not.
    let next = stage.call(&servers, "pid", json!({})).await;
    let next = if next.is_err() { stage.call(&servers, "pid", json!({})).await } else { next };
    assert_ne!(next.unwrap().model, pid);
    assert_eq!(stage.starts(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_died_is_not_said_to_run() {
    let stage = Stage::new();
    let servers = stage.learnt(stage.fake(&[])).await;
    signal("KILL", &stage.said(&servers, "pid", json!({})).await);
    until("it is said to run", || state(&servers) != ServerState::Running).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_crashes_at_the_start_can_t_be_connected_to() {
    let stage = Stage::new();
    let servers = stage.servers(vec![stage.fake(&["--misbehave", "crash-start"])]);
    let error = within(servers.learn(SERVER)).await.unwrap_err();
    let why = "it ended before it answered; it printed: fake-mcp: crashed at the start, as asked";
    assert_eq!(error, not_connected(why));
    assert_eq!(state(&servers), ServerState::Failed(why.to_owned()));
    until("its last words are not in the log", || stage.log().contains("crashed at the start, as asked")).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn that_a_server_could_not_be_started_is_known_later_until_it_runs() {
    let stage = Stage::new();
    let count = stage.workspace.join("count").display().to_string();
    let settings = stage.fake(&["--misbehave", "crash-first", "2", "--state", &count]);
    let why = |servers: &Servers| servers.status().remove(0).failed.map(|failed| failed.why);
    let servers = stage.servers(vec![settings.clone()]);
    assert_eq!(why(&servers), None);
    let error = within(servers.learn(SERVER)).await.unwrap_err();
    let later = stage.servers(vec![settings.clone()]);
    assert_eq!(
        (state(&later), later.unknown()),
        (ServerState::Configured, vec![SERVER.to_owned()]),
        "it is tried again"
    );
    assert_eq!(error, not_connected(&why(&later).unwrap()));
    let others = stage.servers(vec![stage.fake(&[])]);
    assert_eq!(why(&others), None, "other settings may be right");
    within(later.learn(SERVER)).await.unwrap();
    assert_eq!(why(&stage.servers(vec![settings])), None);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_does_not_answer_at_the_start_can_t_be_connected_to() {
    let stage = Stage::new();
    let hangs = ["--misbehave", "hang-start"];
    let servers = stage.servers(vec![ServerSettings { start_timeout: Duration::from_secs(1), ..stage.fake(&hangs) }]);
    let error = within(servers.learn(SERVER)).await.unwrap_err();
    assert_eq!(error, not_connected("it did not answer within 1 s"));
    stage.until_none_runs().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_is_not_there_is_named() {
    let stage = Stage::new();
    let servers = stage.servers(vec![stage.program("no-such-server", Vec::new())]);
    let error = within(servers.learn(SERVER)).await.unwrap_err();
    assert_eq!(error, not_connected(r#"there is no program "no-such-server" in the PATH of commands"#));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_crashes_at_first_is_tried_again_after_a_pause() {
    let stage = Stage::new();
    let count = stage.workspace.join("count").display().to_string();
    // A start tries both eras, so that the first two crashes are one failure.
    let servers = stage.servers(vec![stage.fake(&["--misbehave", "crash-first", "2", "--state", &count])]);
    assert!(matches!(within(servers.learn(SERVER)).await, Err(McpError::Connection { .. })));
    let begun = Instant::now();
    within(servers.learn(SERVER)).await.unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(400), "{:?}", begun.elapsed());
    assert_eq!((state(&servers), stage.starts()), (ServerState::Running, 3));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pauses_grow_and_a_long_one_is_told_instead_of_waited_for() {
    let stage = Stage::new();
    let servers = stage.servers(vec![stage.fake(&["--misbehave", "crash-start"])]);
    for _ in 0..4 {
        assert!(matches!(within(servers.learn(SERVER)).await, Err(McpError::Connection { .. })));
    }
    let starts = stage.starts();
    let Err(McpError::Connection { why, .. }) = within(servers.learn(SERVER)).await else { panic!("it is there") };
    assert!(why.contains("it is tried again in"), "{why}");
    assert_eq!(stage.starts(), starts, "it was started all the same");
}
