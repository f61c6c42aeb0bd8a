//! What commands plant for git to find when the person uses it next. Every plant is tried without a box first: one that
//! starts nothing there proves nothing.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use neco_config::section::SandboxSection;
use neco_safety::world::Process;
use neco_sandbox::{Roots, Spawner, Strength};

use crate::parts::PARTS;
use crate::stage::{Stage, all, bwrap, run, skipped};

/// Begins every script: a repository with a commit that the one at the top enters, and settings that start a program.
const WORDS: &str = r#"set -e; export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
W=$PWD
nested() { git init -q $1; echo 1 >$1/f; git -C $1 add f; git -C $1 commit -q -m x; git add -f $1 2>/dev/null || true; }
plain() { printf '[core]\nrepositoryformatversion=0\nbare=false\n%s\n' "$1"; }
evil() { plain "fsmonitor=EVIL"; }
index() { python3 -c '
import struct,hashlib,sys
def entry(mode,sha,name,length=None,ext=False):
    e=struct.pack(">10I",0,0,0,0,0,0,mode,0,0,0)+bytes.fromhex(sha)
    n=len(name) if length is None else length
    e+=struct.pack(">HH",n|0x4000,0x4000) if ext else struct.pack(">H",n)
    e+=name
    return e+b"\0"*(8-len(e)%8)
import subprocess
git=lambda *a: subprocess.check_output(("git",)+a).strip().decode()
entries,extra=eval(sys.argv[1])
b=b"DIRC"+struct.pack(">II",3,len(entries))+b"".join(entries)+extra
open(".git/index","wb").write(b+hashlib.sha1(b).digest())' "$1"; }
"#;

/// Something to plant.
pub struct Plant {
    pub name: &'static str,
    /// What the person has before.
    pub before: &'static str,
    pub commands: &'static [&'static str],
    /// What the person does afterwards.
    pub after: &'static str,
}

pub const STATUS: &str = "git status --short";

/// All of them.
fn plants() -> impl Iterator<Item = &'static Plant> {
    PLANTS.iter().chain(PARTS)
}

const PLANTS: &[Plant] = &[
    Plant {
        name: "a git folder behind a file, turned by the second command",
        before: "",
        commands: &["git init -q --separate-git-dir=store sub; nested sub; git add sub", "evil >store/config"],
        after: STATUS,
    },
    Plant {
        name: "the person's own git folder behind a file",
        before: "git init -q --separate-git-dir=store mine; nested mine; git add mine",
        commands: &["evil >store/config"],
        after: STATUS,
    },
    Plant {
        name: "a folder that a git folder shares, turned by the second command",
        before: "",
        commands: &[
            "nested x/worktrees; mv x/worktrees/.git/objects x/worktrees/.git/refs x/worktrees/.git/config x/; \
             echo ../.. >x/worktrees/.git/commondir",
            "evil >x/config",
        ],
        after: STATUS,
    },
    Plant {
        name: "a git file with many ends of lines",
        before: "",
        commands: &["nested sub; mkdir -p target; mv sub/.git target/store; evil >target/store/config; \
                     { printf 'gitdir: ../target/store'; head -c 5000 /dev/zero | tr '\\0' '\\n'; } >sub/.git"],
        after: STATUS,
    },
    Plant {
        name: "a git file with a space at its end",
        before: "",
        commands: &["nested sub; mkdir -p target; mv sub/.git 'target/store '; evil >'target/store /config'; \
                     printf 'gitdir: ../target/store ' >sub/.git"],
        after: STATUS,
    },
    Plant {
        name: "a git file with a byte that is no letter",
        before: "",
        commands: &[
            "nested sub; mkdir -p target; O=$(printf 'st\\377re'); mv sub/.git target/$O; evil >target/$O/config; \
                     printf 'gitdir: ../target/%s' $O >sub/.git",
        ],
        after: STATUS,
    },
    Plant {
        name: "a git file that leads to a cache of the box",
        before: "",
        commands: &[
            "nested sub; C=${CCACHE_DIR:-OUTSIDE/cache}; mkdir -p $C; mv sub/.git $C/store; evil >$C/store/config; \
                     printf 'gitdir: %s/store' $C >sub/.git",
        ],
        after: STATUS,
    },
    Plant {
        name: "a commondir with a space",
        before: "",
        commands: &[
            "nested sub; cd sub/.git; mkdir '. '; mv objects refs config '. '/; evil >'. /config'; printf '. ' >commondir",
        ],
        after: STATUS,
    },
    Plant {
        name: "a folder to work in elsewhere",
        before: "",
        commands: &[
            "nested sub; mkdir node_modules; cd node_modules; nested in; C=$(git -C in rev-parse HEAD); cd $W/sub; \
                     git update-index --add --cacheinfo 160000,$C,in; git config core.worktree $W/node_modules; \
                     evil >$W/node_modules/in/.git/config; touch -d yesterday $W/node_modules/in/f",
        ],
        after: STATUS,
    },
    Plant {
        name: "a folder to work in elsewhere that says it is this one's",
        before: "",
        commands: &[
            "nested sub; mkdir node_modules; cd node_modules; nested in; C=$(git -C in rev-parse HEAD); cd $W/sub; \
                     git update-index --add --cacheinfo 160000,$C,in; git config core.worktree $W/node_modules; \
                     echo 'gitdir: ../sub/.git' >$W/node_modules/.git; \
                     evil >$W/node_modules/in/.git/config; touch -d yesterday $W/node_modules/in/f",
        ],
        after: STATUS,
    },
    Plant {
        name: "an index that shares entries with one that comes later",
        before: "",
        commands: &[
            "mkdir node_modules; nested node_modules/in; git update-index --split-index; \
             for i in .git/sharedindex.*; do echo $i >name; mv $i kept; done",
            "mv kept $(cat name); evil >node_modules/in/.git/config",
        ],
        after: STATUS,
    },
    Plant {
        name: "an index that names a folder as a whole",
        before: "",
        commands: &["nested sub; cd sub; mkdir node_modules; nested node_modules/in; echo x >node_modules/g; \
                     git add node_modules 2>/dev/null; git commit -q -m y; \
                     plain \"$(printf 'sparseCheckout=true\\nsparseCheckoutCone=true\\n[index]\\nsparse=true')\" >.git/config; \
                     mkdir -p .git/info; printf '/*\\n!/*/\\n' >.git/info/sparse-checkout; \
                     index '([entry(0o100644,git(\"rev-parse\",\"HEAD:f\"),b\"f\"), \
                     entry(0o40000,git(\"rev-parse\",\"HEAD:node_modules\"),b\"node_modules/\",ext=True)], b\"sdir\\0\\0\\0\\0\")'; \
                     evil >node_modules/in/.git/config; touch -d yesterday node_modules/in/f"],
        after: STATUS,
    },
    Plant {
        name: "an index with a name that is shorter than it says",
        before: "",
        commands: &["mkdir node_modules; nested node_modules/in; C=$(git -C node_modules/in rev-parse HEAD); \
                     index '([entry(0o100644,\"'$C'\",b\"a\\0b\",3), entry(0o160000,\"'$C'\",b\"node_modules/in\")], b\"\")'; \
                     evil >node_modules/in/.git/config"],
        after: STATUS,
    },
    Plant {
        name: "an index with an entry of an odd mode",
        before: "",
        commands: &["mkdir node_modules; nested node_modules/in; C=$(git -C node_modules/in rev-parse HEAD); \
                     index '([entry(0o160755,\"'$C'\",b\"node_modules/in\")], b\"\")'; evil >node_modules/in/.git/config"],
        after: STATUS,
    },
    Plant {
        name: "the workspace itself as a repository",
        before: "rm -rf .git",
        commands: &["mkdir objects refs; echo ref: refs/heads/main >HEAD; evil >config; echo \"worktree=$W\" >>config"],
        after: STATUS,
    },
    Plant {
        name: "a submodule that is yet to be checked out, among many",
        before: "",
        commands: &[
            "nested sub; printf '[submodule \"sub\"]\\n\\tpath = sub\\n\\turl = ./sub\\n' >.gitmodules; git add .gitmodules; \
                     git commit -q -m x; mkdir -p .git/modules; mv sub/.git .git/modules/sub; rm -rf sub; mkdir sub; \
                     mkdir -p .git/modules/sub/hooks; cp EVIL .git/modules/sub/hooks/post-checkout; \
                     for i in $(seq 450); do mkdir .git/modules/x$i; done",
        ],
        after: "git submodule update --init --force",
    },
    Plant {
        name: "a submodule that is yet to be checked out, behind a link",
        before: "",
        commands: &[
            "nested sub; printf '[submodule \"sub\"]\\n\\tpath = sub\\n\\turl = ./sub\\n' >.gitmodules; git add .gitmodules; \
                     git commit -q -m x; mkdir -p .git/modules target; mv sub/.git target/sub; rm -rf sub; mkdir sub; \
                     mkdir -p target/sub/hooks; cp EVIL target/sub/hooks/post-checkout; ln -s ../../target/sub .git/modules/sub",
        ],
        after: "git submodule update --init --force",
    },
    Plant {
        name: "a repository by itself that came with the workspace, moved to where git enters it",
        before: "nested sub; cp -r sub/.git data; evil >data/config; rm -rf sub; git reset -q",
        commands: &[
            "mkdir sub; H=$(git --git-dir=data rev-parse HEAD); mv data sub/.git; git update-index --add --cacheinfo 160000,$H,sub",
        ],
        after: STATUS,
    },
    Plant {
        name: "half a repository that came with the workspace, moved to where git enters it",
        before: "nested sub; cp -r sub/.git data; evil >data/config; rm -rf sub; git reset -q; mv data/refs kept",
        commands: &["mkdir sub; mv kept data/refs; H=$(git --git-dir=data rev-parse HEAD); mv data sub/.git; \
                     git update-index --add --cacheinfo 160000,$H,sub"],
        after: STATUS,
    },
    Plant {
        name: "another repository in a folder that is one by itself",
        before: "nested docs; git reset -q; cd docs; mv .git/* .; rmdir .git; plain \"worktree=$W/docs\" >config",
        commands: &["cd docs; mkdir target; git init -q target/in; echo 1 >target/in/f; git -C target/in add f; \
                     git -C target/in commit -q -m x; C=$(git -C target/in rev-parse HEAD); \
                     git --git-dir=. update-index --add --cacheinfo 160000,$C,target/in; evil >target/in/.git/config"],
        after: "cd docs; git status --short",
    },
    Plant {
        name: "a rebase that was never begun",
        before: "git commit -q --allow-empty -m x",
        commands: &[
            "H=$(git rev-parse HEAD); mkdir .git/rebase-merge; cd .git/rebase-merge; echo 'exec EVIL' >git-rebase-todo; \
                     git rev-parse --symbolic-full-name HEAD >head-name; echo $H >onto; echo $H >orig-head; : >interactive; \
                     echo 1 >msgnum; echo 1 >end; : >done",
        ],
        after: "git rebase --continue",
    },
];

impl Plant {
    pub fn script(stage: &Stage, text: &str) -> String {
        let evil = stage.outside.join("evil.sh");
        format!("{WORDS}{text}")
            .replace("EVIL", evil.to_str().unwrap())
            .replace("OUTSIDE", stage.outside.to_str().unwrap())
    }

    /// What a person does, without a box.
    pub fn as_the_person(stage: &Stage, text: &str) -> std::process::Output {
        let script = Self::script(stage, text);
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(&stage.workspace).env("HOME", &stage.home);
        shell.env("GIT_CONFIG_NOSYSTEM", "1").env("GIT_EDITOR", "true").output().unwrap()
    }

    pub fn set_up(&self) -> Stage {
        let stage = Stage::new();
        let evil = stage.outside.join("evil.sh");
        fs::write(&evil, format!("#!/bin/sh\ntouch {}/ran\n", stage.outside.display())).unwrap();
        fs::set_permissions(&evil, fs::Permissions::from_mode(0o755)).unwrap();
        let done = Self::as_the_person(&stage, self.before);
        assert!(done.status.success(), "{}: {}", self.name, String::from_utf8_lossy(&done.stderr));
        stage
    }

    /// Whether what was planted runs when the person goes on.
    pub fn runs(&self, stage: &Stage) -> bool {
        let ran = stage.outside.join("ran");
        let _ = fs::remove_file(&ran);
        let output = Self::as_the_person(stage, self.after);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(!said.contains("dubious ownership") && !said.contains("not found"), "{}: {said}", self.name);
        ran.exists()
    }
}

#[test]
fn every_plant_runs_where_there_is_no_box() {
    for plant in plants() {
        let stage = plant.set_up();
        for command in plant.commands {
            let done = Plant::as_the_person(&stage, command);
            assert!(done.status.success(), "{}: {}", plant.name, String::from_utf8_lossy(&done.stderr));
        }
        assert!(plant.runs(&stage), "{}: it proves nothing", plant.name);
    }
}

#[tokio::test]
async fn no_plant_runs_where_there_is_one() {
    for plant in plants() {
        none_runs(plant, plant.set_up(), Strength::Strong).await;
    }
}

#[tokio::test]
async fn no_plant_runs_where_bubblewrap_builds_it() {
    if bwrap().is_none() {
        return skipped(Strength::Weaker, "bubblewrap is not installed");
    }
    for plant in plants() {
        none_runs(plant, Stage { bubblewrap: true, ..plant.set_up() }, Strength::Strong).await;
    }
}

#[tokio::test]
async fn no_plant_runs_after_the_weaker_one() {
    for plant in plants() {
        none_runs(plant, plant.set_up(), Strength::Weaker).await;
    }
}

async fn none_runs(plant: &Plant, stage: Stage, strength: Strength) {
    let Some(spawner) = stage.spawner(strength, &SandboxSection::default()) else { return };
    let mut told = Vec::new();
    let mut output = String::new();
    for command in plant.commands {
        let mut running = spawner.start(stage.shell(&Plant::script(&stage, command))).await.unwrap();
        output.push_str(&all(&mut running).await.0);
        told.extend_from_slice(running.taken_away());
        assert!(running.left_behind().is_empty(), "{}: {:?}", plant.name, running.left_behind());
    }
    assert!(!plant.runs(&stage), "{}: {output} {told:?}", plant.name);
    assert!(!told.is_empty() || output.contains("Read-only"), "{}: nothing was said: {output}", plant.name);
    // A command that does nothing does not make it the person's.
    run(&spawner, stage.shell("true")).await;
    assert!(!plant.runs(&stage), "{}: after another command", plant.name);
}

#[tokio::test]
async fn git_writes_to_no_folder_that_is_none_of_the_repositorys() {
    let plant = Plant {
        name: "the home folder as a folder to work in",
        before: "rm -rf .git",
        commands: &[
            "git init -q .; mkdir t; echo evil >t/.planted; git --work-tree=t add .planted; git commit -q -m x; rm -rf t; \
                     git config core.worktree TO_HOME",
        ],
        after: "git checkout -- :/",
    };
    let command = |stage: &Stage| plant.commands[0].replace("TO_HOME", stage.home.to_str().unwrap());
    let stage = plant.set_up();
    assert!(Plant::as_the_person(&stage, &command(&stage)).status.success());
    plant.runs(&stage);
    assert!(stage.home.join(".planted").is_file(), "it proves nothing");
    let stage = plant.set_up();
    let Some(spawner) = stage.spawner(Strength::Strong, &SandboxSection::default()) else { return };
    let mut running = spawner.start(stage.shell(&Plant::script(&stage, &command(&stage)))).await.unwrap();
    all(&mut running).await;
    assert_eq!(running.taken_away(), [stage.work(".git/config")]);
    plant.runs(&stage);
    assert!(!stage.home.join(".planted").exists() && stage.work(".planted").is_file());
}

#[tokio::test]
async fn what_git_makes_for_submodules_and_worktrees_is_left_as_it_is() {
    let plant = Plant { name: "", before: "", commands: &[], after: "" };
    let stage = plant.set_up();
    let Some(spawner) = stage.spawner(Strength::Strong, &SandboxSection::default()) else { return };
    let make = "git config --global protocol.file.allow always || true; nested lib; git reset -q; git init -q app; cd app; \
        git -c protocol.file.allow=always submodule add -q ../lib sub; git commit -q -m x; git worktree add -q ../tree; \
        git init -q --separate-git-dir=../apart ../apart-work; \
        git -c sequence.editor='sed -i 1s/pick/edit/' rebase -q -i --root 2>/dev/null; cat .git/modules/sub/config";
    let mut running = spawner.start(stage.shell(&Plant::script(&stage, make))).await.unwrap();
    let (text, _) = all(&mut running).await;
    assert_eq!((running.taken_away(), running.left_behind()), (&[][..], &[][..]), "{text}");
    assert!(text.contains("worktree = ../../../sub"), "{text}");
    let again = "cd app && git rebase --continue 2>&1; git -C sub status --short && git -C ../tree status --short && \
        git -C ../apart-work status --short && echo x >sub/new && git -C sub add new && git -C sub commit -q -m y && echo fine";
    let mut running = spawner.start(stage.shell(&Plant::script(&stage, again))).await.unwrap();
    let (text, _) = all(&mut running).await;
    assert!(text.ends_with("fine\n") && running.taken_away().is_empty(), "{text} {:?}", running.taken_away());
}

#[tokio::test]
async fn workspaces_share_no_cache() {
    let stage = Stage::new();
    let Some(sandbox) = stage.sandbox(Strength::Strong, &SandboxSection::default()) else { return };
    let other = stage.home.join("other");
    fs::create_dir(&other).unwrap();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_folder = |folder: &std::path::Path| {
        let roots = Roots { writable: vec![folder.to_path_buf()], readable: Vec::new() };
        Spawner::new(vec![("PATH".into(), path.clone())], &[]).boxed(&sandbox, roots).unwrap()
    };
    let (one, two) = (in_folder(&stage.workspace), in_folder(&other));
    let write = "mkdir -p $CCACHE_DIR && echo prefix_command=evil >$CCACHE_DIR/ccache.conf && echo $CCACHE_DIR";
    let (place, _) = run(&one, stage.shell(write)).await;
    let place = place.trim();
    assert!(fs::read_to_string(format!("{place}/ccache.conf")).unwrap().contains("evil"));
    let look = |text: String| neco_safety::world::Launch { folder: other.clone(), ..stage.shell(&text) };
    let (text, _) = run(&two, look(format!("cat $CCACHE_DIR/ccache.conf; echo x >{place}/more; echo end"))).await;
    assert!(!text.contains("prefix_command") && text.ends_with("end\n"), "{text}");
    assert!(!std::path::Path::new(place).join("more").exists(), "{text}");
    let (text, _) = run(&in_folder(&stage.workspace), stage.shell("cat $CCACHE_DIR/ccache.conf")).await;
    assert_eq!(text, "prefix_command=evil\n", "its own stays");
}
