//! Many folders in one process: neither sees what is the other's, and what is edited is taken up.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "a test may panic")]

mod edits;
mod opening;
mod servers;
mod stage;
mod starts;

use std::sync::Arc;

use neco_proto::event::CallStatus;
use serde_json::json;
use stage::{Open, Stage, call, ends};

const HOOK: &str = r#"{"hooks": {"PostToolUse": [{"matcher": "read_file", "hooks":
    [{"type": "command", "command": "echo ran >> ran"}]}]}}"#;

#[tokio::test(flavor = "multi_thread")]
async fn two_folders_in_one_process_see_nothing_of_each_other() {
    let reads = ["closed.txt", "notes.txt"].map(|path| call("read_file", &json!({ "path": path })));
    let stage = Stage::new(&json!([reads[0], reads[1], { "say": "Seen." }]));
    let notes = ("notes.txt", "first-secret-value-1 and second-secret-value-2\n");
    let closed = ("closed.txt", "x\n");
    let rule = "[[rule]]\ntool = 'read_file'\npath = 'closed.txt'\ndecision = 'deny'\n";
    let one = stage.project(
        "one",
        &[
            notes,
            closed,
            ("AGENTS.md", "Rules of one.\n"),
            (".neco/policy/p.toml", rule),
            (".claude/settings.json", HOOK),
        ],
    );
    let two = stage.project("two", &[notes, closed, ("AGENTS.md", "Rules of two.\n"), (".claude/settings.json", HOOK)]);
    let mut first = stage.open(&one, "first-secret-value-1", true).await;
    let narrow = ["sandbox.level=read_only".to_owned()];
    let mut second = stage.open_with(&two, "second-secret-value-2", false, &narrow).await;
    let (in_one, in_two) = tokio::join!(first.ask("look"), second.ask("look"));

    let (in_one, in_two) = (ends(&in_one), ends(&in_two));
    assert_ne!(in_one[0].status, CallStatus::Success, "its rule is the first one's");
    assert_eq!(in_two[0].status, CallStatus::Success);
    let (read_one, read_two) = (&in_one[1].output, &in_two[1].output);
    assert!(read_one.contains("[redacted: SERVICE_TOKEN] and second-secret-value-2"), "{read_one}");
    assert!(read_two.contains("first-secret-value-1 and [redacted: SERVICE_TOKEN]"), "{read_two}");
    assert!(one.join("ran").exists(), "the hook of a folder that is trusted runs");
    assert!(!two.join("ran").exists(), "that of the other one does not");
    let (told_one, told_two) = (first.prompt().await, second.prompt().await);
    assert!(told_one.contains("Rules of one.") && !told_one.contains("Rules of two."));
    assert!(told_two.contains("Rules of two.") && !told_two.contains("Rules of one."));
    let level = |open: &Open| open.workspace.now().loaded.config.sandbox.level;
    assert_ne!(level(&first), level(&second));
    let report = |open: &Open| open.workspace.now().sandbox.report().clone();
    assert_ne!(format!("{:?}", report(&first)), format!("{:?}", report(&second)));
    let (hides_one, hides_two) = (first.services.hub.redactor(), second.services.hub.redactor());
    let said = "first-secret-value-1 second-secret-value-2";
    let scope = neco_safety::secrets::Scope::Outside;
    assert_eq!(hides_one.redact(said, scope), "[redacted: SERVICE_TOKEN] second-secret-value-2");
    assert_eq!(hides_two.redact(said, scope), "first-secret-value-1 [redacted: SERVICE_TOKEN]");

    assert!(Arc::ptr_eq(&first.workspace, &stage.workspaces.at(&one, &[]).await.unwrap()), "a folder is made once");
    let (store, again) = (stage.workspaces.store().await.unwrap().0, stage.workspaces.store().await.unwrap().0);
    assert!(Arc::ptr_eq(&store, &again), "one store for all");
    drop((store, again));
    first.close().await;
    second.close().await;
    stage.workspaces.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_folder_is_one_by_all_its_names_and_is_let_go_of_with_its_last_user() {
    let stage = Stage::new(&json!([]));
    let one = stage.project("one", &[("x", "")]);
    std::os::unix::fs::symlink(&one, stage.path("other-name")).unwrap();
    let first = stage.workspaces.at(&one, &[]).await.unwrap();
    let same = stage.workspaces.at(&stage.path("other-name"), &[]).await.unwrap();
    assert!(Arc::ptr_eq(&first, &same));
    let gone = Arc::downgrade(&first);
    drop((first, same));
    assert_eq!(gone.strong_count(), 0);
    stage.workspaces.at(&one, &[]).await.unwrap();
}
