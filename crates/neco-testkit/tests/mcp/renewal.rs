//! Settings that change while servers run.

use neco_ext::mcp::ServerSettings;
use serde_json::json;

use crate::stage::{Stage, names, program_of};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_the_settings_say_the_same_of_goes_on() {
    let stage = Stage::new();
    let settings = stage.fake(&[]);
    let servers = stage.learnt(settings.clone()).await;
    let pid = stage.said(&servers, "pid", json!({})).await;
    servers.renew(vec![settings, ServerSettings { name: "y".to_owned(), ..stage.fake(&[]) }]);
    assert_eq!(stage.said(&servers, "pid", json!({})).await, pid);
    assert_eq!((servers.status().len(), names(&servers).len()), (2, 18));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_the_settings_leave_out_is_stopped_and_its_tools_go() {
    let stage = Stage::new();
    let servers = stage.learnt(stage.fake(&[])).await;
    servers.renew(Vec::new());
    assert!(names(&servers).is_empty() && servers.status().is_empty());
    stage.until_none_runs().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_may_do_something_else_now_is_started_anew() {
    let changes: [fn(&mut ServerSettings, &Stage); 3] = [
        |settings, stage| program_of(settings).writable.push(stage.root.clone()),
        |settings, _| program_of(settings).unboxed = false,
        |settings, _| program_of(settings).network = true,
    ];
    for (number, change) in changes.into_iter().enumerate() {
        let stage = Stage::new();
        let mut settings = stage.fake(&[]);
        let servers = stage.learnt(settings.clone()).await;
        let pid = stage.said(&servers, "pid", json!({})).await;
        change(&mut settings, &stage);
        servers.renew(vec![settings]);
        assert_ne!(stage.said(&servers, "pid", json!({})).await, pid, "change {number} is not heeded");
    }
}
