//! Commands in a box: the other tests once more, and what only a box does.

use neco_proto::{ErrorCode, Risk};
use serde_json::json;

use crate::world::{BOXED, BWRAP, bench};

/// Whether boxes can be had here; said where not, and not put up with where everything is to be checked.
fn can_be_boxed() -> bool {
    let can = std::path::Path::new(BWRAP).is_file();
    assert!(can || std::env::var_os("CI").is_none(), "{BWRAP} is not there");
    if !can {
        eprintln!("skipped: {BWRAP} is not there");
    }
    can
}

fn again(test: &[&str]) {
    let output = std::process::Command::new(std::env::current_exe().unwrap()).args(test).env(BOXED, "1").output();
    let output = output.unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && !text.contains("running 0 tests"), "{text}");
}

#[test]
fn every_other_test_holds_in_a_box_too() {
    if can_be_boxed() {
        again(&["--skip", "boxed::"]);
    }
}

#[test]
fn leaving_the_box_is_asked_about_and_being_stopped_by_it_is_told() {
    if can_be_boxed() {
        again(&["--exact", "boxed::in_a_box", "--ignored"]);
    }
}

#[test]
fn a_search_that_goes_round_what_a_rule_closes_did_its_work() {
    if can_be_boxed() {
        again(&["--exact", "boxed::round_what_is_closed", "--ignored"]);
    }
}

#[tokio::test]
#[ignore = "run by the test above, in a box"]
async fn round_what_is_closed() {
    let bench = bench();
    let workspace = bench.workspace();
    std::fs::create_dir(workspace.join("secrets")).unwrap();
    for name in ["a.txt", "secrets/b.txt"] {
        std::fs::write(workspace.join(name), "one\n").unwrap();
    }
    let bench = bench.closing_in_box("Read(secrets/)");
    let run = |command: &str| bench.call("bash", json!({ "command": command }));
    let found = run("grep -rn one .").await.unwrap();
    assert_eq!(found.error_code, None, "{}", found.model);
    assert!(found.model.contains("a.txt:1:one") && !found.model.contains("b.txt:1:one"), "{}", found.model);
    assert!(found.model.contains("exit code 2"), "{}", found.model);
    let notes: Vec<&str> = found.model.lines().filter(|line| line.contains("a rule of the user")).collect();
    assert_eq!(
        notes,
        ["[left out, since a rule of the user closes it to commands: secrets; nothing that you can ask for opens it]"],
        "{}",
        found.model
    );
    let more = run("grep -rn one .; touch /etc/neco-test").await.unwrap();
    assert_eq!(more.error_code, Some(ErrorCode::SandboxDenied), "{}", more.model);
    let alone = run("cat secrets/b.txt").await.unwrap();
    assert_eq!(alone.error_code, Some(ErrorCode::SandboxDenied), "{}", alone.model);
    assert!(alone.model.contains("running without the sandbox does not either"), "{}", alone.model);
}

#[tokio::test]
#[ignore = "run by a test above, in a box"]
async fn in_a_box() {
    let mut bench = bench();
    for (wish, because) in [("network", "it reaches the network"), ("unsandboxed", "it runs without the sandbox")] {
        let plan = bench.plan("bash", json!({ "command": "true", wish: true })).await.unwrap();
        assert_eq!((plan.risk, plan.because.as_deref()), (Risk::Critical, Some(because)));
    }
    let plain = bench.plan("bash", json!({ "command": "true" })).await.unwrap();
    assert_ne!(plain.risk, Risk::Critical);
    let run = |arguments| bench.call("bash", arguments);
    let denied = run(json!({ "command": "touch /etc/neco-test" })).await.unwrap();
    assert_eq!(denied.error_code, Some(ErrorCode::SandboxDenied), "{}", denied.model);
    assert!(denied.model.contains("unsandboxed: true"), "{}", denied.model);
    let offline = run(json!({ "command": "bash -c 'exec 3<>/dev/tcp/192.0.2.1/80'" })).await.unwrap();
    assert_eq!(offline.error_code, Some(ErrorCode::SandboxDenied), "{}", offline.model);
    assert!(offline.model.contains("network: true"), "{}", offline.model);
    let waits = json!({ "command": "curl() { sleep 60; }; curl https://example.com", "timeout": 0.2 });
    let waited = run(waits).await.unwrap();
    assert_eq!(waited.error_code, Some(ErrorCode::CommandTimedOut), "{}", waited.model);
    assert!(waited.model.contains("it may have waited for the network"), "{}", waited.model);
    let silent = run(json!({ "command": "curl() { return 7; }; curl -s https://example.com" })).await.unwrap();
    assert!(silent.model.contains("commands have no network here"), "{}", silent.model);
    let slow = run(json!({ "command": "sleep 60", "timeout": 0.2 })).await.unwrap();
    assert!(slow.error_code == waited.error_code && !slow.model.contains("network"), "{}", slow.model);
    let own = run(json!({ "command": "ls /nowhere" })).await.unwrap();
    assert_eq!(own.error_code, None, "{}", own.model);
    let outside = bench.folder.path().join("outside");
    std::fs::create_dir(&outside).unwrap();
    let free =
        run(json!({ "command": format!("touch {}/x && echo done", outside.display()), "unsandboxed": true })).await;
    assert_eq!(free.unwrap().model, "done");
    // Who says yes to what needs the network is told that it is off: the yes opens it, for that call alone.
    let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = server.local_addr().unwrap().port();
    let connect = json!({ "command": format!(": > /dev/tcp/127.0.0.1/{port} && echo reached") });
    let offline = bench.call("bash", connect.clone()).await.unwrap();
    assert!(!offline.model.contains("reached\n") && offline.model != "reached", "{}", offline.model);
    bench.ctx.approved = true;
    assert_eq!(bench.call("bash", connect).await.unwrap().model, "reached");
    let plain = json!({ "command": "readlink /proc/self/ns/net" });
    let own_network = bench.call("bash", plain.clone()).await.unwrap().model;
    bench.ctx.approved = false;
    let again = bench.call("bash", plain).await.unwrap().model;
    let outside = std::fs::read_link("/proc/self/ns/net").unwrap().display().to_string();
    assert!(own_network != outside && again != outside, "what needs no network gets none: {own_network} {again}");
}
