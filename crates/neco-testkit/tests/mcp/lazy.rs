//! A server runs when something of it is wanted, and no longer.

use std::time::Duration;

use neco_ext::mcp::{Caller, McpError, ServerSettings, ServerState};
use neco_proto::ErrorCode;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::stage::{SERVER, Stage, names, running, state, tool, within};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_servers_in_the_settings_start_nothing() {
    let stage = Stage::new();
    let named = |number| ServerSettings { name: format!("x{number}"), ..stage.fake(&[]) };
    let servers = stage.servers((0..100).map(named).collect());
    assert_eq!(servers.unknown().len(), 100);
    assert!(servers.status().iter().all(|status| status.state == ServerState::Configured));
    assert!(names(&servers).is_empty());
    assert!(!stage.record.exists() && running(&stage.record) == 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_calls_start_a_known_server_once() {
    let stage = Stage::new();
    let settings = stage.fake(&[]);
    within(stage.learnt(settings.clone()).await.close()).await;
    let servers = stage.servers(vec![settings]);
    let pids = futures::future::join_all((0..5).map(|_| stage.said(&servers, "pid", json!({})))).await;
    assert!(pids.iter().all(|pid| *pid == pids[0]), "{pids:?}");
    assert_eq!(stage.starts(), 2);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_known_server_is_started_with_the_session_if_the_settings_say_so() {
    let stage = Stage::new();
    let settings = ServerSettings { auto_start: true, ..stage.fake(&[]) };
    within(stage.learnt(settings.clone()).await.close()).await;
    let broken = ServerSettings { name: "y".to_owned(), ..stage.fake(&["--misbehave", "crash-start"]) };
    let servers = stage.servers(vec![settings, broken]);
    let unknown = servers.unknown();
    assert_eq!(unknown, [SERVER, "y"]);
    let errors = within(servers.start(unknown)).await;
    assert!(matches!(errors.as_slice(), [McpError::Connection { server, .. }] if server == "y"), "{errors:?}");
    assert_eq!(state(&servers), ServerState::Running);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_idle_server_is_stopped_and_started_again_by_the_next_call() {
    let stage = Stage::new();
    let servers = stage.learnt(ServerSettings { idle: Duration::from_millis(200), ..stage.fake(&[]) }).await;
    stage.until_none_runs().await;
    assert_eq!((state(&servers), names(&servers).len()), (ServerState::Known, 18));
    assert_eq!(stage.said(&servers, "echo", json!({ "text": "back" })).await, "back");
    assert_eq!(stage.starts(), 2);
    stage.until_none_runs().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_at_work_is_not_idle() {
    let stage = Stage::new();
    let servers = stage.learnt(ServerSettings { idle: Duration::from_millis(200), ..stage.fake(&[]) }).await;
    assert_eq!(stage.said(&servers, "slow", json!({ "ms": 1_000 })).await, "done in 1 steps");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_is_switched_off_or_not_there_says_so() {
    let stage = Stage::new();
    let settings = stage.fake(&[]);
    within(stage.learnt(settings.clone()).await.close()).await;
    let servers = stage.servers(vec![ServerSettings { enabled: false, ..settings }]);
    assert_eq!((state(&servers), names(&servers).len()), (ServerState::Disabled, 0));
    assert!(servers.unknown().is_empty());
    let off = within(servers.learn(SERVER)).await.unwrap_err();
    assert_eq!((off.code(), off), (ErrorCode::ServerDisabled, McpError::Disabled(SERVER.to_owned())));
    let gone = within(servers.learn("y")).await.unwrap_err();
    assert_eq!((gone.code(), gone), (ErrorCode::ServerNotFound, McpError::NotFound("y".to_owned())));
    assert_eq!(tool(&servers, "echo").err().map(|error| error.code), Some(ErrorCode::ToolNotFound));
    assert_eq!(stage.starts(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_does_not_wait_for_a_start() {
    let stage = Stage::new();
    let hangs = stage.fake(&["--misbehave", "hang-start"]);
    let servers = stage.servers(vec![ServerSettings { start_timeout: Duration::from_secs(300), ..hangs }]);
    let (learnt, ()) = tokio::join!(within(servers.learn(SERVER)), async {
        stage.until_recorded("it was not started", |line| line.starts_with("started ")).await;
        within(servers.close()).await;
    });
    assert!(learnt.is_err());
    stage.until_none_runs().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn closing_means_everybody_who_waits_for_a_start() {
    let stage = Stage::new();
    let hangs = stage.fake(&["--misbehave", "hang-start"]);
    let servers = stage.servers(vec![ServerSettings { start_timeout: Duration::from_secs(300), ..hangs }]);
    let learning = futures::future::join_all((0..3).map(|_| servers.learn(SERVER)));
    let (learnt, ()) = tokio::join!(within(learning), async {
        stage.until_recorded("it was not started", |line| line.starts_with("started ")).await;
        within(servers.close()).await;
    });
    assert!(learnt.iter().all(|learnt| *learnt == Err(McpError::Stopped)), "{learnt:?}");
    stage.until_none_runs().await;
    assert_eq!(stage.starts(), 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_nobody_waits_for_is_over() {
    let stage = Stage::new();
    let servers = stage.servers(vec![stage.fake(&["--misbehave", "hang-start"])]);
    let cancel = CancellationToken::new();
    let caller = Caller::silent(cancel.clone());
    let (read, ()) = tokio::join!(within(servers.read(SERVER, "test://text", &caller)), async {
        stage.until_recorded("it was not started", |line| line.starts_with("started ")).await;
        cancel.cancel();
    });
    assert_eq!(read.unwrap_err(), McpError::Stopped);
    stage.until_none_runs().await;
    assert_eq!((state(&servers), servers.unknown()), (ServerState::Configured, vec![SERVER.to_owned()]));
}
