//! write_file.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

use neco_proto::{ErrorCode, Risk};
use serde_json::json;

use crate::desk::{Desk, no_leftovers, unified};

#[tokio::test]
async fn a_new_file_is_created_with_its_folders_and_known() {
    let desk = Desk::new();
    let arguments = json!({"path": "a/b/c.txt", "content": "one\ntwo\n"});
    let plan = desk.plan("write_file", arguments.clone()).await.unwrap();
    assert!(plan.diff[0].created && plan.diff[0].added == 2);
    assert!(!desk.workspace.join("a").exists(), "a plan changes nothing");
    let output = desk.call("write_file", arguments).await.unwrap();
    assert_eq!(output.model, "Created a/b/c.txt: 2 lines, 8 bytes.");
    assert_eq!(unified(&output), "@@ -0,0 +1,2 @@\n+one\n+two\n");
    assert_eq!(desk.bytes("a/b/c.txt"), b"one\ntwo\n");
    let again = desk.text("write_file", json!({"path": "a/b/c.txt", "content": "new\n"})).await;
    assert_eq!(again, "Overwrote a/b/c.txt: 1 line, 4 bytes.", "what the agent wrote it need not read");
    no_leftovers(&desk.workspace.join("a/b"));
}

#[tokio::test]
async fn a_text_that_the_file_has_already_is_not_written_and_needs_no_question() {
    let desk = Desk::new();
    let path = desk.put("a.txt", "one\r\ntwo\r\n");
    desk.read("a.txt").await;
    let before = fs::metadata(&path).unwrap().modified().unwrap();
    let same = json!({"path": "a.txt", "content": "one\ntwo\n"});
    let plan = desk.plan("write_file", same.clone()).await.unwrap();
    assert!(plan.risk == Risk::Safe && plan.diff.is_empty(), "{plan:?}");
    let told = desk.text("write_file", same).await;
    assert_eq!(told, "a.txt holds exactly this already: unchanged, nothing was written.");
    assert_eq!(fs::metadata(&path).unwrap().modified().unwrap(), before);
    let other = json!({"path": "a.txt", "content": "one\n"});
    let plan = desk.plan("write_file", other).await.unwrap();
    assert!(plan.risk == Risk::Medium && plan.diff.len() == 1, "{plan:?}");
}

#[tokio::test]
async fn an_existing_file_must_have_been_read_and_be_unchanged() {
    let desk = Desk::new();
    let path = desk.put("a.txt", "mine\n");
    let write = json!({"path": "a.txt", "content": "theirs\n"});
    let (code, message) = desk.error("write_file", write.clone()).await;
    assert!(code == ErrorCode::ToolFailed && message.contains("read it first"), "{message}");
    desk.read("a.txt").await;
    fs::write(&path, "someone else\n").unwrap();
    let (code, message) = desk.error("write_file", write.clone()).await;
    assert!(code == ErrorCode::FileChanged && message.contains("read it again"), "{message}");
    assert_eq!(desk.bytes("a.txt"), b"someone else\n");
    desk.read("a.txt").await;
    // A new time stamp on the same content is no change.
    fs::write(&path, "someone else\n").unwrap();
    desk.text("write_file", write).await;
    assert_eq!(desk.bytes("a.txt"), b"theirs\n");
    desk.put("empty.txt", "");
    desk.text("write_file", json!({"path": "empty.txt", "content": "x"})).await;
}

#[tokio::test]
async fn the_check_is_made_again_after_the_approval() {
    let desk = Desk::new();
    let path = desk.put("a.txt", "mine\n");
    desk.read("a.txt").await;
    for (tool, arguments) in [
        ("write_file", json!({"path": "a.txt", "content": "new\n"})),
        ("edit_file", json!({"path": "a.txt", "old_string": "mine", "new_string": "new"})),
    ] {
        let call = desk.tool(tool).prepare(arguments).unwrap();
        call.plan(&desk.ctx).await.unwrap();
        fs::write(&path, "mine, changed while a person thought\n").unwrap();
        let error = call.run(desk.ctx.clone()).await.unwrap_err();
        assert_eq!(error.code, ErrorCode::FileChanged);
        fs::write(&path, "mine\n").unwrap();
    }
    let call = desk.tool("write_file").prepare(json!({"path": "new.txt", "content": "x"})).unwrap();
    call.plan(&desk.ctx).await.unwrap();
    desk.put("new.txt", "someone made it first");
    let error = call.run(desk.ctx.clone()).await.unwrap_err();
    assert!(error.code == ErrorCode::FileChanged && error.message.contains("was made by someone else"), "{error}");
    assert_eq!(desk.bytes("new.txt"), b"someone made it first");
}

#[tokio::test]
async fn what_a_file_is_besides_its_text_stays() {
    let desk = Desk::new();
    let path = desk.put("script.sh", "\u{feff}one\r\ntwo\r\n");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o750)).unwrap();
    symlink("script.sh", desk.workspace.join("link.sh")).unwrap();
    desk.read("link.sh").await;
    let output = desk.call("write_file", json!({"path": "link.sh", "content": "one\n2\n"})).await.unwrap();
    assert_eq!(desk.bytes("script.sh"), "\u{feff}one\r\n2\r\n".as_bytes());
    assert_eq!(unified(&output), "@@ -1,2 +1,2 @@\n one\n-two\n+2\n");
    assert!(output.model.contains("script.sh"), "{}", output.model);
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o750);
    assert!(fs::symlink_metadata(desk.workspace.join("link.sh")).unwrap().is_symlink());

    let utf16: Vec<u8> = "\u{feff}ab\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    desk.put("wide.txt", &utf16);
    desk.read("wide.txt").await;
    desk.text("write_file", json!({"path": "wide.txt", "content": "ä\n"})).await;
    let expected: Vec<u8> = "\u{feff}ä\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(desk.bytes("wide.txt"), expected);
}

#[tokio::test]
async fn binaries_and_folders_are_not_overwritten() {
    let desk = Desk::new();
    desk.put("image.png", b"\x89PNG\r\n\x1a\n\0");
    let (code, message) = desk.error("write_file", json!({"path": "image.png", "content": "x"})).await;
    assert!(code == ErrorCode::NotATextFile && message.contains("PNG"), "{message}");
    desk.put("folder/file", "x");
    let (code, message) = desk.error("write_file", json!({"path": "folder", "content": "x"})).await;
    assert!(code == ErrorCode::ToolFailed && message.contains("folder"), "{message}");
    let (_, message) = desk.error("write_file", json!({"path": "folder/file/x", "content": "x"})).await;
    assert!(message.contains("should be a folder"), "{message}");
}

#[tokio::test]
async fn a_marker_that_the_model_was_shown_broken_is_written_whole() {
    let desk = Desk::new();
    desk.text("write_file", json!({"path": "chat.jinja", "content": "<¦|im_start|>user [¦INST] a ¦ b <¦ c"})).await;
    assert_eq!(String::from_utf8(desk.bytes("chat.jinja")).unwrap(), "<|im_start|>user [INST] a ¦ b <¦ c");
    desk.put("notes.md", "`<¦|im_start|>` is how it is shown\n");
    desk.read("notes.md").await;
    desk.text("write_file", json!({"path": "notes.md", "content": "shown as `<¦|im_start|>`\n"})).await;
    assert_eq!(String::from_utf8(desk.bytes("notes.md")).unwrap(), "shown as `<¦|im_start|>`\n");
    let found = desk.text("grep", json!({"pattern": "<¦\\|im_start\\|>", "path": "chat.jinja"})).await;
    assert!(found.contains("<|im_start|>user"), "{found}");
    let edit = json!({"path": "chat.jinja", "old_string": "<¦|im_start|>", "new_string": "<|im_start|>"});
    let (code, message) = desk.error("edit_file", edit).await;
    assert!(code == ErrorCode::InvalidArguments && message.contains("nothing to change"), "{message}");
}

#[tokio::test]
async fn only_a_mark_of_a_redaction_is_refused() {
    let desk = Desk::new();
    desk.text("write_file", json!({"path": "log.js", "content": "log('[redacted: email]', '[redacted: {}]')\n"})).await;
    let (code, message) =
        desk.error("write_file", json!({"path": "keys", "content": "key = [redacted: GitHub token]\n"})).await;
    assert!(code == ErrorCode::InvalidArguments && message.contains("stands for a secret"), "{message}");
}

#[tokio::test]
async fn the_mark_of_what_was_taken_out_to_make_room_is_no_text() {
    let desk = Desk::new();
    let mark = neco_toolkit::taken_out::mark("a line\n");
    desk.put("a.txt", "one\ntwo\n");
    desk.read("a.txt").await;
    let patch = format!("*** Begin Patch\n*** Add File: c.txt\n+{mark}\n*** End Patch");
    let hunk = format!("*** Begin Patch\n*** Update File: a.txt\n@@\n-two\n+{mark}\n*** End Patch");
    for (tool, arguments) in [
        ("write_file", json!({"path": "b.txt", "content": mark})),
        ("write_file", json!({"path": "a.txt", "content": format!("{mark}\n")})),
        ("edit_file", json!({"path": "a.txt", "old_string": "two", "new_string": mark})),
        ("edit_file", json!({"path": "a.txt", "old_string": mark, "new_string": "three"})),
        ("apply_patch", json!({"patch": mark})),
        ("apply_patch", json!({"patch": patch})),
        ("apply_patch", json!({"patch": hunk})),
    ] {
        let (code, message) = desk.error(tool, arguments).await;
        assert!(code == ErrorCode::InvalidArguments && message.contains("Write the text itself in full"), "{message}");
    }
    assert_eq!(String::from_utf8(desk.bytes("a.txt")).unwrap(), "one\ntwo\n");
    desk.text("write_file", json!({"path": "b.txt", "content": format!("it says {mark} there\n")})).await;
    desk.put("quoted.txt", format!("{mark}\nmore\n"));
    desk.read("quoted.txt").await;
    desk.text("edit_file", json!({"path": "quoted.txt", "old_string": mark, "new_string": "less"})).await;
}

#[tokio::test]
async fn advice_names_no_tool_that_may_not_be_there() {
    let desk = Desk::new();
    let names: Vec<String> = desk.tools().map(|tool| tool.name().to_owned()).collect();
    for (tool, arguments) in [
        ("read_file", json!({"path": "nothing/like/it"})),
        ("edit_file", json!({"path": "nothing/like/it", "old_string": "a", "new_string": "b"})),
        ("write_file", json!({"path": "keys", "content": "[redacted: GitHub token]"})),
    ] {
        let (_, message) = desk.error(tool, arguments).await;
        assert!(!names.iter().any(|name| message.contains(name.as_str())), "{message}");
    }
}
