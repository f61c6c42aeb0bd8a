//! What rules close is not in the box of a command, or stays as it is there, however the command gets at it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use neco_config::section::SandboxSection;
use neco_safety::command::Place;
use neco_safety::policy::RuleReader;
use neco_safety::world::{Launch, Leftovers, Process};
use neco_safety::{Policy, Ruling};
use neco_sandbox::{Level, Spawner, Strength};

use super::behaviour::up;
use super::stage::{Stage, all, names, run};

const SECRET: &str = "the-closed-words";

/// A stage whose workspace has folders that rules may close.
fn stage() -> Stage {
    let stage = Stage::new();
    for path in ["secrets/deep/x", "secrets/y", "vendor/lib.c", "src/a.key", "src/gen/b.key", "src/main.c", "c.lock"] {
        let path = stage.work(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, SECRET).unwrap();
    }
    stage
}

fn closing(stage: &Stage, section: &SandboxSection, rules: &[(Ruling, &str)]) -> Option<Spawner> {
    closing_in(stage, Strength::Strong, section, rules)
}

fn closing_in(
    stage: &Stage,
    strength: Strength,
    section: &SandboxSection,
    rules: &[(Ruling, &str)],
) -> Option<Spawner> {
    let place = Place::new(&stage.workspace).with_home(&stage.home);
    let reader = RuleReader { place: &place };
    let rules = rules.iter().flat_map(|(ruling, text)| reader.flag(*ruling, text).rules).collect();
    Some(stage.spawner(strength, section)?.closing(&Policy::new(place.clone(), rules).closed()))
}

async fn prints(spawner: &Spawner, stage: &Stage, line: &str) -> String {
    run(spawner, stage.shell(line)).await.0
}

/// What it printed, and what was put aside of what it made.
async fn taken(spawner: &Spawner, stage: &Stage, line: &str) -> (String, Vec<PathBuf>) {
    let mut running = spawner.start(stage.shell(line)).await.unwrap();
    let (printed, _) = all(&mut running).await;
    (printed, running.taken_away().to_vec())
}

#[tokio::test]
async fn what_is_closed_to_reading_is_not_there_however_a_command_gets_at_it() {
    let stage = stage();
    symlink("secrets/y", stage.work("link")).unwrap();
    symlink("secrets", stage.work("folder")).unwrap();
    fs::hard_link(stage.work("secrets/y"), stage.work("other-name")).unwrap();
    let rules = [(Ruling::Deny, "Read(secrets/)"), (Ruling::Deny, "Read(**/*.key)")];
    let Some(spawner) = closing(&stage, &SandboxSection::default(), &rules) else { return };
    for line in [
        "cat secrets/y",
        "cat <secrets/y",
        "cat sec*/y",
        "cd sec*; cat y",
        "cat */y */*/x",
        "cat link folder/y folder/deep/x",
        "cat other-name",
        "grep -r . . --exclude-dir=vendor --exclude=main.c --exclude=c.lock",
        "tar cf - secrets link | cat",
        "cp -r . /tmp/copy; cat /tmp/copy/secrets/* /tmp/copy/src/*.key",
        "python3 -c \"import os;[print(open(os.path.join(d,f)).read()) for d,_,fs in os.walk('secrets') for f in fs]\"",
        "p=$(printf 's%s' ecrets); cat $p/y",
        "cat $PWD/secrets/y /proc/self/cwd/secrets/y",
        "find . -name y -exec cat {} +",
        "find src -name '*.key' -exec cat {} +",
        "cat src/a.key src/gen/b.key",
        "mv secrets other && cat other/y",
        "mv src elsewhere; cat elsewhere/a.key",
        "ln secrets/y mine; cat mine",
        "ln src/a.key mine; cat mine",
        "cp src/a.key b; cat b",
        "chmod -R 777 secrets; cat secrets/y",
        "mount --bind /tmp secrets; umount secrets; cat secrets/y",
        "cat /proc/1/root$PWD/secrets/y",
    ] {
        let printed = prints(&spawner, &stage, line).await;
        assert!(!printed.contains(SECRET), "{line}: {printed}");
    }
    assert!(prints(&spawner, &stage, "cat src/main.c vendor/lib.c").await.contains(SECRET), "the rest is there");
    for path in ["secrets/y", "secrets/deep/x", "src/a.key", "src/gen/b.key", "other-name"] {
        assert_eq!(fs::read_to_string(stage.work(path)).unwrap(), SECRET, "{path}");
    }
}

#[tokio::test]
async fn what_is_closed_is_not_in_the_box_of_a_server_and_what_a_person_makes_beside_it_stays() {
    let stage = stage();
    let rules = [(Ruling::Deny, "Read(secrets/)"), (Ruling::Deny, "{ tool = '*', path = ['**/*.key', 'only.txt'] }")];
    let Some(spawner) = closing(&stage, &SandboxSection::default(), &rules) else { return };
    let look = "cat secrets/y src/a.key >seen 2>/dev/null; echo up; cat";
    let mut running = up(&spawner, Launch { leftovers: Leftovers::EndAll, ..stage.shell(look) }).await;
    assert!(!stage.work("only.txt").exists(), "nothing stands in for it");
    fs::write(stage.work("only.txt"), "the person's").unwrap();
    fs::write(stage.work("late.key"), "the person's").unwrap();
    drop(running.take_input());
    all(&mut running).await;
    assert_eq!(fs::read_to_string(stage.work("seen")).unwrap(), "");
    for path in ["only.txt", "late.key"] {
        assert_eq!(fs::read_to_string(stage.work(path)).unwrap(), "the person's", "{path}");
    }
}

#[tokio::test]
async fn what_is_closed_to_changing_stays_as_it_is_and_can_be_read() {
    let stage = stage();
    fs::hard_link(stage.work("vendor/lib.c"), stage.work("other-name")).unwrap();
    let rules = [(Ruling::Deny, "Edit(vendor/**)"), (Ruling::Deny, "Edit(*.lock)")];
    let Some(spawner) = closing(&stage, &SandboxSection::default(), &rules) else { return };
    for line in [
        "echo x > vendor/lib.c",
        "echo x > vendor/new.c",
        "p=vend; echo x > ${p}or/new.c",
        "rm -rf vendor",
        "mv vendor other",
        "cp src/main.c vend*/",
        "echo x > other-name",
        "sed -i s/words/x/ vendor/lib.c",
        "python3 -c \"open('vendor/lib.c','w')\"",
        "chmod 000 vendor/lib.c",
        "rm c.lock",
        "echo x > c.lock",
        "mv src/main.c c.lock",
        "touch -d yesterday c.lock; truncate -s0 c.lock",
    ] {
        prints(&spawner, &stage, line).await;
        assert_eq!(fs::read_to_string(stage.work("vendor/lib.c")).unwrap(), SECRET, "{line}");
        assert_eq!(fs::read_to_string(stage.work("c.lock")).unwrap(), SECRET, "{line}");
        assert_eq!(names(&stage.work("vendor")), ["lib.c"], "{line}");
    }
    assert!(prints(&spawner, &stage, "cat vendor/lib.c c.lock").await.contains(SECRET));
    let (printed, taken) =
        taken(&spawner, &stage, "echo x > src/n.c && rm src/n.c && mv src s && mv s src && echo ok").await;
    assert!(printed == "ok\n" && taken.is_empty(), "{printed} {taken:?}");
}

#[tokio::test]
async fn a_folder_that_a_command_made_unreadable_is_closed_as_before() {
    let stage = stage();
    fs::write(stage.work("src/d.lock"), SECRET).unwrap();
    let rules = [(Ruling::Deny, "Read(**/*.key)"), (Ruling::Deny, "Edit(**/*.lock)")];
    let Some(spawner) = closing(&stage, &SandboxSection::default(), &rules) else { return };
    for line in ["chmod 311 src", "chmod 311 src/gen src"] {
        prints(&spawner, &stage, line).await;
        let line = "chmod 755 src src/gen; cat src/*.key src/gen/*.key; echo x > src/d.lock";
        let printed = prints(&spawner, &stage, line).await;
        assert!(!printed.contains(SECRET), "{printed}");
        assert_eq!(fs::read_to_string(stage.work("src/d.lock")).unwrap(), SECRET);
    }
}

#[tokio::test]
async fn what_is_not_there_can_not_be_made() {
    let stage = stage();
    let rules = [
        (Ruling::Deny, "{ tool = '*', path = 'later' }"),
        (Ruling::Deny, "{ tool = '*', path = 'not/yet/there' }"),
        (Ruling::Deny, "Edit(**/*.sealed)"),
    ];
    let Some(spawner) = closing(&stage, &SandboxSection::default(), &rules) else { return };
    let (printed, _) = run(&spawner, stage.shell("mkdir later; echo x > later/x; echo x > later")).await;
    assert!(!stage.work("later").exists(), "{printed}");
    let (_, aside) = taken(&spawner, &stage, "mkdir -p not/yet/there; echo x > not/yet/there/x").await;
    assert!(!stage.work("not/yet/there").exists() && aside == [stage.work("not/yet/there")], "{aside:?}");
    let line = "echo x > a.sealed; mkdir -p d/e; echo x > d/e/b.sealed; echo x > d/c";
    let (_, aside) = taken(&spawner, &stage, line).await;
    assert!(!stage.work("a.sealed").exists() && !stage.work("d/e/b.sealed").exists() && stage.work("d/c").exists());
    assert_eq!(aside, [stage.work("a.sealed"), stage.work("d/e/b.sealed")]);
    assert!(stage.work("a.sealed.refused-1").exists(), "nothing is lost");
}

#[tokio::test]
async fn rules_open_some_of_what_others_close() {
    let stage = stage();
    let rules = [
        (Ruling::Deny, "Read(secrets/**)"),
        (Ruling::Allow, "{ tool = 'read_file', path = 'secrets/deep/**', priority = 1 }"),
        (Ruling::Deny, "{ tool = ['edit_file', 'write_file'], path = '**' }"),
        (Ruling::Allow, "{ tool = ['edit_file', 'write_file'], path = 'src/gen/**', priority = 1 }"),
    ];
    let Some(spawner) = closing(&stage, &SandboxSection::default(), &rules) else { return };
    assert!(prints(&spawner, &stage, "cat secrets/deep/x").await.contains(SECRET));
    assert!(!prints(&spawner, &stage, "cat secrets/y; ls secrets").await.contains(SECRET));
    prints(&spawner, &stage, "echo x > src/main.c; echo x > new; echo x > src/gen/new; echo x > secrets/deep/new")
        .await;
    assert_eq!(fs::read_to_string(stage.work("src/main.c")).unwrap(), SECRET);
    assert!(
        !stage.work("new").exists() && stage.work("src/gen/new").exists() && !stage.work("secrets/deep/new").exists()
    );
}

#[tokio::test]
async fn git_goes_on_and_does_not_show_closed_files_as_they_were_added() {
    let stage = stage();
    let git = |words: &[&str]| {
        let base = ["-c", "user.name=a", "-c", "user.email=a@b", "-C", stage.workspace.to_str().unwrap()];
        assert!(Command::new("git").args(base).args(words).output().unwrap().status.success(), "{words:?}");
    };
    git(&["add", "secrets", "src", "vendor"]);
    git(&["commit", "-qm", "one"]);
    fs::write(stage.work("src/new.c"), "x").unwrap();
    let rules = [(Ruling::Deny, "Read(secrets/)"), (Ruling::Deny, "Read(src/a.key)"), (Ruling::Deny, "Read(c.lock)")];
    let Some(spawner) = closing(&stage, &SandboxSection::default(), &rules) else { return };
    assert!(!prints(&spawner, &stage, "cat src/a.key secrets/y c.lock").await.contains(SECRET));
    // What is closed and not tracked is passed over, and what is tracked is not taken for deleted.
    let printed = prints(&spawner, &stage, "git add src/new.c; git add -A . ; git status --porcelain").await;
    assert!(!printed.contains("D  secrets") && !printed.contains("c.lock"), "{printed}");
    assert!(printed.contains("A  src/new.c"), "{printed}");
}

#[tokio::test]
async fn boxes_of_every_kind_have_the_same_closed() {
    let stage = stage();
    let rules = [(Ruling::Deny, "{ tool = '*', path = ['secrets', 'later'] }")];
    let read_only = SandboxSection { level: Level::ReadOnly, ..SandboxSection::default() };
    let Some(spawner) = closing(&stage, &read_only, &rules) else { return };
    assert!(!prints(&spawner, &stage, "cat secrets/y").await.contains(SECRET));
    let bubblewrap = Stage { bubblewrap: true, ..self::stage() };
    if let Some(spawner) = closing(&bubblewrap, &SandboxSection::default(), &rules) {
        let printed = prints(&spawner, &bubblewrap, "cat secrets/y; mkdir later; ls; cat src/main.c").await;
        assert_eq!(printed.matches(SECRET).count(), 1, "{printed}");
        assert!(!bubblewrap.work("later").exists());
    }
    // In the background, with another one beside it.
    let Some(spawner) = closing(&stage, &SandboxSection::default(), &rules) else { return };
    let mut launch = stage.shell("sleep 1; cat secrets/y; mkdir later; echo x > later/x");
    launch.leftovers = Leftovers::WaitFor;
    let mut running = spawner.start(launch).await.unwrap();
    assert!(!prints(&spawner, &stage, "cat secrets/y; mkdir later").await.contains(SECRET));
    let (printed, _) = all(&mut running).await;
    assert!(!printed.contains(SECRET) && !stage.work("later").exists(), "{printed}");
}

#[tokio::test]
async fn places_outside_of_the_workspace_are_closed_too_and_the_workspace_as_a_whole_stops_everything() {
    let stage = stage();
    fs::create_dir(stage.home.join("notes")).unwrap();
    fs::write(stage.home.join("notes/n"), SECRET).unwrap();
    let Some(spawner) = closing(&stage, &SandboxSection::default(), &[(Ruling::Deny, "Read(~/notes/*)")]) else {
        return;
    };
    let line = format!("cat {}/notes/n; cat ../notes/n", stage.home.display());
    assert!(!prints(&spawner, &stage, &line).await.contains(SECRET));
    let Some(spawner) = closing(&stage, &SandboxSection::default(), &[(Ruling::Deny, "Read(**)")]) else { return };
    let refused = spawner.start(stage.shell("true")).await.unwrap_err().to_string();
    assert!(refused.contains("a rule closes the folder that commands work in"), "{refused}");
}

#[tokio::test]
async fn what_is_found_is_found_anew_before_every_command() {
    let stage = stage();
    let rules = [(Ruling::Deny, "Read(**/*.key)")];
    let Some(spawner) = closing(&stage, &SandboxSection::default(), &rules) else { return };
    assert!(!prints(&spawner, &stage, "cat src/a.key").await.contains(SECRET));
    fs::create_dir_all(stage.work("node_modules/p")).unwrap();
    for path in ["node_modules/p/z.key", "src/gen/new.key"] {
        fs::write(stage.work(path), SECRET).unwrap();
        let printed = prints(&spawner, &stage, &format!("cat {path}")).await;
        assert!(!printed.contains(SECRET), "{path}: {printed}");
    }
    fs::rename(stage.work("src"), stage.work("moved")).unwrap();
    assert!(!prints(&spawner, &stage, "cat moved/a.key moved/gen/new.key").await.contains(SECRET));
    assert!(Path::new(&stage.work("moved/a.key")).exists());
}
