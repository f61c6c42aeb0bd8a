//! Ways out that were found once: what a command leaves behind runs nothing outside, and what is hidden stays so.

use std::fs;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;

use neco_config::section::SandboxSection;
use neco_safety::world::{Launch, Leftovers, Process, Progress, Stdin};
use neco_sandbox::{Roots, Spawner, Strength};

use crate::stage::{Stage, all, names, run};

fn usual() -> SandboxSection {
    SandboxSection::default()
}

/// A stage with a program that says that it ran, and what git sees it as.
fn stage() -> Stage {
    let stage = Stage::new();
    let evil = stage.outside.join("evil.sh");
    fs::write(&evil, format!("#!/bin/sh\ntouch {}/ran\n", stage.outside.display())).unwrap();
    fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).unwrap();
    stage
}

/// What a person does without a thought, in every folder that was made.
fn look_as_the_person(stage: &Stage, folders: &[&str]) {
    for folder in folders.iter().filter(|folder| stage.work(folder).is_dir()) {
        for words in [["status", "--short"], ["diff", "--stat"]] {
            let looked = Command::new("git").args(words).current_dir(stage.work(folder)).output().unwrap();
            assert!(!looked.stderr.starts_with(b"fatal: detected dubious"), "git looks at nothing here");
        }
    }
    assert!(!stage.outside.join("ran").exists(), "a program of the command's ran outside");
}

/// Whoever finds no trap here could have set none.
#[test]
fn the_traps_of_these_tests_catch_whoever_walks_into_them() {
    for how in ["fsmonitor", "filter", "hook"] {
        let stage = stage();
        let evil = stage.outside.join("evil.sh");
        let evil = evil.display();
        let set = match how {
            "fsmonitor" => format!("git -C sub config core.fsmonitor {evil}"),
            "filter" => format!(
                "git -C sub config filter.x.clean {evil}; mkdir -p sub/.git/info; echo '* filter=x' >sub/.git/info/attributes; \
                 touch -d yesterday sub/f"
            ),
            _ => {
                format!("mkdir -p sub/.git/hooks; cp {evil} sub/.git/hooks/post-index-change; touch -d yesterday sub/f")
            }
        };
        let plant = format!(
            "git init -q sub; echo 1 >sub/f; git -C sub add f; git -C sub -c user.name=a -c user.email=a@b commit -qm x; {set}"
        );
        let planted = Command::new("sh").args(["-c", &plant]).current_dir(&stage.workspace).status().unwrap();
        assert!(planted.success());
        let looked = Command::new("git").args(["status", "--short"]).current_dir(stage.work("sub")).output().unwrap();
        assert!(stage.outside.join("ran").exists(), "{how}: {}", String::from_utf8_lossy(&looked.stderr));
    }
}

#[tokio::test]
async fn a_repository_that_a_command_made_starts_nothing() {
    for (number, folder) in ["sub", "target/deep/sub"].into_iter().enumerate() {
        for how in ["config", "filter", "hooks", "worktree-config", "link"] {
            let stage = stage();
            let Some(spawner) = stage.spawner(Strength::Strong, &usual()) else { return };
            let evil = stage.outside.join("evil.sh");
            let evil = evil.display();
            let turn = match how {
                "config" => format!("printf '[core]\\n\\tbare = false\\n\\tfsmonitor = {evil}\\n' >$g/config"),
                "filter" => format!(
                    "printf '[filter \"x\"]\\nclean={evil}\\n' >$g/config; echo '* filter=x' >$g/info/attributes; \
                     touch -d yesterday {folder}/f"
                ),
                "hooks" => format!(
                    "cp {evil} $g/hooks/post-index-change || mkdir $g/hooks && cp {evil} $g/hooks/post-index-change"
                ),
                "worktree-config" => format!(
                    "printf '[core]\\nrepositoryformatversion=1\\n[extensions]\\nworktreeConfig=true\\n' >$g/config; \
                     printf '[core]\\nfsmonitor={evil}\\n' >$g/config.worktree"
                ),
                _ => format!(
                    "printf '[core]\\nfsmonitor={evil}\\n' >elsewhere; rm $g/config; ln -s $PWD/elsewhere $g/config"
                ),
            };
            let plant = format!(
                "set -e; mkdir -p {folder}; git init -q {folder}; g={folder}/.git; echo 1 >{folder}/f; git -C {folder} add f; \
                 git -C {folder} -c user.name=a -c user.email=a@b commit -qm x; git add -f {folder} 2>/dev/null; {turn}; echo done"
            );
            let mut running = spawner.start(stage.shell(&plant)).await.unwrap();
            let (text, _) = all(&mut running).await;
            assert!(text.ends_with("done\n"), "{how}: {text}");
            assert!(
                !running.taken_away().is_empty() && running.left_behind().is_empty(),
                "{number} {how}: nothing was said"
            );
            look_as_the_person(&stage, &[".", folder]);
            // From now on it is kept, or looked at again.
            let again = format!("printf '[core]\\nfsmonitor={evil}\\n' >{folder}/.git/config");
            let mut running = spawner.start(stage.shell(&again)).await.unwrap();
            let (text, _) = all(&mut running).await;
            assert!(text.contains("Read-only") || running.taken_away().len() == 1, "{how}: {text}");
            look_as_the_person(&stage, &[".", folder]);
        }
    }
}

#[tokio::test]
async fn settings_below_the_top_stay_as_they_are_and_away() {
    let stage = stage();
    for path in ["pkg/.vscode", "pkg/src", "other"] {
        fs::create_dir_all(stage.work(path)).unwrap();
    }
    fs::write(stage.work("pkg/.vscode/tasks.json"), "mine").unwrap();
    std::thread::sleep(std::time::Duration::from_millis(100));
    let Some(spawner) = stage.spawner(Strength::Strong, &usual()) else { return };
    let plant = "echo evil >pkg/.vscode/tasks.json; mv pkg/.vscode pkg/x; mkdir -p other/.claude pkg/.neco; echo evil >other/.claude/settings.json; \
        echo evil >pkg/src/.envrc; mkdir -p clone/.vscode; echo theirs >clone/.vscode/settings.json; echo '{}' >pkg/a.code-workspace";
    let mut running = spawner.start(stage.shell(plant)).await.unwrap();
    let (text, _) = all(&mut running).await;
    let mut taken: Vec<_> = running.taken_away().to_vec();
    taken.sort();
    let expected =
        ["other/.claude", "pkg/.neco", "pkg/a.code-workspace", "pkg/src/.envrc"].map(|path| stage.work(path));
    assert_eq!(taken, expected, "{text}");
    assert_eq!(fs::read_to_string(stage.work("pkg/.vscode/tasks.json")).unwrap(), "mine", "{text}");
    assert!(stage.work("clone/.vscode/settings.json").is_file(), "what comes with its folder stays");
    // A file tool may write what a person said yes to, and no later command takes it away.
    fs::create_dir(stage.work("other/.claude")).unwrap();
    let mut running = spawner.start(stage.shell("touch other/.claude/x; true")).await.unwrap();
    let (text, _) = all(&mut running).await;
    assert!(text.contains("Read-only") && running.taken_away().is_empty(), "{text}");
}

#[tokio::test]
async fn what_is_put_aside_after_a_command_that_was_dropped_is_told_with_the_next() {
    let stage = stage();
    let Some(spawner) = stage.spawner(Strength::Strong, &usual()) else { return };
    let plant = "git init -q sub; printf '[core]\\nfsmonitor=/w/evil\\n' >sub/.git/config; echo up; sleep 600";
    let mut dropped = spawner.start(stage.shell(plant)).await.unwrap();
    assert_eq!(dropped.next().await, Progress::Output(b"up\n"));
    drop(dropped);
    let begun = std::time::Instant::now();
    while fs::read_to_string(stage.work("sub/.git/config")).unwrap_or_default().contains("fsmonitor") {
        assert!(begun.elapsed() < std::time::Duration::from_secs(20), "it was not put aside");
        tokio::time::sleep(std::time::Duration::from_millis(5)).await;
    }
    let mut next = spawner.start(stage.shell("true")).await.unwrap();
    all(&mut next).await;
    assert_eq!(next.taken_away(), [stage.work("sub/.git/config")]);
}

#[tokio::test]
async fn an_ordinary_repository_is_left_as_it_is() {
    let stage = stage();
    let Some(spawner) = stage.spawner(Strength::Strong, &usual()) else { return };
    let make = "git init -q sub && cd sub && git config user.name a && git config user.email a@b && echo 1 >f && \
        git add f && git commit -qm x && git worktree add -q ../tree && git -C ../tree status --short && cat .git/config";
    let mut running = spawner.start(stage.shell(make)).await.unwrap();
    let (text, _) = all(&mut running).await;
    assert_eq!((running.taken_away(), running.left_behind()), (&[][..], &[][..]), "{text}");
    assert!(text.ends_with(&fs::read_to_string(stage.work("sub/.git/config")).unwrap()), "{text}");
}

#[tokio::test]
async fn what_stands_in_for_one_command_is_not_taken_for_the_work_of_another() {
    let stage = stage();
    let Some(spawner) = stage.spawner(Strength::Strong, &usual()) else { return };
    let piped = |script: &str| Launch { stdin: Stdin::Piped, ..stage.shell(script) };
    let mut first = spawner.start(piped("git init -q sub; echo up; cat")).await.unwrap();
    assert_eq!(first.next().await, Progress::Output(b"up\n"));
    let lasting = Launch { leftovers: Leftovers::WaitFor, ..piped("echo up; cat") };
    let mut second = spawner.start(lasting).await.unwrap();
    assert_eq!(second.next().await, Progress::Output(b"up\n"));
    assert!(stage.work("sub/.git/commondir").is_file() && stage.work(".gemini").is_dir(), "they stand in");
    drop(first.take_input());
    all(&mut first).await;
    assert!(first.taken_away().is_empty(), "{:?}", first.taken_away());
    assert!(stage.work("sub/.git/commondir").is_file() && stage.work(".gemini").is_dir(), "they still do");
    drop(second.take_input());
    all(&mut second).await;
    assert!(second.taken_away().is_empty(), "{:?}", second.taken_away());
    assert!(!stage.work("sub/.git/commondir").exists() && !stage.work(".gemini").exists());
}

#[tokio::test]
async fn no_folder_becomes_a_repository_that_starts_something() {
    let stage = stage();
    fs::remove_dir_all(stage.work(".git")).unwrap();
    let Some(spawner) = stage.spawner(Strength::Strong, &usual()) else { return };
    let evil = stage.outside.join("evil.sh");
    let plant = format!(
        "git init -q .; printf '[core]\\nfsmonitor={0}\\n' >.git/config; mkdir -p docs/objects docs/refs; \
         echo 'ref: refs/heads/main' >docs/HEAD; printf '[core]\\nbare=false\\nworktree={1}\\nfsmonitor={0}\\n' >docs/config; \
         git init -q real; ln -s real/.git linked; mkdir by-link; ln -s ../odd by-link/.git; cp -r real/.git odd; \
         printf '[core]\\nfsmonitor={0}\\n' >odd/config",
        evil.display(),
        stage.workspace.display()
    );
    let mut running = spawner.start(stage.shell(&plant)).await.unwrap();
    all(&mut running).await;
    let mut taken: Vec<_> =
        running.taken_away().iter().map(|path| path.strip_prefix(&stage.workspace).unwrap()).collect();
    taken.sort();
    taken.dedup();
    let expected = [".git/config", "by-link/.git", "docs/config", "odd/config"].map(Path::new);
    assert_eq!(taken, expected);
    look_as_the_person(&stage, &[".", "docs", "by-link", "odd", "real"]);
}

#[tokio::test]
async fn a_bare_repository_that_was_there_is_left_as_it_is_until_a_command_turns_it() {
    let stage = stage();
    let Some(spawner) = stage.spawner(Strength::Strong, &usual()) else { return };
    let made = Command::new("git").args(["init", "-q", "--bare", "lib.git"]).current_dir(&stage.workspace).status();
    assert!(made.unwrap().success());
    let mine = "[core]\n\tbare = true\n[alias]\n\tst = !mine\n";
    fs::write(stage.work("lib.git/config"), mine).unwrap();
    let mut running = spawner.start(stage.shell("git -C lib.git log; true")).await.unwrap();
    all(&mut running).await;
    assert!(running.taken_away().is_empty() && fs::read_to_string(stage.work("lib.git/config")).unwrap() == mine);
    let turn = format!(
        "printf '[core]\\nbare=false\\nworktree=/\\nfsmonitor={}/evil.sh\\n' >lib.git/config",
        stage.outside.display()
    );
    let mut running = spawner.start(stage.shell(&turn)).await.unwrap();
    all(&mut running).await;
    assert_eq!(running.taken_away(), [stage.work("lib.git/config")]);
    look_as_the_person(&stage, &["lib.git"]);
}

#[tokio::test]
async fn nothing_is_put_back_or_aside_outside_of_the_workspace() {
    let stage = stage();
    fs::create_dir(stage.outside.join("other")).unwrap();
    fs::write(stage.outside.join("other/config"), "theirs").unwrap();
    fs::write(stage.outside.join("other/HEAD"), "theirs").unwrap();
    for name in ["objects", "refs", "gitdir"] {
        fs::create_dir(stage.outside.join("other").join(name)).unwrap();
    }
    let before = names(&stage.outside.join("other"));
    let Some(spawner) = stage.spawner(Strength::Strong, &usual()) else { return };
    let other = stage.outside.join("other");
    let first = "git init -q a/b; rm a/b/.git/config; ln -s $PWD/evil a/b/.git/config";
    run(&spawner, stage.shell(first)).await;
    run(&spawner, stage.shell("true")).await;
    let second = format!("mv a a2; mkdir -p a/b; ln -s {0} a/b/.git; mkdir c; ln -s {0} c/.git", other.display());
    run(&spawner, stage.shell(&second)).await;
    run(&spawner, stage.shell("true")).await;
    assert_eq!(names(&other), before);
    assert_eq!(fs::read_to_string(other.join("config")).unwrap(), "theirs");
    assert!(!fs::symlink_metadata(other.join("config")).unwrap().is_symlink());
}

#[tokio::test]
async fn settings_are_put_aside_whatever_names_are_taken_and_whatever_modes_are_set() {
    let stage = stage();
    let Some(spawner) = stage.spawner(Strength::Strong, &usual()) else { return };
    let make = "for i in $(seq 120); do : >.mcp.json.refused-$i; : >HEAD.refused-$i; done; echo '{}' >.mcp.json; \
        echo x >.envrc; mv .git/HEAD .git/H; mkdir objects refs; echo 'ref: refs/heads/main' >HEAD; chmod 555 .";
    let mut running = spawner.start(stage.shell(make)).await.unwrap();
    all(&mut running).await;
    fs::set_permissions(&stage.workspace, fs::Permissions::from_mode(0o755)).unwrap();
    let left = names(&stage.workspace);
    for name in [".mcp.json", ".envrc", "HEAD"] {
        assert!(!left.iter().any(|own| own == name), "{name} stayed");
    }
    assert!(running.left_behind().is_empty() && running.taken_away().len() >= 2, "{:?}", running.taken_away());
}

#[tokio::test]
async fn what_can_not_be_put_aside_is_said_and_nothing_runs_until_it_is_gone() {
    let stage = stage();
    let Some(spawner) = stage.spawner(Strength::Strong, &usual()) else { return };
    let mut running = spawner.start(stage.shell("mkdir .gemini; echo up; cat >/dev/null")).await.unwrap();
    all(&mut running).await;
    assert_eq!((running.taken_away().len(), running.left_behind().len()), (1, 0));
    // A folder on which something is mounted can't be renamed: only root can show that.
    if !rustix::process::geteuid().is_root() {
        return;
    }
    let piped = Launch { stdin: Stdin::Piped, ..stage.shell("mkdir .codex; cat") };
    let mut running = spawner.start(piped).await.unwrap();
    let codex = stage.work(".codex");
    while !codex.is_dir() {
        tokio::time::sleep(std::time::Duration::from_millis(1)).await;
    }
    let mount =
        |words: &[&str]| Command::new(words[0]).args(&words[1..]).arg(&codex).status().is_ok_and(|done| done.success());
    if !mount(&["mount", "-t", "tmpfs", "none"]) {
        return;
    }
    drop(running.take_input());
    all(&mut running).await;
    assert_eq!(running.left_behind(), std::slice::from_ref(&codex));
    let refused = spawner.start(stage.shell("true")).await;
    mount(&["umount"]);
    let refused = refused.map(drop).unwrap_err().to_string();
    assert!(refused.contains(".codex") && refused.contains("could not be put aside"), "{refused}");
    fs::remove_dir(&codex).unwrap();
    assert_eq!(run(&spawner, stage.shell("echo again")).await.0, "again\n");
}

#[tokio::test]
async fn secrets_stay_hidden_behind_decoys_moves_exchanges_and_links() {
    let stage = stage();
    fs::create_dir(stage.work("conf")).unwrap();
    fs::write(stage.work("conf/.env"), "hush").unwrap();
    fs::write(stage.work("conf/prodvars"), "hush").unwrap();
    symlink("conf/prodvars", stage.work(".env.prod")).unwrap();
    assert!(
        Command::new("git").args(["init", "-q", "conf/sub"]).current_dir(&stage.workspace).status().unwrap().success()
    );
    let Some(spawner) = stage.spawner(Strength::Strong, &usual()) else { return };
    let flood =
        "for i in $(seq 310); do mkdir -p d$i; echo x >d$i/.env; done; mkdir -p zz/target/w; mv conf zz/target/w/";
    run(&spawner, stage.shell(flood)).await;
    let read =
        "cat .env.prod zz/target/w/conf/.env zz/target/w/conf/prodvars; echo x >zz/target/w/conf/sub/.git/hooks/x";
    let (text, _) = run(&spawner, stage.shell(read)).await;
    assert!(!text.contains("hush") && text.contains("Read-only"), "{text}");
    // One that exchanges folders without pause beside others.
    let exchange = "import ctypes, os\nc = ctypes.CDLL(None)\nos.makedirs('dec', exist_ok=True)\n\
        for i in range(2000000): c.renameat2(-100, b'zz/target/w/conf', -100, b'dec', 2)";
    fs::write(stage.work("swap.py"), exchange).unwrap();
    let lasting = Launch { leftovers: Leftovers::WaitFor, ..stage.shell("exec python3 swap.py") };
    let swapping = spawner.start(lasting).await.unwrap();
    for _ in 0..6 {
        let look = "for i in $(seq 20); do cat zz/target/w/conf/.env dec/.env 2>/dev/null; done; true";
        // Where the folders move too fast to be mended nothing runs, which is closed as well.
        let Ok(mut looking) = spawner.start(stage.shell(look)).await else { break };
        let (text, _) = all(&mut looking).await;
        assert!(!text.contains("hush"), "{text}");
    }
    drop(swapping);
}

/// A repository of the person's is the same one wherever it is moved to, and so are its hooks.
#[tokio::test]
async fn hooks_stay_as_they_are_while_folders_are_exchanged() {
    let stage = stage();
    for folder in ["conf", "dec"] {
        let made = Command::new("git").args(["init", "-q", folder]).current_dir(&stage.workspace).status().unwrap();
        assert!(made.success());
        fs::create_dir_all(stage.work(folder).join(".git/hooks")).unwrap();
        for name in ["config.worktree", "commondir"] {
            fs::write(stage.work(folder).join(".git").join(name), if name == "commondir" { "." } else { "" }).unwrap();
        }
    }
    let hooks = ["conf", "dec"].map(|folder| fs::File::open(stage.work(folder).join(".git/hooks")).unwrap());
    let Some(spawner) = stage.spawner(Strength::Strong, &usual()) else { return };
    let exchange = "import ctypes\nc = ctypes.CDLL(None)\nprint('up', flush=True)\n\
        while True: c.renameat2(-100, b'conf', -100, b'dec', 2)";
    fs::write(stage.work("swap.py"), exchange).unwrap();
    let lasting = Launch { leftovers: Leftovers::WaitFor, ..stage.shell("exec python3 swap.py") };
    let mut swapping = spawner.start(lasting).await.unwrap();
    if swapping.next().await != Progress::Output(b"up\n") {
        return;
    }
    for _ in 0..20 {
        let write = "for i in $(seq 20); do for d in conf dec; do echo x >$d/.git/hooks/pre-commit; done; done; true";
        // Where the folders move too fast nothing runs, which is closed as well.
        if let Ok(mut writing) = spawner.start(stage.shell(write)).await {
            all(&mut writing).await;
        }
        for hooks in &hooks {
            let inside = format!("/proc/self/fd/{}/pre-commit", hooks.as_raw_fd());
            assert!(!Path::new(&inside).exists(), "a command wrote a hook of the person's");
        }
    }
    drop(swapping);
}

#[tokio::test]
async fn what_lies_in_an_emptied_folder_is_seen_as_it_is_to_be() {
    let stage = stage();
    let own = stage.home.join(".config/neco");
    let tree = own.join("worktrees/tree");
    fs::create_dir_all(&tree).unwrap();
    let Some(sandbox) = stage.sandbox(Strength::Strong, &usual()) else { return };
    let roots = Roots { writable: vec![tree.clone()], readable: Vec::new() };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let spawner = Spawner::new(vec![("PATH".into(), path)], &[]).boxed(&sandbox, roots).unwrap();
    let launch =
        Launch { folder: tree.clone(), ..stage.shell("echo x >new; echo x >$GOCACHE; echo x >../../beside; cat new") };
    let (text, _) = run(&spawner, launch).await;
    assert!(text.ends_with("x\n") && text.matches("Read-only").count() == 1, "{text}");
    assert!(tree.join("new").is_file() && !own.join("beside").exists());
}
