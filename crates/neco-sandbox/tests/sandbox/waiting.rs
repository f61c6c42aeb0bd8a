//! The process that splits off launchers: it is one for all commands, is replaced when it is gone, and goes with Neco.

use std::fs;
use std::time::{Duration, Instant};

use neco_config::section::SandboxSection;
use neco_sandbox::Strength;
use rustix::process::{Pid, Signal, kill_process};

use crate::stage::{Stage, run};

/// What waits for orders among the children of this process.
fn waiting() -> Vec<i32> {
    let own = std::process::id().to_string();
    let is_ours = |pid: &i32| {
        let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        status.lines().any(|line| line.strip_prefix("PPid:").is_some_and(|parent| parent.trim() == own))
            && line.split(|byte| *byte == 0).any(|word| word == b"--neco-wait-for-orders")
    };
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
}

#[tokio::test]
async fn launchers_are_split_off_one_process_which_is_replaced_when_it_is_gone() {
    for strength in [Strength::Strong, Strength::Weaker] {
        let stage = Stage::new();
        let Some(spawner) = stage.spawner(strength, &SandboxSection::default()) else { continue };
        assert!(waiting().is_empty(), "nothing was started yet");
        let several = (0..8).map(|number| {
            let (spawner, launch) = (spawner.clone(), stage.shell(&format!("echo {number}; exit {number}")));
            tokio::spawn(async move { run(&spawner, launch).await })
        });
        for (number, one) in several.collect::<Vec<_>>().into_iter().enumerate() {
            let (text, _) = one.await.unwrap();
            assert_eq!(text, format!("{number}\n"));
        }
        let first = waiting();
        assert_eq!(first.len(), 1, "one for all");
        kill_process(Pid::from_raw(first[0]).unwrap(), Signal::KILL).unwrap();
        let (text, ending) = run(&spawner, stage.shell("echo still; exit 3")).await;
        assert_eq!((text.as_str(), ending.exit), ("still\n", neco_safety::world::Exit::Code(3)));
        let second = waiting();
        assert!(second.len() == 1 && second != first);
        // Nothing of what one command was told is there for another, or for whoever looks at the process.
        let told = fs::read(format!("/proc/{}/environ", second[0])).unwrap();
        assert!(told.is_empty(), "{}", String::from_utf8_lossy(&told));
        drop(spawner);
        let begun = Instant::now();
        while !waiting().is_empty() {
            assert!(begun.elapsed() < Duration::from_secs(10), "it stays");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}
