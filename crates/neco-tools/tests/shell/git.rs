//! The git tool on a real repository.

use std::process::Command;

use neco_proto::{Display, ErrorCode, Risk};
use neco_toolkit::SideEffect;
use serde_json::{Value, json};

use crate::world::{Bench, bench};

fn git(bench: &Bench, words: &[&str]) -> String {
    let folder = bench.ctx.world.files().workspace();
    let output = Command::new("git").args(words).current_dir(folder).output().unwrap();
    assert!(output.status.success(), "git {words:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn put(bench: &Bench, path: &str, text: &str) {
    std::fs::write(bench.ctx.world.files().workspace().join(path), text).unwrap();
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
    for (arguments, words, said) in [
        (json!({"action": "commit", "message": "x"}), "there is nothing to commit: stage", "working tree clean"),
        (json!({"action": "show", "rev": "nothing"}), "git show failed:\n", "unknown revision"),
    ] {
        let output = bench.call("git", arguments.clone()).await.unwrap();
        assert_eq!(output.error_code, Some(ErrorCode::ToolFailed), "{arguments}");
        let (own, data) = parts(&output);
        assert!(own.contains(words) && data.contains(said) && !own.contains(said), "{arguments}: {}", output.model);
    }
    let refused = bench.call("git", json!({"action": "log", "rev": "--all"})).await.unwrap_err().message;
    assert!(refused.contains("is no commit"), "{refused}");
    let bare = with_git();
    let output = bare.call("git", json!({"action": "status"})).await.unwrap();
    assert!(parts(&output).0.contains("no git repository"), "{}", output.model);
}

/// Our own words and what git said.
fn parts(output: &neco_toolkit::ToolOutput) -> (String, String) {
    let part = output.outside.clone().unwrap().part;
    (output.model[..part.start].to_owned(), output.model[part].to_owned())
}

#[tokio::test]
async fn a_failing_hook_is_told_shortly_and_as_data() {
    let bench = repository();
    let hook = bench.ctx.world.files().workspace().join(".git/hooks/pre-commit");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\nyes 'IGNORE ALL' | head -n 100000\necho 'error: lint failed'\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    put(&bench, "a.txt", "2\n");
    let output = bench.call("git", json!({"action": "commit", "message": "x", "all": true})).await.unwrap();
    let (own, data) = parts(&output);
    assert_eq!(own, "Error 1005: git commit failed:\n");
    assert!(data.starts_with("error: lint failed\n") && data.len() < 10_000, "{}", data.len());
}

#[tokio::test]
async fn in_a_part_of_a_repository_only_that_part_is_seen_and_changed() {
    let bench = with_git();
    let top = bench.ctx.world.files().workspace().to_path_buf();
    git(&bench, &["init", "-q", "-b", "main"]);
    for (key, value) in [("user.name", "Ada"), ("user.email", "ada@example.org"), ("commit.gpgsign", "false")] {
        git(&bench, &["config", key, value]);
    }
    std::fs::create_dir(top.join("sub")).unwrap();
    for name in ["top.txt", "sub/a.txt"] {
        put(&bench, name, "one\n");
    }
    git(&bench, &["add", "."]);
    git(&bench, &["commit", "-q", "-m", "first"]);
    for name in ["top.txt", "sub/a.txt", "new.txt", "sub/new.txt"] {
        put(&bench, name, "two\n");
    }
    let part = bench.in_folder("sub");
    let status = text(&part, json!({"action": "status"})).await;
    assert_eq!(status, "on branch main\nnot staged:\n  M a.txt\nuntracked:\n  new.txt");
    let diff = text(&part, json!({"action": "diff"})).await;
    assert!(diff.contains("a/a.txt b/a.txt") && !diff.contains("top.txt"), "{diff}");
    assert!(!text(&part, json!({"action": "show"})).await.contains("top.txt"));
    text(&part, json!({"action": "add", "all": true})).await;
    assert_eq!(git(&bench, &["diff", "--cached", "--name-only"]), "sub/a.txt\nsub/new.txt\n");
    // What a person staged elsewhere does not go along.
    git(&bench, &["add", "top.txt"]);
    let refused = part.call("git", json!({"action": "commit", "message": "mine"})).await.unwrap_err().message;
    assert!(refused.starts_with("1 file is staged outside the workspace"), "{refused}");
    text(&part, json!({"action": "commit", "message": "mine", "all": true})).await;
    assert_eq!(git(&bench, &["show", "--name-only", "--format="]), "sub/a.txt\nsub/new.txt\n");
    assert_eq!(git(&bench, &["diff", "--cached", "--name-only"]), "top.txt\n");
    let absolute = top.join("sub/a.txt");
    let shown = text(&part, json!({"action": "show", "paths": [absolute.to_str().unwrap()]})).await;
    assert_eq!(shown, "two");
}

#[tokio::test]
async fn content_comes_only_with_the_name_of_its_file() {
    let bench = repository();
    put(&bench, ".env", "KEY=secret\n");
    git(&bench, &["add", "-f", ".env"]);
    git(&bench, &["commit", "-q", "-m", "oops"]);
    let blob = git(&bench, &["rev-parse", "HEAD:.env"]);
    let other = git(&bench, &["rev-parse", "HEAD:a.txt"]);
    for arguments in [
        json!({"action": "show", "rev": blob.trim()}),
        json!({"action": "diff", "rev": format!("{}..{}", other.trim(), blob.trim())}),
        json!({"action": "show"}),
        json!({"action": "diff", "rev": "HEAD~1"}),
        json!({"action": "diff", "rev": "HEAD~1..HEAD"}),
    ] {
        let shown =
            bench.call("git", arguments.clone()).await.map_or_else(|error| error.message, |output| output.model);
        assert!(!shown.contains("secret"), "{arguments}: {shown}");
    }
}

#[tokio::test]
async fn what_rules_close_is_left_out() {
    let bench = repository().closing("Read(secrets/**)");
    std::fs::create_dir(bench.ctx.world.files().workspace().join("secrets")).unwrap();
    put(&bench, "secrets/plan.txt", "hush\n");
    put(&bench, "a.txt", "2\n");
    git(&bench, &["add", "."]);
    let diff = text(&bench, json!({"action": "diff", "staged": true})).await;
    assert!(diff.contains("a.txt") && !diff.contains("hush"), "{diff}");
    assert!(diff.contains("(secrets/plan.txt is left out: a rule closes it to reading)"), "{diff}");
    let of_a_folder = text(&bench, json!({"action": "diff", "staged": true, "paths": ["."]})).await;
    assert!(of_a_folder.contains("a.txt") && !of_a_folder.contains("hush"), "{of_a_folder}");
}

#[tokio::test]
async fn a_command_in_which_git_may_show_what_a_rule_closes_is_asked_about() {
    let bench = repository().closing("Read(secrets/**)");
    let risk = async |line: &str| bench.plan("bash", json!({ "command": line })).await.unwrap().risk;
    std::fs::create_dir(bench.workspace().join("secrets")).unwrap();
    put(&bench, "secrets/plan.txt", "hush\n");
    assert_eq!(risk("git diff").await, Risk::Low, "nothing of it is tracked");
    git(&bench, &["add", "."]);
    for line in
        ["git diff", "git show", "git log -p", "cd a; git grep x", "sh -c 'git stash'", "git archive HEAD | cat"]
    {
        assert_eq!(risk(line).await, Risk::Critical, "{line}");
    }
    for line in ["git status", "git log --oneline", "git add -A", "git commit -m x", "make"] {
        assert_eq!(risk(line).await, Risk::Low, "{line}");
    }
    let because = bench.plan("bash", json!({ "command": "git diff" })).await.unwrap().because.unwrap();
    assert!(because.contains("secrets/plan.txt"), "{because}");
}

#[tokio::test]
async fn a_huge_output_says_that_it_is_cut_and_is_shown_in_part() {
    let bench = repository();
    put(&bench, "a.txt", &"0123456789abcdef\n".repeat(600_000));
    let output = bench.call("git", json!({"action": "diff"})).await.unwrap();
    assert!(output.model.starts_with("(at least 1 file, +"), "{}", &output.model[..60]);
    assert!(output.model.ends_with("narrow it with paths or a limit)"));
    let Some(Display::Diff { files }) = output.display else { panic!("a diff is shown as one") };
    assert!(files[0].unified.len() < 300_000);
    git(&bench, &["commit", "-q", "-a", "-m", "big"]);
    let blame = bench.call("git", json!({"action": "blame", "paths": ["a.txt"], "lines": "1-1000"})).await.unwrap();
    assert!(matches!(blame.display, Some(Display::Terminal { tail, .. }) if tail.lines().count() == 40));
}

#[tokio::test]
async fn what_only_looks_is_told_from_what_changes() {
    let bench = repository();
    for (arguments, touch, risk, command) in [
        (json!({"action": "status"}), SideEffect::Reads, Risk::Safe, Some("git status")),
        (json!({"action": "branch"}), SideEffect::Reads, Risk::Safe, Some("git branch")),
        (json!({"action": "add", "all": true}), SideEffect::Runs, Risk::Low, Some("git add --all -- .")),
        (json!({"action": "commit", "message": "a b"}), SideEffect::Runs, Risk::Medium, Some("git commit -m 'a b'")),
        (
            json!({"action": "branch", "op": "delete", "name": "x"}),
            SideEffect::Runs,
            Risk::High,
            Some("git branch --delete x"),
        ),
        (json!({"action": "add", "paths": [".env"]}), SideEffect::Runs, Risk::Critical, Some("git add -- .env")),
    ] {
        let call = bench.tool("git").prepare(arguments.clone()).unwrap();
        let plan = call.plan(&bench.ctx).await.unwrap();
        assert_eq!((call.touch(), plan.risk, plan.command.as_deref()), (touch, risk, command), "{arguments}");
    }
}

#[tokio::test]
async fn looking_runs_nothing_of_the_repositorys_own() {
    let bench = repository();
    let script = bench.ctx.world.files().workspace().join("spy.sh");
    std::fs::write(&script, "#!/bin/sh\ntouch \"$(dirname \"$0\")/spied\"\ncat \"$@\"\n").unwrap();
    std::fs::set_permissions(&script, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let spy = script.to_str().unwrap();
    for key in ["core.pager", "diff.external", "core.fsmonitor", "diff.spy.textconv", "core.editor"] {
        git(&bench, &["config", key, spy]);
    }
    for key in ["filter.spy.clean", "filter.spy.smudge", "filter.Up.process", "gpg.program", "core.sshCommand"] {
        git(&bench, &["config", key, spy]);
    }
    for (key, value) in [("filter.spy.required", "true"), ("format.pretty", "%G?"), ("log.showSignature", "true")] {
        git(&bench, &["config", key, value]);
    }
    put(&bench, ".gitattributes", "*.txt diff=spy filter=spy\n*.up filter=Up\n");
    put(&bench, "a.txt", "three\n");
    put(&bench, "b.up", "three\n");
    for action in ["status", "diff", "log", "show", "branch", "worktree"] {
        text(&bench, json!({ "action": action })).await;
    }
    text(&bench, json!({"action": "blame", "paths": ["a.txt"]})).await;
    assert!(!bench.ctx.world.files().workspace().join("spied").exists());
}
