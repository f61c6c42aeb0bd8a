//! Workspaces with more in them than one look gets through: what a command made there is looked at all the same, and
//! what is the person's stays as it is.

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use neco_config::section::SandboxSection;
use neco_safety::world::Process;
use neco_sandbox::Strength;

use crate::stage::{Stage, all, run};

/// More than the look before a command reads.
const FLOOD: usize = 42_000;

fn flood(stage: &Stage, folder: &str) {
    fs::create_dir_all(stage.work(folder)).unwrap();
    for number in 0..FLOOD {
        fs::File::create(stage.work(&format!("{folder}/f{number}"))).unwrap();
    }
}

fn git_init(stage: &Stage, folder: &str) {
    let made = Command::new("git").args(["init", "-q", folder]).current_dir(&stage.workspace).status().unwrap();
    assert!(made.success());
}

#[tokio::test]
async fn what_is_made_behind_a_flood_is_looked_at() {
    let stage = Stage::new();
    let Some(spawner) = stage.spawner(Strength::Strong, &SandboxSection::default()) else { return };
    run(&spawner, stage.shell("true")).await;
    let plant = format!(
        "git init -q z/evil; printf '[core]\\nfsmonitor=/w/evil\\n' >z/evil/.git/config; mkdir f; cd f; seq {FLOOD} | xargs touch"
    );
    let mut running = spawner.start(stage.shell(&plant)).await.unwrap();
    let (text, _) = all(&mut running).await;
    assert_eq!(running.taken_away(), [stage.work("z/evil/.git/config")], "{text}");
    let (text, _) = run(&spawner, stage.shell("rm -r f; echo gone")).await;
    assert_eq!(text, "gone\n");
    assert!(!fs::read_to_string(stage.work("z/evil/.git/config")).unwrap().contains("fsmonitor"));
}

#[tokio::test]
async fn what_the_first_look_does_not_reach_stays_the_persons() {
    let stage = Stage::new();
    flood(&stage, "a");
    git_init(&stage, "src/zz/deep/deeper/mine");
    let git = stage.work("src/zz/deep/deeper/mine/.git");
    fs::create_dir_all(git.join("hooks")).unwrap();
    fs::write(git.join("hooks/pre-push"), "#!/bin/sh\n").unwrap();
    let settings = "[core]\n\tbare = false\n[alias]\n\tst = !mine\n[credential]\n\thelper = mine\n";
    fs::write(git.join("config"), settings).unwrap();
    git_init(&stage, "src/zz/deep/deeper/turned");
    // What is changed right before a session can't be told from what is changed in it.
    std::thread::sleep(Duration::from_millis(100));
    let Some(spawner) = stage.spawner(Strength::Strong, &SandboxSection::default()) else { return };
    let turn = "printf '[core]\\n\\tbare = false\\n\\tfsmonitor=/w/evil\\n' >src/zz/deep/deeper/turned/.git/config";
    let mut running = spawner.start(stage.shell(turn)).await.unwrap();
    let (text, _) = all(&mut running).await;
    assert_eq!(running.taken_away(), [stage.work("src/zz/deep/deeper/turned/.git/config")], "{text}");
    assert_eq!(fs::read_to_string(git.join("config")).unwrap(), settings);
    assert!(git.join("hooks/pre-push").is_file());
    let (text, _) = run(&spawner, stage.shell("touch src/zz/deep/deeper/mine/.git/hooks/x")).await;
    assert!(text.contains("Read-only"), "from now on it is protected: {text}");
}

#[tokio::test]
async fn decoys_hide_no_repository_and_cost_little() {
    let stage = Stage::new();
    let Some(spawner) = stage.spawner(Strength::Strong, &SandboxSection::default()) else { return };
    let plant = "git init -q aa; printf '[core]\\nfsmonitor=/w/evil\\n' >aa/.git/config; \
        seq 2400 | sed 's|.*|z/d&/.git|' | xargs mkdir -p";
    let mut running = spawner.start(stage.shell(plant)).await.unwrap();
    let (text, _) = all(&mut running).await;
    assert_eq!(running.taken_away(), [stage.work("aa/.git/config")], "{text}");
    let begun = Instant::now();
    run(&spawner, stage.shell("true")).await;
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn more_repositories_than_can_be_looked_at_end_the_work() {
    let stage = Stage::new();
    let Some(spawner) = stage.spawner(Strength::Strong, &SandboxSection::default()) else { return };
    let plant =
        "seq 2200 | sed 's|.*|z/d&/.git|' | xargs mkdir -p; seq 2200 | sed 's|.*|z/d&/.git/HEAD|' | xargs touch";
    let mut running = spawner.start(stage.shell(plant)).await.unwrap();
    all(&mut running).await;
    assert!(!running.left_behind().is_empty(), "nobody said that not all of them were looked at");
    let refused = spawner.start(stage.shell("true")).await.unwrap_err().to_string();
    assert!(refused.contains("no other command runs"), "{refused}");
    fs::remove_dir_all(stage.work("z")).unwrap();
    let (text, _) = run(&spawner, stage.shell("echo again")).await;
    assert_eq!(text, "again\n");
}
