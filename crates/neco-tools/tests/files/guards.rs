//! What is done is what was judged, and hostile files do no harm.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, Instant};

use neco_proto::{ErrorCode, Risk};
use serde_json::{Value, json};

use crate::desk::Desk;

fn swap(desk: &Desk, link: &str, target: &str) {
    let link = desk.workspace.join(link);
    let _ = fs::remove_file(&link);
    symlink(desk.workspace.join(target), link).unwrap();
}

/// Every tool that takes a path refuses one that leads elsewhere by the time it runs.
#[tokio::test]
async fn a_path_that_leads_elsewhere_after_it_was_judged_is_refused() {
    let desk = Desk::new();
    desk.put("safe/pre-commit", "harmless\n");
    desk.put(".git/hooks/pre-commit", "harmless\n");
    for path in ["safe/pre-commit", ".git/hooks/pre-commit"] {
        desk.read(path).await;
    }
    let calls: [(&str, Value); 6] = [
        ("read_file", json!({"path": "way/pre-commit"})),
        ("write_file", json!({"path": "way/pre-commit", "content": "evil\n"})),
        ("edit_file", json!({"path": "way/pre-commit", "old_string": "harmless", "new_string": "evil"})),
        ("list_directory", json!({"path": "way"})),
        ("glob", json!({"pattern": "way/*"})),
        ("grep", json!({"pattern": "harmless", "path": "way"})),
    ];
    for (tool, arguments) in calls {
        swap(&desk, "way", "safe");
        let call = desk.tool(tool).prepare(arguments).unwrap();
        let plan = call.plan(&desk.ctx).await.unwrap();
        assert!(plan.risk < Risk::Critical && plan.because.is_none(), "{tool}");
        swap(&desk, "way", ".git/hooks");
        let error = call.run(desk.ctx.clone()).await.unwrap_err();
        assert!(error.message.contains("nothing was done"), "{tool}: {}", error.message);
    }
    assert_eq!(desk.bytes(".git/hooks/pre-commit"), b"harmless\n");
    // What was never judged is not done either.
    let call = desk.tool("write_file").prepare(json!({"path": "new", "content": ""})).unwrap();
    assert!(call.run(desk.ctx.clone()).await.is_err());
    assert!(!desk.workspace.join("new").exists());
}

/// Git takes a folder with `HEAD`, `objects` and `refs` for a repository and runs what its `config` says.
#[tokio::test]
async fn no_folder_becomes_a_repository_without_a_question() {
    let desk = Desk::new();
    let risk = async |tool: &str, input: Value| desk.plan(tool, input).await.unwrap().risk;
    let write = |path: &str| json!({"path": path, "content": "x"});
    for path in ["HEAD", "sub/HEAD"] {
        assert_eq!(risk("write_file", write(path)).await, Risk::Critical, "{path}");
    }
    let all = "*** Begin Patch\n*** Add File: config\n+x\n*** Add File: objects/a\n+x\n*** Add File: refs/a\n+x\n\
        *** Add File: HEAD\n+ref: refs/heads/main\n*** End Patch\n";
    assert_eq!(risk("apply_patch", json!({ "patch": all })).await, Risk::Critical);
    assert_eq!(risk("write_file", write("config")).await, Risk::Medium);
    desk.put("HEAD", "ref: refs/heads/main\n");
    for path in ["config", "refs/a", "objects/a", "hooks/post-checkout", "commondir"] {
        assert_eq!(risk("write_file", write(path)).await, Risk::Critical, "{path}");
    }
    assert_eq!(risk("write_file", write("src/config")).await, Risk::Medium);
}

#[tokio::test]
async fn everything_of_git_is_critical_to_write_and_the_reason_is_told() {
    let desk = Desk::new();
    desk.put(".git/HEAD", "ref: refs/heads/main\n");
    for path in [".git/commondir", "sub/.git", "sub/.GIT/gitdir", ".git/HEAD"] {
        desk.plan("read_file", json!({"path": ".git/HEAD"})).await.unwrap();
        desk.read(".git/HEAD").await;
        let plan = desk.plan("write_file", json!({"path": path, "content": "x"})).await.unwrap();
        assert_eq!((plan.risk, plan.because.as_deref()), (Risk::Critical, Some("it decides what git runs")), "{path}");
    }
    let plan = desk.plan("read_file", json!({"path": ".git/HEAD"})).await.unwrap();
    assert_eq!((plan.risk, plan.because), (Risk::Safe, None));
    desk.put(".env", "KEY=1\n");
    let plan = desk.plan("read_file", json!({"path": ".env"})).await.unwrap();
    assert_eq!((plan.risk, plan.because.as_deref()), (Risk::Critical, Some("it may hold secrets")));
}

/// What runs without being called is asked about, what instructs or runs elsewhere is told, ordinary code is neither;
/// and all of it may be read.
#[tokio::test]
async fn what_acts_later_is_asked_about_or_told() {
    let desk = Desk::new();
    let write = |path: &str| json!({"path": path, "content": "x"});
    for (path, because) in [
        (".husky/pre-commit", "it runs when git is used"),
        (".devcontainer/devcontainer.json", "it decides what an editor runs"),
        (".gitmodules", "it decides where git looks"),
        ("sub/.ripgreprc", "it decides what another program runs"),
        (".neco/rules.md", "it decides what an agent may do"),
        (".claude/agents/x.md", "it decides what an agent may do"),
    ] {
        let plan = desk.plan("write_file", write(path)).await.unwrap();
        assert_eq!((plan.risk, plan.because.as_deref()), (Risk::Critical, Some(because)), "{path}");
        let patch = format!("*** Begin Patch\n*** Add File: {path}\n+x\n*** End Patch");
        assert_eq!(desk.plan("apply_patch", json!({ "patch": patch })).await.unwrap().risk, Risk::Critical, "{path}");
        desk.put(path, "x\n");
        assert_eq!(desk.plan("read_file", json!({ "path": path })).await.unwrap().risk, Risk::Safe, "{path}");
    }
    for (path, told) in [("AGENTS.md", 1), (".github/workflows/ci.yml", 1), ("Makefile", 0), ("package.json", 0)] {
        let call = desk.tool("write_file").prepare(write(path)).unwrap();
        assert_eq!(call.plan(&desk.ctx).await.unwrap().risk, Risk::Medium, "{path}");
        let acting = call.run(desk.ctx.clone()).await.unwrap().acting;
        assert_eq!(acting.len(), told, "{path}");
        assert!(acting.iter().all(|file| file.path == path), "{path}");
    }
}

#[tokio::test]
async fn ignore_files_that_are_no_files_do_not_hold_a_search() {
    let desk = Desk::new();
    desk.put("src/a.rs", "needle\n");
    symlink("/dev/zero", desk.workspace.join(".ignore")).unwrap();
    let pipe = desk.workspace.join("src/.gitignore");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let start = Instant::now();
    assert_eq!(desk.text("grep", json!({"pattern": "needle"})).await, "src/a.rs\n1:needle\n");
    assert_eq!(desk.text("glob", json!({"pattern": "*.rs"})).await, "src/a.rs\n");
    assert!(desk.text("list_directory", json!({"path": "src"})).await.contains("a.rs"));
    assert!(start.elapsed() < Duration::from_secs(20));
}

#[tokio::test]
async fn a_failed_reading_is_no_reading_and_a_part_is_not_the_whole() {
    let desk = Desk::new();
    desk.put("a.txt", "1\n2\n3\n4\n5\n6\n");
    desk.error("read_file", json!({"path": "a.txt", "pages": "x"})).await;
    let write = json!({"path": "a.txt", "content": "new\n"});
    assert!(desk.error("write_file", write.clone()).await.1.contains("was not read earlier"));
    desk.text("read_file", json!({"path": "a.txt", "limit": 2})).await;
    assert!(desk.error("write_file", write.clone()).await.1.contains("only a part"));
    desk.text("read_file", json!({"path": "a.txt", "offset": 5})).await;
    assert!(desk.error("write_file", write.clone()).await.1.contains("only a part"));
    desk.text("edit_file", json!({"path": "a.txt", "old_string": "1", "new_string": "one"})).await;
    assert!(desk.error("write_file", write.clone()).await.1.contains("only a part"), "an edit shows no more of it");
    desk.text("read_file", json!({"path": "a.txt", "offset": -4})).await;
    desk.text("read_file", json!({"path": "a.txt", "limit": 2})).await;
    desk.text("edit_file", json!({"path": "a.txt", "old_string": "2", "new_string": "two"})).await;
    desk.text("write_file", write).await;
    assert_eq!(desk.bytes("a.txt"), b"new\n");
}

#[tokio::test]
async fn what_one_process_knew_of_files_the_next_one_knows() {
    let mut desk = Desk::new();
    desk.put("read.txt", "1\n2\n");
    desk.put("part.txt", "1\n2\n3\n");
    desk.put("other.txt", "mine\n");
    let mut known = Vec::new();
    for (tool, arguments) in [
        ("read_file", json!({"path": "read.txt"})),
        ("read_file", json!({"path": "part.txt", "limit": 2})),
        ("read_file", json!({"path": "other.txt"})),
        ("write_file", json!({"path": "new.txt", "content": "a\n"})),
        ("edit_file", json!({"path": "new.txt", "old_string": "a", "new_string": "b"})),
        ("apply_patch", json!({"patch": "--- a/read.txt\n+++ b/read.txt\n@@ -1,2 +1,2 @@\n-1\n+one\n 2\n"})),
    ] {
        known.extend(desk.call(tool, arguments).await.unwrap().known);
    }
    assert_eq!(known.len(), 6);
    // What was told last holds, as in a log.
    let last: BTreeMap<_, _> = known.into_iter().map(|file| (file.path.clone(), file)).collect();
    desk.put("other.txt", "theirs\n");
    desk.begin_again(&last.into_values().collect::<Vec<_>>());
    for path in ["read.txt", "new.txt"] {
        desk.text("write_file", json!({"path": path, "content": "whole\n"})).await;
    }
    let whole = json!({"path": "part.txt", "content": "whole\n"});
    assert!(desk.error("write_file", whole.clone()).await.1.contains("only a part"));
    desk.text("read_file", json!({"path": "part.txt", "offset": 3})).await;
    desk.text("write_file", whole).await;
    let (code, _) = desk.error("write_file", json!({"path": "other.txt", "content": "whole\n"})).await;
    assert_eq!(code, ErrorCode::FileChanged, "it was changed meanwhile");
}

#[tokio::test]
async fn what_comes_before_a_zero_byte_is_found() {
    let desk = Desk::new();
    desk.put("mixed.dat", b"first needle\nsecond\0needle\n");
    desk.put("plain.txt", "needle\n");
    let text = desk.text("grep", json!({"pattern": "needle"})).await;
    assert!(text.contains("mixed.dat\n1:first needle\n") && text.contains("plain.txt\n1:needle\n"), "{text}");
    assert!(text.contains("(1 binary file was not searched to the end)"), "{text}");
    let one = desk.text("grep", json!({"pattern": "needle", "path": "mixed.dat"})).await;
    assert!(one.contains("1:first needle") && one.contains("binary"), "{one}");
    let (code, _) = desk.error("grep", json!({"pattern": "absent", "path": "mixed.dat"})).await;
    assert_eq!(code, ErrorCode::NotATextFile);
}

#[tokio::test]
async fn a_file_too_big_to_be_searched_across_lines_is_named_in_a_note() {
    let desk = Desk::new();
    let file = fs::File::create(desk.workspace.join("big.txt")).unwrap();
    std::io::Write::write_all(&mut &file, b"one\ntwo\n").unwrap();
    file.set_len(17 * 1024 * 1024).unwrap();
    desk.put("small.txt", "one\ntwo\n");
    let text = desk.text("grep", json!({"pattern": "one\\ntwo", "multiline": true, "output": "files"})).await;
    assert!(text.starts_with("small.txt\n") && text.contains("(1 file of more than 16 MB"), "{text}");
}

#[tokio::test]
async fn another_name_of_a_file_outside_is_not_written() {
    let desk = Desk::new();
    let path = desk.put("a.txt", "shared\n");
    let outside = desk.outside.join("twin");
    fs::hard_link(&path, &outside).unwrap();
    desk.read("a.txt").await;
    let words = desk.text("edit_file", json!({"path": "a.txt", "old_string": "shared", "new_string": "own"})).await;
    assert!(words.contains("1 other name (hard links)"), "{words}");
    assert_eq!((desk.bytes("a.txt"), fs::read(outside).unwrap()), (b"own\n".to_vec(), b"shared\n".to_vec()));
    let words = desk.text("write_file", json!({"path": "a.txt", "content": "again\n"})).await;
    assert!(!words.contains("other name"), "{words}");
}

#[tokio::test]
async fn a_long_line_is_edited_soon_and_a_cancelled_edit_changes_nothing() {
    let desk = Desk::new();
    let line = "{\"key\":\"value\"},".repeat(50_000);
    desk.put("data.json", &line);
    desk.read("data.json").await;
    let start = Instant::now();
    let edit = json!({"path": "data.json", "old_string": "key", "new_string": "k\n", "replace_all": true});
    let words = desk.text("edit_file", edit.clone()).await;
    assert!(words.starts_with("Edited data.json in 50000 places."));
    assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    let call = desk
        .tool("edit_file")
        .prepare(json!({"path": "data.json", "old_string": "k", "new_string": "z", "replace_all": true}))
        .unwrap();
    call.plan(&desk.ctx).await.unwrap();
    let before = desk.bytes("data.json");
    desk.ctx.cancel.cancel();
    assert!(call.run(desk.ctx.clone()).await.unwrap_err().message.contains("cancelled"));
    assert_eq!(desk.bytes("data.json"), before);
}
