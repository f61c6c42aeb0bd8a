//! The git tool on a real repository.

use std::process::Command;

use neco_proto::{Display, Risk};
use neco_toolkit::Touch;
use serde_json::{Value, json};

use crate::world::{Bench, bench};

fn git(bench: &Bench, words: &[&str]) -> String {
    let folder = bench.ctx.world.files.workspace();
    let output = Command::new("git").args(words).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn put(bench: &Bench, path: &str, text: &str) {
    std::fs::write(bench.ctx.world.files.workspace().join(path), text).unwrap();
}

fn with_git() -> Bench {
    let mut bench = bench();
    bench.tools.extend(neco_tools::git::tools());
    bench
}

fn repository() -> Bench {
    let bench = with_git();
    git(&bench, &["init", "-q", "-b", "main"]);
    for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.org"), ("commit.gpgsign", "false")] {
        git(&bench, &["config", key, value]);
    }
    put(&bench, "a.txt", "one\ntwo\n");
    git(&bench, &["add", "."]);
    git(&bench, &["commit", "-q", "-m", "first"]);
    bench
}

async fn text(bench: &Bench, arguments: Value) -> String {
    let plan = bench.plan("git", arguments.clone()).await;
    let output = bench.call("git", arguments.clone()).await;
    assert!(plan.is_ok(), "{arguments}: {plan:?}");
    output.unwrap_or_else(|error| panic!("{arguments}: {error}")).model
}

#[tokio::test]
async fn a_change_from_status_to_commit_and_back() {
    let bench = repository();
    assert_eq!(
        text(&bench, json!({"action": "status"})).await,
        "on branch main\nnothing to commit, the working tree is clean"
    );
    put(&bench, "a.txt", "one\n2\n");
    put(&bench, "new file.txt", "x\n");
    let status = text(&bench, json!({"action": "status"})).await;
    assert_eq!(status, "on branch main\nnot staged:\n  M a.txt\nuntracked:\n  new file.txt");
    let output = bench.call("git", json!({"action": "diff"})).await.unwrap();
    assert!(output.model.starts_with("(1 file, +1 −1)\ndiff --git a/a.txt b/a.txt"), "{}", output.model);
    assert!(matches!(output.display, Some(Display::Diff { files }) if files[0].path == "a.txt"));
    let added = text(&bench, json!({"action": "add", "paths": ["a.txt", "new file.txt"]})).await;
    assert!(added.contains("staged:\n  M a.txt\n  A new file.txt"), "{added}");
    assert_eq!(text(&bench, json!({"action": "diff"})).await, "(no changes)");
    assert!(text(&bench, json!({"action": "diff", "staged": true, "paths": ["a.txt"]})).await.contains("+2"));
    let committed = text(&bench, json!({"action": "commit", "message": "Second: it's two\n\nBody"})).await;
    assert!(committed.contains("Second: it's two") && committed.contains("clean"), "{committed}");
    assert_eq!(git(&bench, &["log", "-1", "--format=%B"]).trim(), "Second: it's two\n\nBody");
    let log = text(&bench, json!({"action": "log"})).await;
    let lines: Vec<&str> = log.lines().collect();
    assert!(
        lines.len() == 2 && lines[0].ends_with("Ada (HEAD -> main) Second: it's two") && lines[1].ends_with("first"),
        "{log}"
    );
    let blame = text(&bench, json!({"action": "blame", "paths": ["a.txt"], "lines": "2-2"})).await;
    assert!(blame.contains("(Ada") && blame.ends_with("2) 2") && blame.lines().count() == 1, "{blame}");
    assert!(text(&bench, json!({"action": "show"})).await.contains("+2"));
    assert_eq!(text(&bench, json!({"action": "show", "rev": "HEAD~1", "paths": ["a.txt"]})).await, "one\ntwo");
}

#[tokio::test]
async fn branches_and_worktrees() {
    let bench = repository();
    text(&bench, json!({"action": "branch", "name": "topic"})).await;
    text(&bench, json!({"action": "branch", "op": "switch", "name": "topic"})).await;
    let branches = text(&bench, json!({"action": "branch"})).await;
    assert!(branches.contains("* topic") && branches.contains("  main"), "{branches}");
    text(&bench, json!({"action": "branch", "op": "switch", "name": "main"})).await;
    text(&bench, json!({"action": "branch", "op": "delete", "name": "topic"})).await;
    assert!(!git(&bench, &["branch"]).contains("topic"));
    let outside = bench.plan("git", json!({"action": "worktree", "name": "../elsewhere"})).await;
    assert!(outside.is_err(), "{outside:?}");
    text(&bench, json!({"action": "worktree", "name": "trees/side"})).await;
    let trees = text(&bench, json!({"action": "worktree"})).await;
    assert!(trees.lines().count() == 2 && trees.contains("trees/side"), "{trees}");
    text(&bench, json!({"action": "worktree", "op": "delete", "name": "trees/side"})).await;
    assert_eq!(text(&bench, json!({"action": "worktree"})).await.lines().count(), 1);
}

#[tokio::test]
async fn what_fails_is_explained() {
    let bench = repository();
    let failed = |arguments: Value| {
        let bench = &bench;
        async move { bench.call("git", arguments).await.unwrap_err().message }
    };
    assert!(failed(json!({"action": "commit", "message": "x"})).await.contains("Stage what belongs"));
    assert!(failed(json!({"action": "show", "rev": "nothing"})).await.contains("unknown revision"));
    assert!(failed(json!({"action": "log", "rev": "--all"})).await.contains("is no commit"));
    let bare = with_git();
    let message = bare.call("git", json!({"action": "status"})).await.unwrap_err().message;
    assert!(message.contains("no git repository"), "{message}");
}

#[tokio::test]
async fn what_only_looks_is_told_from_what_changes() {
    let bench = repository();
    for (arguments, touch, risk, command) in [
        (json!({"action": "status"}), Touch::Reads, Risk::Safe, None),
        (json!({"action": "branch"}), Touch::Reads, Risk::Safe, None),
        (json!({"action": "add", "all": true}), Touch::Runs, Risk::Low, Some("git add --all")),
        (json!({"action": "commit", "message": "a b"}), Touch::Runs, Risk::Medium, Some("git commit -m 'a b'")),
        (
            json!({"action": "branch", "op": "delete", "name": "x"}),
            Touch::Runs,
            Risk::High,
            Some("git branch --delete x"),
        ),
        (json!({"action": "add", "paths": [".env"]}), Touch::Runs, Risk::Critical, Some("git add -- .env")),
    ] {
        let call = bench.tool("git").prepare(arguments.clone()).unwrap();
        let plan = call.plan(&bench.ctx).await.unwrap();
        assert_eq!((call.touch(), plan.risk, plan.command.as_deref()), (touch, risk, command), "{arguments}");
    }
}

#[tokio::test]
async fn looking_runs_nothing_of_the_repositorys_own() {
    let bench = repository();
    let script = bench.ctx.world.files.workspace().join("spy.sh");
    std::fs::write(&script, "#!/bin/sh\ntouch \"$(dirname \"$0\")/spied\"\ncat \"$@\"\n").unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let spy = script.to_str().unwrap();
    for key in ["core.pager", "diff.external", "core.fsmonitor", "diff.spy.textconv", "core.editor"] {
        git(&bench, &["config", key, spy]);
    }
    put(&bench, ".gitattributes", "*.txt diff=spy\n");
    put(&bench, "a.txt", "three\n");
    for action in ["status", "diff", "log", "show", "branch", "worktree"] {
        text(&bench, json!({ "action": action })).await;
    }
    text(&bench, json!({"action": "blame", "paths": ["a.txt"]})).await;
    assert!(!bench.ctx.world.files.workspace().join("spied").exists());
}
