//! What is left when the process that built a box is killed: nothing runs, and the next one cleans up.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use neco_config::section::SandboxSection;
use neco_sandbox::{Ask, Sandbox, SandboxSetup, Settings, Strength};

use crate::stage::{Stage, skipped, with_argument};

const SLEEP: &str = "NECO_TEST_SLEEP";

/// Settings of the person's, which start a program of theirs.
const MINE: &str = "[alias]\n\tst = !mine\n";

/// The process that is killed: a command in its box started others, and some of them hide.
#[test]
#[ignore = "run by the test below, in a process of its own"]
#[allow(clippy::print_stdout)]
fn victim() {
    let sleep = std::env::var(SLEEP).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let stage = Stage::new();
        let Some(spawner) = stage.spawner(Strength::Strong, &SandboxSection::default()) else {
            println!("victim skipped");
            return;
        };
        // The person's own repository is moved away, and another one put in its place.
        assert!(Command::new("git").args(["init", "-q"]).arg(stage.work("mine")).status().unwrap().success());
        std::fs::write(stage.work("mine/.git/config"), MINE).unwrap();
        let plant = "echo '{}' >.mcp.json; mv mine mine2; mkdir -p half/.git/hooks; echo evil >half/.git/hooks/pre-commit; \
            rm -f .git/logs/x; mkdir -p .git/logs .git/info; ln -s /evil .git/logs/x; echo '* filter=x' >.git/info/attributes; \
            for i in sub mine; do git init -q $i; printf '[core]\\nfsmonitor=/evil\\n' >$i/.git/config; done";
        let command = format!("{plant}; sleep {sleep} & env -i setsid sleep {sleep} & setsid sleep {sleep} & wait");
        let _running = spawner.start(stage.shell(&command)).await.unwrap();
        while with_argument(&sleep).len() < 3 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        println!("victim ready {}", stage.folder.path().display());
        std::future::pending::<()>().await;
    });
}

#[test]
fn nothing_survives_kill_9_and_what_stood_in_is_removed_by_the_next() {
    let sleep = format!("5{:07}.5", std::process::id());
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "killed::victim", "--ignored", "--nocapture"])
        .env(SLEEP, &sleep)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(victim.stdout.take().unwrap()).lines();
    let said = lines.map_while(Result::ok).find(|line| line.contains("victim ")).unwrap_or_default();
    let Some((_, folder)) = said.split_once("victim ready ") else {
        victim.wait().unwrap();
        skipped(Strength::Strong, &format!("the victim was not ready: {said}"));
        return;
    };
    let folder = PathBuf::from(folder);
    let stand_in = folder.join("home/project/.claude");
    assert!(stand_in.is_dir());
    victim.kill().unwrap();
    victim.wait().unwrap();
    let begun = Instant::now();
    while !with_argument(&sleep).is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(20), "something survived");
        std::thread::sleep(Duration::from_millis(5));
    }
    // The watchdog sees to it that all is put right, and whoever starts next would do so, too.
    let at = |name: &str| folder.join("home/project").join(name);
    while at(".mcp.json").exists() || stand_in.exists() || at(".git/commondir").exists() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it was left behind");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(at(".mcp.json.refused-1").is_file() && at("sub/.git").is_dir());
    let is_evil =
        |name: &str| std::fs::read_to_string(at(name).join(".git/config")).is_ok_and(|text| text.contains("evil"));
    let parts = ["half/.git/hooks/pre-commit", ".git/logs/x", ".git/info/attributes"];
    let is_left = |name: &&str| std::fs::symlink_metadata(at(name)).is_ok();
    while is_evil("sub") || is_evil("mine") || parts.iter().any(is_left) {
        assert!(begun.elapsed() < Duration::from_secs(20), "a repository of the command's stayed as it was");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(std::fs::read_to_string(at("mine2/.git/config")).unwrap(), MINE, "what is the person's stays");
    next_start(&folder);
    assert!(folder.join("home/project/.vscode").is_dir(), "what was there stays");
    std::fs::remove_dir_all(folder).unwrap();
}

fn next_start(folder: &Path) {
    let setup = SandboxSetup {
        settings: Settings::of(&SandboxSection::default(), None),
        launcher: "/bin/false".into(),
        namespaces: false,
        bwrap: None,
        home: None,
        own: Vec::new(),
        state: folder.join("state"),
        temporary: folder.to_path_buf(),
    };
    drop(Sandbox::probe(setup, Ask::IfChanged).unwrap());
}
