//! What is left of commands when the process that started them is killed.
#![allow(clippy::unwrap_used)]

use std::ffi::OsString;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use neco_safety::world::{Launch, Leftovers, Stdin};
use neco_sandbox::Spawner;

const SLEEP: &str = "NECO_TEST_SLEEP";

fn sleepers(argument: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let cmdlines = entries.map(|entry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default());
    cmdlines.filter(|cmdline| cmdline.split(|byte| *byte == 0).any(|part| part == argument.as_bytes())).count()
}

/// The process that is killed: it starts a command with children and waits.
#[test]
#[ignore = "run by the test below, in a process of its own"]
fn victim() {
    let sleep = std::env::var(SLEEP).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let spawner = Spawner::new(vec![(OsString::from("PATH"), OsString::from("/usr/bin:/bin"))], &[]);
        let mut running = Vec::new();
        for _ in 0..3 {
            let command = format!("sleep {sleep} & (sleep {sleep} & sleep {sleep})");
            let launch = Launch {
                program: "sh".into(),
                arguments: vec!["-c".into(), command.into()],
                folder: "/".into(),
                stdin: Stdin::Closed,
                terminal: false,
                leftovers: Leftovers::End,
                variables: Vec::new(),
                errors: None,
            };
            running.push(spawner.start(launch).await.unwrap());
        }
        while sleepers(&sleep) < 9 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        println!("victim ready");
        std::future::pending::<()>().await;
    });
}

#[test]
fn nothing_survives_kill_9() {
    let sleep = format!("8{:07}.5", std::process::id());
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "victim", "--ignored", "--nocapture"])
        .env(SLEEP, &sleep)
        .process_group(0)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    assert!(lines.map_while(Result::ok).any(|line| line.contains("victim ready")));
    assert_eq!(sleepers(&sleep), 9);
    victim.kill().unwrap();
    victim.wait().unwrap();
    let start = Instant::now();
    while sleepers(&sleep) > 0 {
        assert!(start.elapsed() < Duration::from_secs(20), "{} processes survived", sleepers(&sleep));
        std::thread::sleep(Duration::from_millis(5));
    }
}
