//! Repositories in a workspace: git works in them, and what decides what git runs outside stays as it is.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;
use std::time::{Duration, Instant};

use neco_config::section::SandboxSection;
use neco_safety::world::{Exit, Launch, Process, Progress, Stdin};
use neco_sandbox::Strength;

use crate::stage::{Stage, all, names, run};

fn usual() -> SandboxSection {
    SandboxSection::default()
}

#[tokio::test]
async fn a_worktree_can_commit_and_its_repository_is_kept() {
    let stage = Stage::new();
    let commit = "git -c user.name=a -c user.email=a@b";
    let set_up = format!(
        "cd {0} && {commit} commit -q --allow-empty -m first && git worktree add -q {1}/tree",
        stage.workspace.display(),
        stage.outside.display()
    );
    assert!(Command::new("sh").arg("-c").arg(set_up).status().unwrap().success());
    let tree = Stage { workspace: stage.outside.join("tree"), ..stage };
    let Some(spawner) = tree.spawner(Strength::Strong, &usual()) else { return };
    let (text, ending) = run(
        &spawner,
        tree.shell(&format!("echo x >x && git add x && {commit} commit -q -m x && git log --oneline | wc -l")),
    )
    .await;
    assert_eq!((text.trim(), ending.exit), ("2", Exit::Code(0)));
    let hooks = tree.home.join("project/.git/hooks");
    let (text, _) = run(&spawner, tree.shell(&format!("touch {0}/x; echo x >> {0}/../config", hooks.display()))).await;
    assert_eq!(text.matches("Read-only file system").count(), 2, "{text}");
    let lead_away = "own=$(git rev-parse --absolute-git-dir); for f in commondir gitdir config.worktree; do \
        sh -c \"echo /evil >$own/$f\" || mv $own/$f $own/x; done; mv $own $own-2 || mv ${own%/*} ${own%/*}-2; git status -s";
    let before = fs::read(tree.home.join("project/.git/worktrees/tree/commondir")).unwrap();
    let (text, ending) = run(&spawner, tree.shell(lead_away)).await;
    assert_eq!(text.matches("Read-only file system").count(), 3, "{text}");
    assert_eq!((text.matches("busy").count(), ending.exit), (5, Exit::Code(0)), "{text}");
    assert_eq!(fs::read(tree.home.join("project/.git/worktrees/tree/commondir")).unwrap(), before);
}

#[tokio::test]
async fn what_leads_git_elsewhere_can_not_be_made_or_is_taken_away_again() {
    let stage = Stage::new();
    let Some(spawner) = stage.spawner(Strength::Strong, &usual()) else { return };
    let command = "echo /elsewhere >.git/commondir; rm -f .git/commondir; echo /elsewhere >.git/gitdir; cat .git/commondir; \
        git status -s >/dev/null && git gc -q && echo fine";
    let (text, _) = run(&spawner, stage.shell(command)).await;
    assert!(text.contains("Read-only file system") && text.contains("busy") && text.ends_with(".\nfine\n"), "{text}");
    let left = names(&stage.work(".git"));
    assert!(!left.iter().any(|name| ["commondir", "gitdir", "config.worktree"].contains(&name.as_str())), "{left:?}");
    assert!(!left.iter().any(|name| name.starts_with(".neco-")), "{left:?}");
}

#[tokio::test]
async fn a_flood_of_files_opens_no_repository() {
    let stage = Stage::new();
    for number in 0..1000 {
        fs::write(stage.work(&format!(".env.{number}")), "x").unwrap();
    }
    assert!(Command::new("git").args(["init", "-q", "sub"]).current_dir(&stage.workspace).status().unwrap().success());
    let Some(spawner) = stage.spawner(Strength::Strong, &usual()) else { return };
    let (text, _) = run(&spawner, stage.shell("touch .git/hooks/x; touch sub/.git/hooks/x")).await;
    assert_eq!(text.matches("Read-only file system").count(), 2, "{text}");
}

#[tokio::test]
async fn a_repository_that_was_moved_is_protected_where_it_is_now() {
    let stage = Stage::new();
    assert!(Command::new("git").args(["init", "-q", "sub"]).current_dir(&stage.workspace).status().unwrap().success());
    let Some(spawner) = stage.spawner(Strength::Strong, &usual()) else { return };
    let (text, _) =
        run(&spawner, stage.shell("mkdir build && mv sub build/sub && mkdir -p sub/.git && echo moved")).await;
    assert_eq!(text, "moved\n");
    let (text, _) = run(&spawner, stage.shell("touch build/sub/.git/hooks/x || touch build/sub/.git/config")).await;
    assert!(text.contains("Read-only file system") && !stage.work("build/sub/.git/hooks/x").exists(), "{text}");
}

#[tokio::test]
async fn a_broken_repository_does_not_make_the_workspace_one() {
    let stage = Stage::new();
    let Some(spawner) = stage.spawner(Strength::Strong, &usual()) else { return };
    let plant = "mv .git/HEAD .git/x; mkdir objects refs; echo 'ref: refs/heads/main' >HEAD; echo up; cat";
    let mut long = spawner.start(Launch { stdin: Stdin::Piped, ..stage.shell(plant) }).await.unwrap();
    let mut text = String::new();
    while !text.contains("up\n") {
        match long.next().await {
            Progress::Output(bytes) => text.push_str(&String::from_utf8_lossy(bytes)),
            Progress::Ended(ending) => panic!("{ending:?}: {text}"),
        }
    }
    let begun = Instant::now();
    while stage.work("HEAD").exists() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it stayed a repository: {text}");
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    drop(long.take_input());
    all(&mut long).await;
    assert!(stage.work("HEAD.refused-1").exists() && stage.work("refs").exists(), "{text}");
    // With half a repository there, the other half can't be made.
    fs::remove_dir(stage.work("refs")).unwrap();
    fs::write(stage.work("HEAD"), "ref: refs/heads/main").unwrap();
    let (text, _) = run(&spawner, stage.shell("mkdir refs; rmdir refs; mv refs r; mkdir refs/x")).await;
    assert!(text.contains("Read-only file system") && !stage.work("refs").exists(), "{text}");
}

#[tokio::test]
async fn hidden_files_do_not_trouble_git() {
    let stage = Stage::new();
    let commit = "git -c user.name=a -c user.email=a@b commit -q";
    let set_up = format!("git add .env && {commit} -m first && echo local=1 >>.env && echo key=2 >.env.local");
    let set_up = Command::new("sh").args(["-c", &set_up]).current_dir(&stage.workspace).status().unwrap();
    assert!(set_up.success());
    fs::create_dir_all(stage.home.join(".config/git")).unwrap();
    fs::write(stage.home.join(".config/git/ignore"), "*.swp\n").unwrap();
    let Some(spawner) = stage.spawner(Strength::Strong, &usual()) else { return };
    let look = format!(
        "cat .env; echo; cat .env.local || echo hidden; touch a.swp; git status --short; \
         echo x >x && git add -A && {commit} -m all && echo y >x && {commit} -a -m more && git show --stat --format= HEAD~1"
    );
    let (text, ending) = run(&spawner, stage.shell(&look)).await;
    assert_eq!(ending.exit, Exit::Code(0), "{text}");
    assert!(text.starts_with("secret\n") && text.contains("hidden\n"), "as it was added: {text}");
    assert!(!text.contains(".env\n") && !text.contains("?? .env") && !text.contains("M .env"), "{text}");
    assert!(!text.contains("a.swp") && text.contains(" x |"), "{text}");
    let now = fs::read_to_string(stage.work(".env")).unwrap();
    assert_eq!(now, "secretlocal=1\n", "what is there is not touched");
    // Added anew outside: the next command sees that.
    assert!(Command::new("git").args(["add", ".env"]).current_dir(&stage.workspace).status().unwrap().success());
    let (text, _) = run(&spawner, stage.shell("git diff --quiet && cat .env")).await;
    assert_eq!(text, "secretlocal=1\n");
}

#[tokio::test]
async fn what_was_put_aside_is_not_added_to_git() {
    for strength in [Strength::Strong, Strength::Weaker] {
        let stage = Stage::new();
        fs::create_dir_all(stage.home.join(".config/git")).unwrap();
        fs::write(stage.home.join(".config/git/ignore"), "*.swp\n").unwrap();
        let Some(spawner) = stage.spawner(strength, &usual()) else { continue };
        run(&spawner, stage.shell("echo '{}' >.mcp.json")).await;
        assert!(stage.work(".mcp.json.refused-1").is_file(), "{strength:?}");
        let (text, _) = run(&spawner, stage.shell("touch a.swp f; git add -A; git status --short")).await;
        assert!(text.contains("A  f\n") && !text.contains("refused"), "{strength:?} {text}");
        assert!(!text.contains("a.swp"), "what the person ignores everywhere still is: {strength:?} {text}");
    }
}

#[tokio::test]
async fn settings_that_are_links_are_put_back() {
    let stage = Stage::new();
    fs::create_dir(stage.work("shared")).unwrap();
    symlink("shared", stage.work(".zed")).unwrap();
    symlink("missing", stage.work(".idea")).unwrap();
    let Some(spawner) = stage.spawner(Strength::Strong, &usual()) else { return };
    let command = "touch .zed/tasks.json; mkdir missing/x; rm .zed && mkdir .zed && echo x >.zed/tasks.json";
    let (text, _) = run(&spawner, stage.shell(command)).await;
    assert_eq!(text.matches("Read-only file system").count(), 2, "{text}");
    assert_eq!(fs::read_link(stage.work(".zed")).unwrap().to_str(), Some("shared"));
    assert!(stage.work(".zed.replaced-1/tasks.json").is_file() && !stage.work("missing").exists());
}
