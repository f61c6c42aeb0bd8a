//! Parts of repositories that commands plant: what is none yet becomes one with all that lies in it when the person makes
//! it one, and a repository of the person's has parts that settings are not.

use std::fs;
use std::os::unix::fs::symlink;

use neco_config::section::SandboxSection;
use neco_safety::world::{Leftovers, Process, Progress};
use neco_sandbox::Strength;

use crate::plants::{Plant, STATUS};
use crate::stage::{Stage, all, run};

const COMMIT: &str = "git init -q; git commit -q --allow-empty -m x";
const LOOK: &str = "git init -q; git status --short";

pub const PARTS: &[Plant] = &[
    Plant {
        name: "only a hook, where there was no git",
        before: "rm -rf .git",
        commands: &["mkdir -p .git/hooks; cp EVIL .git/hooks/pre-commit"],
        after: COMMIT,
    },
    Plant {
        name: "only settings, where there was no git",
        before: "rm -rf .git",
        commands: &["mkdir .git; evil >.git/config"],
        after: LOOK,
    },
    Plant {
        name: "a hook, step by step",
        before: "rm -rf .git",
        commands: &["mkdir .git", "mkdir .git/hooks", "cp EVIL .git/hooks/pre-commit"],
        after: COMMIT,
    },
    Plant {
        name: "a hook in a folder that is moved into place",
        before: "rm -rf .git",
        commands: &["mkdir -p data/hooks; cp EVIL data/hooks/pre-commit", "mv data .git"],
        after: COMMIT,
    },
    Plant {
        name: "a folder of the person's as hooks",
        before: "rm -rf .git; mkdir tools; cp EVIL tools/pre-commit",
        commands: &["mkdir .git; mv tools .git/hooks"],
        after: COMMIT,
    },
    Plant {
        name: "a copy of a folder of the person's as hooks",
        before: "rm -rf .git; mkdir tools; cp EVIL tools/pre-commit",
        commands: &["mkdir .git; cp -a tools .git/hooks"],
        after: COMMIT,
    },
    Plant {
        name: "hooks behind a link",
        before: "rm -rf .git",
        commands: &["mkdir .git tools; cp EVIL tools/pre-commit; ln -s ../tools .git/hooks"],
        after: COMMIT,
    },
    Plant {
        name: "a git folder behind a link",
        before: "rm -rf .git",
        commands: &["mkdir -p store/hooks; cp EVIL store/hooks/pre-commit; ln -s store .git"],
        after: COMMIT,
    },
    Plant {
        name: "a new folder",
        before: "",
        commands: &["mkdir -p new/deep/.git; evil >new/deep/.git/config"],
        after: "cd new/deep; git init -q; git status --short",
    },
    Plant {
        name: "a folder that programs make",
        before: "",
        commands: &["mkdir -p build/.git/hooks; cp EVIL build/.git/hooks/pre-commit"],
        after: "cd build; git init -q; git commit -q --allow-empty -m x",
    },
    Plant {
        name: "in the place of a repository that was moved away",
        before: "nested mine; git reset -q",
        commands: &["mv mine away; mkdir -p mine/.git/hooks; cp EVIL mine/.git/hooks/pre-commit"],
        after: "cd mine; git init -q; git commit -q --allow-empty -m x",
    },
    Plant {
        name: "a repository that was moved away, and turned by another command",
        before: "nested mine; git reset -q",
        commands: &["mkdir -p node_modules; mv mine node_modules/mine", "evil >node_modules/mine/.git/config"],
        after: "cd node_modules/mine; git status --short",
    },
    Plant {
        name: "what the person began to make themselves",
        before: "rm -rf .git; mkdir -p .git/hooks; echo true >.git/hooks/pre-push",
        commands: &["cp EVIL .git/hooks/pre-commit"],
        after: COMMIT,
    },
    Plant {
        name: "hooks elsewhere",
        before: "rm -rf .git",
        commands: &[
            "mkdir .git tools; cp EVIL tools/pre-commit; printf '[core]\nhooksPath=%s/tools\n' $W >.git/config",
        ],
        after: COMMIT,
    },
    Plant {
        name: "settings elsewhere",
        before: "rm -rf .git",
        commands: &["mkdir .git; evil >more; printf '[include]\npath=../more\n' >.git/config"],
        after: LOOK,
    },
    Plant {
        name: "settings elsewhere, under a condition",
        before: "rm -rf .git",
        commands: &["mkdir .git; evil >more; printf '[includeIf \"gitdir:/\"]\npath=../more\n' >.git/config"],
        after: LOOK,
    },
    Plant {
        name: "settings of a worktree",
        before: "rm -rf .git",
        commands: &[
            "mkdir .git; printf '[extensions]\nworktreeConfig=true\n' >.git/config; evil >.git/config.worktree",
        ],
        after: LOOK,
    },
    Plant {
        name: "an alias",
        before: "rm -rf .git",
        commands: &["mkdir .git; printf '[alias]\nst = !EVIL\n' >.git/config"],
        after: "git init -q; git st",
    },
    Plant {
        name: "a program that shows differences",
        before: "rm -rf .git",
        commands: &["mkdir .git; printf '[diff]\nexternal=EVIL\n' >.git/config; echo 1 >f"],
        after: "git init -q; git add f; echo 2 >f; git diff",
    },
    Plant {
        name: "a program that speaks with other machines",
        before: "rm -rf .git",
        commands: &["mkdir .git; printf '[core]\nsshCommand=EVIL\n' >.git/config"],
        after: "git init -q; git fetch ssh://localhost/x || true",
    },
    Plant {
        name: "a filter and what it is for",
        before: "rm -rf .git",
        commands: &[
            "mkdir -p .git/info; printf '[filter \"x\"]\nclean=EVIL\n' >.git/config; echo '* filter=x' >.git/info/attributes; \
                     echo 1 >f",
        ],
        after: "git init -q; git add f",
    },
    Plant {
        name: "what a filter of the person's is for",
        before: "git config filter.x.clean EVIL; echo 1 >f",
        commands: &["mkdir -p .git/info; echo '* filter=x' >.git/info/attributes"],
        after: "git add f",
    },
    Plant {
        name: "what a filter of the person's is for, in the place of what it was for",
        before: "git config filter.x.clean EVIL; echo 1 >f; mkdir -p .git/info; echo '*.jpg filter=x' >.git/info/attributes",
        commands: &[
            "echo '* filter=x' >.git/info/attributes || { mv .git/info .git/i; mkdir .git/info; echo '* filter=x' >.git/info/attributes; }",
        ],
        after: "git add f",
    },
    Plant {
        name: "the person's own hooks",
        before: "echo true >.git/hooks/pre-push",
        commands: &["cp EVIL .git/hooks/pre-commit"],
        after: "git commit -q --allow-empty -m x",
    },
    Plant {
        name: "the person's own settings",
        before: "git config alias.mine '!true'",
        commands: &["evil >>.git/config"],
        after: STATUS,
    },
    Plant {
        name: "a repository by itself",
        before: "",
        commands: &["git init -q --bare x.git; printf '[alias]\nst = !EVIL\n' >>x.git/config"],
        after: "cd x.git; git st",
    },
    Plant {
        name: "a repository by itself, step by step",
        before: "",
        commands: &[
            "mkdir -p x.git/refs x.git/objects; printf '[alias]\nst = !EVIL\n' >x.git/config",
            "echo ref: refs/heads/main >x.git/HEAD",
        ],
        after: "cd x.git; git st",
    },
    Plant {
        name: "a file that a link among git's own notes leads to",
        before: "git commit -q --allow-empty -m x; touch OUTSIDE/rc",
        commands: &["rm .git/logs/HEAD; ln -s OUTSIDE/rc .git/logs/HEAD"],
        after: "git commit -q --allow-empty -m x; ! grep -q x OUTSIDE/rc || EVIL",
    },
    Plant {
        name: "a file that a link in the place of a message leads to",
        before: "git commit -q --allow-empty -m x; touch OUTSIDE/rc",
        commands: &["rm -f .git/COMMIT_EDITMSG; ln -s OUTSIDE/rc .git/COMMIT_EDITMSG"],
        after: "git commit -q --allow-empty -m x; ! grep -q x OUTSIDE/rc || EVIL",
    },
    Plant {
        name: "a repository to push to",
        before: "rm -rf .git",
        commands: &[
            "git init -q .; git init -q --bare node_modules/x.git; cp EVIL node_modules/x.git/hooks/post-receive; \
                     git remote add origin ./node_modules/x",
        ],
        after: "git commit -q --allow-empty -m x; git push -q origin HEAD:refs/heads/x",
    },
    Plant {
        name: "a repository to push to, named in a file",
        before: "",
        commands: &[
            "git init -q --bare node_modules/x.git; cp EVIL node_modules/x.git/hooks/post-receive; mkdir .git/remotes; \
                     echo \"URL: $W/node_modules/x.git\" >.git/remotes/origin",
        ],
        after: "git commit -q --allow-empty -m x; git push -q origin HEAD:refs/heads/x || true",
    },
    Plant {
        name: "the shared folder of a worktree elsewhere",
        before: "git commit -q --allow-empty -m x; git worktree add -q OUTSIDE/tree",
        commands: &["mkdir data; cp -r .git/objects .git/refs .git/HEAD data; evil >data/config; \
                     echo $W/data >.git/worktrees/tree/commondir"],
        after: "cd OUTSIDE/tree; git status --short || true",
    },
];

/// A plant in the background, which outlives its plants or is killed.
#[tokio::test]
async fn what_a_command_in_the_background_plants_is_put_right_however_it_ends() {
    let plant = &PARTS[0];
    for killed in [false, true] {
        let stage = plant.set_up();
        let Some(spawner) = stage.spawner(Strength::Strong, &SandboxSection::default()) else { return };
        let script = format!(
            "{}; echo up; sleep 0.2; {}",
            Plant::script(&stage, plant.commands[0]),
            if killed { "sleep 60" } else { "true" }
        );
        let launch = neco_safety::world::Launch { leftovers: Leftovers::WaitFor, ..stage.shell(&script) };
        let mut running = spawner.start(launch).await.unwrap();
        while !matches!(running.next().await, Progress::Output(bytes) if bytes.starts_with(b"up")) {}
        if killed {
            drop(running);
        } else {
            all(&mut running).await;
        }
        let begun = std::time::Instant::now();
        while stage.work(".git/hooks/pre-commit").exists() {
            assert!(begun.elapsed() < std::time::Duration::from_secs(20), "killed: {killed}");
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        assert!(!plant.runs(&stage), "killed: {killed}");
    }
}

#[tokio::test]
async fn objects_are_shared_with_repositories_of_the_workspace_and_with_no_others() {
    let stage = Stage::new();
    let other = stage.outside.join("other");
    let made = std::process::Command::new("git").args(["init", "-q"]).arg(&other).status().unwrap();
    assert!(made.success());
    let Some(spawner) = stage.spawner(Strength::Strong, &SandboxSection::default()) else { return };
    let script = format!(
        "nested lib; git reset -q; git clone -q -s lib copy; git -C copy log --oneline; git clone -q -s {} astray",
        other.display()
    );
    let mut running = spawner.start(stage.shell(&Plant::script(&stage, &script))).await.unwrap();
    let (text, _) = all(&mut running).await;
    assert_eq!(running.taken_away(), [stage.work("astray/.git/objects/info/alternates")], "{text}");
    let (text, _) =
        run(&spawner, stage.shell("git -C copy log --oneline | wc -l; echo x >>copy/.git/objects/info/alternates"))
            .await;
    assert!(text.starts_with("1\n") && text.contains("Read-only"), "{text}");
    let mut running = spawner
        .start(stage.shell(&format!("echo {}/.git/objects >.git/objects/info/alternates", other.display())))
        .await
        .unwrap();
    all(&mut running).await;
    assert_eq!(running.taken_away(), [stage.work(".git/objects/info/alternates")]);
}

#[tokio::test]
async fn what_the_person_made_stays_beside_what_is_put_aside() {
    let stage = Stage::new();
    fs::remove_dir_all(stage.work(".git")).unwrap();
    fs::create_dir_all(stage.work(".git/hooks")).unwrap();
    fs::create_dir_all(stage.work(".git/logs")).unwrap();
    fs::write(stage.work(".git/hooks/pre-push"), "mine").unwrap();
    fs::write(stage.work(".git/config"), "[alias]\n\tst = !mine\n").unwrap();
    symlink("/elsewhere", stage.work(".git/logs/mine")).unwrap();
    let Some(spawner) = stage.spawner(Strength::Strong, &SandboxSection::default()) else { return };
    let mut running = spawner
        .start(stage.shell("echo x >.git/hooks/pre-commit; echo '[core]' >>.git/config; git init -q ."))
        .await
        .unwrap();
    let (text, _) = all(&mut running).await;
    let mut taken = running.taken_away().to_vec();
    taken.sort();
    assert_eq!(taken, [stage.work(".git/config"), stage.work(".git/hooks/pre-commit")], "{text}");
    assert_eq!(fs::read_to_string(stage.work(".git/hooks/pre-push")).unwrap(), "mine");
    assert_eq!(fs::read_to_string(stage.work(".git/config")).unwrap(), "[alias]\n\tst = !mine\n");
    assert!(fs::read_link(stage.work(".git/logs/mine")).is_ok());
}

#[tokio::test]
async fn files_that_a_command_changes_and_that_act_later_are_said() {
    let stage = Stage::new();
    fs::write(stage.work("AGENTS.md"), "be brief").unwrap();
    fs::write(stage.work("CLAUDE.md"), "be brief").unwrap();
    let Some(spawner) = stage.spawner(Strength::Strong, &SandboxSection::default()) else { return };
    let said = async |command: &str, leftovers: Leftovers| {
        let launch = neco_safety::world::Launch { leftovers, ..stage.shell(command) };
        let mut running = spawner.start(launch).await.unwrap();
        all(&mut running).await;
        let mut said = running.changed_later().to_vec();
        said.sort();
        said
    };
    assert!(
        said("cat AGENTS.md; echo x >ordinary", Leftovers::End).await.is_empty(),
        "nothing of the kind was changed"
    );
    let changes = "echo y >>AGENTS.md; mkdir -p .github/workflows .husky; echo x >.github/workflows/ci.yml; \
        echo x >.husky/pre-commit; false";
    let expected = [".github/workflows/ci.yml", ".husky/pre-commit", "AGENTS.md"].map(|name| stage.work(name));
    assert_eq!(said(changes, Leftovers::End).await, expected);
    assert!(said("true", Leftovers::End).await.is_empty(), "each is said once");
    // What the person changes between commands is theirs.
    fs::write(stage.work("AGENTS.md"), "be very brief").unwrap();
    assert!(said("true", Leftovers::End).await.is_empty());
    assert!(said("echo z >>CLAUDE.md", Leftovers::WaitFor).await.is_empty(), "nobody waits for it");
    assert_eq!(said("true", Leftovers::End).await, [stage.work("CLAUDE.md")]);
}
