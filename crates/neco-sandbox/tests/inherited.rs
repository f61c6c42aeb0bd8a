//! What a process inherits from whoever started it, or shows to those it starts.
#![allow(clippy::unwrap_used)]

use std::ffi::OsString;
use std::process::Command;

use neco_safety::secrets::hide_own_memory;
use neco_safety::world::{Ending, Exit, Launch, Leftovers, Process, Progress, Stdin};
use neco_sandbox::Spawner;

fn run(command: &str) -> (String, Ending) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let spawner = Spawner::new(vec![(OsString::from("PATH"), OsString::from("/usr/bin:/bin"))], &[]);
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
        let mut running = spawner.start(launch).await.unwrap();
        let mut text = Vec::new();
        loop {
            match running.next().await {
                Progress::Output(bytes) => text.extend_from_slice(bytes),
                Progress::Ended(ending) => return (String::from_utf8_lossy(&text).into_owned(), ending),
            }
        }
    })
}

/// Runs one of the tests below in a process of its own, started by a shell.
fn alone(before: &str, test: &str) {
    let script = format!("{before} exec \"$0\" --exact {test} --ignored --nocapture");
    let exe = std::env::current_exe().unwrap();
    let status = Command::new("sh").arg("-c").arg(script).arg(exe).env("NECO_TEST_HELD", "held-back").status();
    assert!(status.unwrap().success(), "{test}");
}

#[test]
#[ignore = "run by the test below, in a process of its own"]
fn with_children_ignored() {
    for code in [0, 7] {
        let (text, ending) = run(&format!("echo here; exit {code}"));
        assert_eq!((text.as_str(), ending), ("here\n", Ending { exit: Exit::Code(code), left_others: false }));
    }
}

#[test]
fn an_ignored_end_of_children_is_not_inherited() {
    alone("trap '' CHLD;", "with_children_ignored");
}

#[test]
#[ignore = "run by the test below, in a process of its own"]
fn with_hidden_memory() {
    let look = "cat /proc/$PPID/environ 2>&1 | tr '\\0' '\\n' | grep -c held-back";
    assert_eq!(run(look).0.trim(), "1", "it can be seen unless it is hidden");
    hide_own_memory().unwrap();
    let root = rustix::process::geteuid().is_root();
    // Root may look at everything; anyone else may not.
    assert_eq!(run(look).0.trim(), if root { "1" } else { "0" });
    assert_eq!(rustix::process::dumpable_behavior().unwrap(), rustix::process::DumpableBehavior::NotDumpable);
    // What this process needs of itself is still there.
    assert!(std::fs::read_dir("/proc/self/fd").unwrap().count() > 2);
    assert!(std::env::current_exe().unwrap().is_file());
}

#[test]
fn children_do_not_see_what_this_process_was_started_with() {
    alone("", "with_hidden_memory");
}
