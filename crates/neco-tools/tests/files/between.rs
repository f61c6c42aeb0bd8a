//! What happens to a file between the moment a call is looked at and the moment it runs.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use neco_proto::{ErrorCode, Risk};
use serde_json::{Value, json};

use crate::desk::{Desk, no_leftovers};

/// Something that somebody does to a file while a person thinks.
type Meanwhile = fn(&Path);

fn patch(body: &str) -> Value {
    json!({ "patch": format!("*** Begin Patch\n{body}*** End Patch\n") })
}

/// Every way to change a file that is there.
fn changes(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("write_file", json!({"path": path, "content": "new\n"})),
        ("edit_file", json!({"path": path, "old_string": "mine", "new_string": "new"})),
        ("apply_patch", patch(&format!("*** Update File: {path}\n-mine\n+new\n"))),
        ("apply_patch", patch(&format!("*** Delete File: {path}\n"))),
        ("apply_patch", patch(&format!("*** Update File: {path}\n*** Move to: moved.txt\n-mine\n+new\n"))),
    ]
}

#[tokio::test]
async fn a_file_that_became_another_is_left_alone() {
    let meanwhile: [(&str, Meanwhile); 6] = [
        ("removed", |path| fs::remove_file(path).unwrap()),
        ("changed", |path| fs::write(path, "mine, and more\n").unwrap()),
        ("permissions", |path| fs::set_permissions(path, fs::Permissions::from_mode(0o600)).unwrap()),
        ("a folder", |path| {
            fs::remove_file(path).unwrap();
            fs::create_dir(path).unwrap();
        }),
        ("a link", |path| {
            fs::remove_file(path).unwrap();
            fs::write(path.with_file_name("other.txt"), "mine\n").unwrap();
            symlink("other.txt", path).unwrap();
        }),
        ("a link to nowhere", |path| {
            fs::remove_file(path).unwrap();
            symlink("nowhere.txt", path).unwrap();
        }),
    ];
    for (what, happens) in meanwhile {
        for (tool, arguments) in changes("a.txt") {
            let desk = Desk::new();
            let path = desk.put("a.txt", "mine\n");
            fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
            desk.read("a.txt").await;
            let call = desk.tool(tool).prepare(arguments.clone()).unwrap();
            call.plan(&desk.ctx).await.unwrap();
            happens(&path);
            let error = call.run(desk.ctx.clone()).await.expect_err(what);
            assert!(!desk.workspace.join("moved.txt").exists() && !desk.workspace.join("nowhere.txt").exists());
            let now = fs::read_to_string(&path).ok();
            assert!(now.as_ref().is_none_or(|now| now.starts_with("mine")), "{what}: {tool} {arguments}: {now:?}");
            if matches!(what, "removed" | "changed" | "permissions") {
                assert_eq!(error.code, ErrorCode::FileChanged, "{what}: {tool}: {error}");
            }
            no_leftovers(&desk.workspace);
        }
    }
}

#[tokio::test]
async fn a_file_that_somebody_made_meanwhile_is_not_overwritten() {
    for (tool, arguments) in [
        ("write_file", json!({"path": "new.txt", "content": "new\n"})),
        ("edit_file", json!({"path": "new.txt", "old_string": "", "new_string": "new\n"})),
        ("apply_patch", patch("*** Add File: new.txt\n+new\n")),
        ("apply_patch", patch("*** Update File: a.txt\n*** Move to: new.txt\n-mine\n+new\n")),
    ] {
        // Also an empty one: somebody may be about to write to it.
        for content in ["somebody's\n", ""] {
            let desk = Desk::new();
            desk.put("a.txt", "mine\n");
            desk.read("a.txt").await;
            let call = desk.tool(tool).prepare(arguments.clone()).unwrap();
            call.plan(&desk.ctx).await.unwrap();
            desk.put("new.txt", content);
            let error = call.run(desk.ctx.clone()).await.unwrap_err();
            assert_eq!(error.code, ErrorCode::FileChanged, "{tool}: {error}");
            assert_eq!(desk.bytes("new.txt"), content.as_bytes(), "{tool}");
            assert_eq!(desk.bytes("a.txt"), b"mine\n", "{tool}");
        }
    }
}

#[tokio::test]
async fn a_file_that_held_the_same_and_was_removed_meanwhile_is_not_made_again() {
    let desk = Desk::new();
    let path = desk.put("a.txt", "mine\n");
    desk.read("a.txt").await;
    let call = desk.tool("write_file").prepare(json!({"path": "a.txt", "content": "mine\n"})).unwrap();
    assert_eq!(call.plan(&desk.ctx).await.unwrap().risk, Risk::Safe, "nobody is asked");
    fs::remove_file(&path).unwrap();
    let error = call.run(desk.ctx.clone()).await.unwrap_err();
    assert!(error.code == ErrorCode::FileChanged && error.message.contains("was removed"), "{error}");
    assert!(!path.exists());
}

#[tokio::test]
async fn an_unread_file_is_patched_as_it_was_shown_or_not_at_all() {
    let desk = Desk::new();
    let path = desk.put("a.txt", "one\nmine\n");
    let call = desk.tool("apply_patch").prepare(patch("*** Update File: a.txt\n-mine\n+new\n")).unwrap();
    call.plan(&desk.ctx).await.unwrap();
    fs::write(&path, "two\nmine\n").unwrap();
    let error = call.run(desk.ctx.clone()).await.unwrap_err();
    assert!(error.code == ErrorCode::FileChanged && error.message.contains("after this call was looked at"), "{error}");
    assert_eq!(desk.bytes("a.txt"), b"two\nmine\n");
}

#[tokio::test]
async fn a_patch_runs_as_it_was_read_when_it_was_planned() {
    let desk = Desk::new();
    desk.put("a.txt", "mine\n");
    // As it is written it names a file that is not there, so it is read loosely.
    let call = desk.tool("apply_patch").prepare(patch("*** Update File: a.txt ***\n-mine\n+new\n")).unwrap();
    call.plan(&desk.ctx).await.unwrap();
    desk.put("a.txt ***", "mine\n");
    call.run(desk.ctx.clone()).await.unwrap();
    assert_eq!((desk.bytes("a.txt"), desk.bytes("a.txt ***")), (b"new\n".to_vec(), b"mine\n".to_vec()));
}

#[tokio::test]
async fn the_same_content_written_again_is_no_change() {
    let desk = Desk::new();
    let path = desk.put("a.txt", "mine\n");
    desk.read("a.txt").await;
    for (tool, arguments) in changes("a.txt").into_iter().take(3) {
        let call = desk.tool(tool).prepare(arguments).unwrap();
        call.plan(&desk.ctx).await.unwrap();
        fs::write(&path, "mine\n").unwrap();
        call.run(desk.ctx.clone()).await.unwrap();
        assert_eq!(desk.bytes("a.txt"), b"new\n");
        fs::write(&path, "mine\n").unwrap();
        desk.read("a.txt").await;
    }
}
