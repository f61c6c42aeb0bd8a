//! What is left of servers when the process that started them is killed: nothing.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::stage::{SERVER, Stage, running, skipped, until};

/// Says to the process that is killed where its server runs.
const WHERE: &str = "NECO_TEST_MCP_VICTIM";

/// The process that is killed: it has a server that would go on for ever.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "run by the tests below, in a process of its own"]
async fn victim() {
    let Ok(place) = std::env::var(WHERE) else { return };
    let stage = Stage::new();
    let servers = match place.as_str() {
        "box" => stage.boxed(stage.fake(&["--misbehave", "fork", "--misbehave", "ignore-term"])),
        _ => Some(stage.servers(vec![stage.fake(&["--misbehave", "ignore-term"])])),
    };
    let Some(servers) = servers else {
        println!("victim skipped");
        return;
    };
    servers.learn(SERVER).await.unwrap();
    println!("victim ready {}", stage.record.display());
    std::future::pending::<()>().await;
}

/// Kills a process with a server in this place.
async fn nothing_survives(place: &str) {
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::victim", "--ignored", "--nocapture"])
        .env(WHERE, place)
        .process_group(0)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    let said = lines.map_while(Result::ok).find(|line| line.contains("victim ")).unwrap_or_default();
    let Some((_, record)) = said.split_once("victim ready ") else {
        victim.wait().unwrap();
        assert_eq!(place, "box", "the victim was not ready: {said}");
        return skipped(&format!("the victim was not ready: {said}"));
    };
    let record = Path::new(record);
    assert!(running(record) > 0);
    victim.kill().unwrap();
    victim.wait().unwrap();
    until("a process survived", || running(record) == 0).await;
    // What stood in the way of the box is put right meanwhile; what is left of the folder hurts nobody.
    let _ = record.ancestors().nth(2).map(fs::remove_dir_all);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_server_survives_kill_9() {
    nothing_survives("here").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_server_in_a_box_survives_kill_9_nor_does_what_it_started() {
    nothing_survives("box").await;
}
