//! What a box adds to a command: the same shell started plainly, in the weaker box and in the strong one, in a small
//! workspace and in one of thousands of folders.
//!
//! This program is its own launcher, as Neco is.
#![allow(clippy::unwrap_used, reason = "without its input a benchmark has nothing to go on with")]

#[path = "support/promise.rs"]
mod promise;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use neco_config::section::SandboxSection;
use neco_safety::world::{Launch, Leftovers, Process, Progress, Stdin};
use neco_sandbox::{Ask, Roots, Sandbox, SandboxSetup, Settings, Spawner, Strength};
use tempfile::TempDir;
use tokio::runtime::Builder;

const PATH: &str = "/usr/local/bin:/usr/bin:/bin";

/// What a box may add.
const LIMITS: [(Strength, Duration); 2] =
    [(Strength::Weaker, Duration::from_millis(2)), (Strength::Strong, Duration::from_millis(12))];

/// Folders of a large workspace, each with as many in it.
const MANY: usize = 100;

fn main() {
    neco_sandbox::launcher::become_launcher_if_asked();
    if promise::is_asked_for() {
        report();
    }
}

fn report() {
    let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let workspace = folder.path().join("work");
    std::fs::create_dir(&workspace).unwrap();
    let made = Command::new("git").args(["init", "-q"]).current_dir(&workspace).status().unwrap();
    assert!(made.success(), "git init");
    let plain = Spawner::new(vec![("PATH".into(), PATH.into())], &[]);
    for size in ["small", "large"] {
        if size == "large" {
            fill(&workspace);
        }
        // In the same state of the machine: what was just made is still being written.
        let written = Command::new("sync").status().unwrap();
        assert!(written.success(), "sync");
        let without = promise::median(|| (), |()| runtime.block_on(shell(&plain, &workspace)));
        promise::report(&format!("a shell without a box, {size} workspace"), &format!("{without:?}"), "nothing", true);
        for (strength, limit) in LIMITS {
            let name = format!("{strength:?} box, {size} workspace");
            let Some(boxed) = boxed(&plain, &folder, &workspace, strength) else {
                promise::report(&name, "can't be had here", "nothing then", true);
                continue;
            };
            let with = promise::median(|| (), |()| runtime.block_on(shell(&boxed, &workspace)));
            let added = with.saturating_sub(without);
            promise::report(&name, &format!("{added:?} more"), &format!("at most {limit:?} more"), added <= limit);
        }
    }
}

/// A workspace as large ones are: ten thousand folders with a file in each.
fn fill(workspace: &Path) {
    for outer in 0..MANY {
        for inner in 0..MANY {
            let folder = workspace.join(format!("part-{outer}/module-{inner}"));
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(folder.join("source"), "").unwrap();
        }
    }
}

fn boxed(plain: &Spawner, folder: &TempDir, workspace: &Path, strength: Strength) -> Option<Spawner> {
    let setup = SandboxSetup {
        settings: Settings::of(&SandboxSection::default(), None),
        launcher: std::env::current_exe().unwrap(),
        namespaces: strength == Strength::Strong,
        bwrap: (strength == Strength::Strong).then(|| PathBuf::from("/usr/bin/bwrap")),
        home: None,
        own: Vec::new(),
        state: folder.path().join("state"),
        temporary: folder.path().to_path_buf(),
    };
    let sandbox = Sandbox::probe(setup, Ask::Anew).unwrap();
    let roots = Roots { writable: vec![workspace.to_path_buf()], readable: Vec::new() };
    (sandbox.report().strength == strength).then(|| plain.clone().boxed(&sandbox, roots).unwrap())
}

async fn shell(spawner: &Spawner, workspace: &Path) {
    let launch = Launch {
        program: "sh".into(),
        arguments: vec!["-c".into(), "true".into()],
        folder: workspace.to_path_buf(),
        stdin: Stdin::Closed,
        terminal: false,
        leftovers: Leftovers::End,
        variables: Vec::new(),
        errors: None,
    };
    let mut running = spawner.start(launch).await.unwrap();
    while let Progress::Output(_) = running.next().await {}
}
