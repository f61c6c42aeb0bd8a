//! apply_patch.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use neco_proto::{Display, ErrorCode, Risk};
use serde_json::json;

use crate::desk::Desk;

fn envelope(body: &str) -> serde_json::Value {
    json!({ "patch": format!("*** Begin Patch\n{body}\n*** End Patch\n") })
}

async fn apply(desk: &Desk, patch: &str) -> String {
    desk.text("apply_patch", json!({ "patch": patch })).await
}

#[tokio::test]
async fn every_kind_of_change_in_one_patch() {
    let desk = Desk::new();
    desk.put("src/a.rs", "fn one() {\n    1\n}\n\nfn two() {\n    2\n}\n");
    desk.put("old.txt", "gone\n");
    let tool = desk.put("bin/tool", "#!/bin/sh\necho old\n");
    fs::set_permissions(&tool, fs::Permissions::from_mode(0o755)).unwrap();
    let patch = "*** Update File: src/a.rs\n@@ fn two() {\n-    2\n+    22\n*** Add File: new/deep/b.txt\n+hello\n+\n\
                 *** Delete File: old.txt\n*** Update File: bin/tool\n*** Move to: bin/helper\n@@\n-echo old\n+echo new";
    let plan = desk.plan("apply_patch", envelope(patch)).await.unwrap();
    assert_eq!((plan.risk, plan.paths.len(), plan.diff.len()), (Risk::High, 5, 4));
    assert_eq!(plan.because.as_deref(), Some("it deletes 1 file"));
    assert!(plan.diff[2].deleted && !plan.diff[0].deleted);
    let output = desk.call("apply_patch", envelope(patch)).await.unwrap();
    let expected = "Updated src/a.rs (+1 −1 at line 6)\nAdded new/deep/b.txt (2 lines)\nDeleted old.txt\n\
                    Moved bin/tool to bin/helper\n";
    assert_eq!(output.model, expected);
    let Some(Display::Diff { files }) = output.display else { panic!("a diff is shown") };
    let shown: Vec<(&str, u32, u32)> =
        files.iter().map(|file| (file.path.as_str(), file.added, file.removed)).collect();
    let expected = [("src/a.rs", 1, 1), ("new/deep/b.txt", 2, 0), ("old.txt", 0, 1), ("bin/tool → bin/helper", 1, 1)];
    assert_eq!(shown, expected);
    assert_eq!(desk.bytes("src/a.rs"), b"fn one() {\n    1\n}\n\nfn two() {\n    22\n}\n");
    assert_eq!(desk.bytes("new/deep/b.txt"), b"hello\n\n");
    assert!(!desk.workspace.join("old.txt").exists() && !tool.exists());
    assert_eq!(desk.bytes("bin/helper"), b"#!/bin/sh\necho new\n");
    let mode = fs::metadata(desk.workspace.join("bin/helper")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o755, "what is moved keeps its permissions");
    desk.text("edit_file", json!({"path": "src/a.rs", "old_string": "22", "new_string": "3"})).await;
}

#[tokio::test]
async fn git_diffs_are_understood() {
    let desk = Desk::new();
    desk.put("src/a b.rs", "one\ntwo\nthree\nfour\n");
    desk.put("moved.txt", "x\ny\nz");
    desk.put("gone.txt", "bye\n");
    desk.put("plain.txt", "a\n");
    let patch = "From 1234 Mon Sep 17\nSubject: a change\n\n---\n src/a b.rs | 2 +-\n\n\
        diff --git a/src/a b.rs b/src/a b.rs\nindex 1..2 100644\n--- a/src/a b.rs\n+++ b/src/a b.rs\n\
        @@ -1,4 +1,4 @@\n one\n-two\n+--- 2\n three\n four\n\
        diff --git a/moved.txt b/to/here.txt\nsimilarity index 66%\nrename from moved.txt\nrename to to/here.txt\n\
        --- a/moved.txt\n+++ b/to/here.txt\n@@ -1,3 +1,3 @@\n x\n-y\n+Y\n z\n\\ No newline at end of file\n\
        diff --git a/gone.txt b/gone.txt\ndeleted file mode 100644\n--- a/gone.txt\n+++ /dev/null\n@@ -1 +0,0 @@\n-bye\n\
        diff --git a/new.sh b/new.sh\nnew file mode 100755\n--- /dev/null\n+++ b/new.sh\n@@ -0,0 +1,2 @@\n+a\n+b\n\
        \\ No newline at end of file\n--- plain.txt\t2024-01-01\n+++ plain.txt\t2024-01-02\n@@ -1 +1 @@\n-a\n+b\n-- \n2.39\n";
    let words = apply(&desk, patch).await;
    assert!(words.contains("Moved moved.txt to to/here.txt"), "{words}");
    assert!(words.contains("new.sh (2 lines); it was not made executable; use chmod +x"), "{words}");
    assert_eq!(desk.bytes("src/a b.rs"), b"one\n--- 2\nthree\nfour\n");
    assert_eq!(desk.bytes("to/here.txt"), b"x\nY\nz");
    assert_eq!(desk.bytes("new.sh"), b"a\nb");
    assert_eq!(desk.bytes("plain.txt"), b"b\n");
    assert!(!desk.workspace.join("gone.txt").exists() && !desk.workspace.join("moved.txt").exists());
}

#[tokio::test]
async fn drift_is_forgiven_and_said() {
    let desk = Desk::new();
    let table = [
        // file, hunk, expected, what is said
        ("a\r\nb\r\nc\r\n", " a\n-b\n+B\n+B2\n", "a\r\nB\r\nB2\r\nc\r\n", "line endings"),
        ("if x {  \n    y()\t\n}\n", " if x {\n-    y()\n+    z()\n }\n", "if x {  \n    z()\n}\n", "line ends"),
        (
            "        if x:\n            y()\n",
            " if x:\n-    y()\n+    z()\n+    w()\n",
            "        if x:\n            z()\n            w()\n",
            "indentation",
        ),
        (
            "\tif x {\n\t\ty()\n\t}\n",
            "     if x {\n-        y()\n+        z()\n     }\n",
            "\tif x {\n\t\tz()\n\t}\n",
            "indentation",
        ),
        ("say(\"hi\")\nbye\n", "-say(\\\"hi\\\")\n+say(\\\"ho\\\")\n bye\n", "say(\"ho\")\nbye\n", "escaped"),
        ("a\nb\n", " a\n-b\n+c\n\n\n", "a\nc\n", "+1"),
        ("last", "-last\n+end\n", "end", "+1"),
    ];
    for (at, (file, hunk, expected, said)) in table.into_iter().enumerate() {
        let name = format!("f{at}");
        desk.put(&name, file);
        let words = desk.text("apply_patch", envelope(&format!("*** Update File: {name}\n@@\n{hunk}"))).await;
        assert_eq!(String::from_utf8(desk.bytes(&name)).unwrap(), expected, "{hunk:?}");
        assert!(words.contains(said), "{words}");
    }
}

#[tokio::test]
async fn hints_numbers_and_order_decide_between_places() {
    let content = "class A:\n    def f(self):\n        x = 1\n        return x\n\n    def g(self):\n        x = 1\n        return x\n\nclass B:\n    def f(self):\n        x = 1\n        return x\n";
    let one = |at: usize| {
        let mut lines: Vec<&str> = content.split_inclusive('\n').collect();
        lines[at] = "        x = 2\n";
        lines.concat()
    };
    let hunk = "-        x = 1\n+        x = 2\n         return x";
    let table = [
        (format!("@@ class A:\n@@ def f(self):\n{hunk}"), Some(2)),
        (format!("@@ def g(self):\n{hunk}"), Some(6)),
        (format!("@@ class B:\n{hunk}"), Some(11)),
        (format!("@@ -7,2 +7,2 @@\n{hunk}"), Some(6)),
        (format!("@@\n{hunk}\n*** End of File"), Some(11)),
        (format!("@@\n{hunk}"), None),
        (format!("@@ def f(self):\n{hunk}"), None),
        (format!("@@ -5,2 +5,2 @@\n{hunk}"), None),
        (format!("@@ def h(self):\n{hunk}"), None),
        ("@@ class A:\n-        x = 1\n+        x = 2\n         return x\n*** End of File".to_owned(), None),
    ];
    for (hunk, expected) in table {
        let desk = Desk::new();
        desk.put("a.py", content);
        let result = desk.call("apply_patch", envelope(&format!("*** Update File: a.py\n{hunk}"))).await;
        assert_eq!(result.is_ok(), expected.is_some(), "{hunk}: {result:?}");
        let wanted = expected.map_or_else(|| content.to_owned(), one);
        assert_eq!(String::from_utf8(desk.bytes("a.py")).unwrap(), wanted, "{hunk}");
    }
    let desk = Desk::new();
    desk.put("a.py", content);
    let both = format!("*** Update File: a.py\n@@\n{hunk}\n@@\n{hunk}\n@@\n{hunk}");
    desk.text("apply_patch", envelope(&both)).await;
    assert_eq!(String::from_utf8(desk.bytes("a.py")).unwrap(), content.replace("x = 1", "x = 2"), "three of three");
}

#[tokio::test]
async fn a_near_duplicate_elsewhere_is_not_taken_for_the_place() {
    let desk = Desk::new();
    let content = "def a():\n    open(1)\n    close(1)\n\ndef b():\n    open(2)\n    close(2)\n";
    desk.put("a.py", content);
    let patch = "*** Update File: a.py\n@@ def b():\n-    open(1)\n+    open(3)\n     close(1)";
    let (code, message) = desk.error("apply_patch", envelope(patch)).await;
    assert_eq!(code, ErrorCode::EditTextNotFound);
    assert!(message.contains("its lines are at line 2, but not below \"def b():\""), "{message}");
    assert_eq!(desk.bytes("a.py"), content.as_bytes());
}

#[tokio::test]
async fn what_does_not_fit_is_named_and_nothing_is_changed() {
    let desk = Desk::new();
    desk.put("a.txt", "alpha(1);\nbeta(2);\ngamma(3);\n");
    desk.put("b.txt", "same\nsame\n");
    desk.put("c.txt", "alpha(1);\nbeta(2);\n");
    desk.put("pic.png", b"\x89PNG\r\n\x1a\n\0");
    fs::create_dir(desk.workspace.join("dir")).unwrap();
    let good = "*** Update File: a.txt\n@@\n-beta(2);\n+beta(9);\n";
    let table = [
        (
            "*** Update File: c.txt\n@@\n-beta(22);\n+x",
            ErrorCode::EditTextNotFound,
            "The closest is line 2:\n2\tbeta(2);",
        ),
        ("*** Update File: b.txt\n@@\n-same\n+x", ErrorCode::EditTextNotUnique, "it fits 2 places, at lines 1, 2"),
        ("*** Update File: b.txt\n@@\n-old\n+same", ErrorCode::EditTextNotFound, "its lines are not in the file"),
        ("*** Update File: a.txt\n@@ beta(2);\n+x", ErrorCode::InvalidArguments, "nothing says where they belong"),
        ("*** Update File: missing.txt\n@@\n-a\n+b", ErrorCode::FileNotFound, "missing.txt does not exist"),
        ("*** Delete File: missing.txt", ErrorCode::FileNotFound, "missing.txt does not exist"),
        ("*** Delete File: dir", ErrorCode::ToolFailed, "dir is a folder"),
        ("*** Update File: pic.png\n@@\n-a\n+b", ErrorCode::NotATextFile, "a PNG image"),
        ("*** Add File: ../out.txt\n+x", ErrorCode::PathOutsideWorkspace, "outside"),
        ("*** Add File: x.txt\nno sign", ErrorCode::InvalidArguments, "line 7 of the patch"),
        ("*** Update File: b.txt\n@@\n same", ErrorCode::InvalidArguments, "changes nothing"),
    ];
    for (bad, code, words) in table {
        let (found, message) = desk.error("apply_patch", envelope(&format!("{good}{bad}"))).await;
        let code_fits = found == code || (code == ErrorCode::ToolFailed);
        assert!(code_fits && message.contains(words), "{bad}: {found:?} {message}");
        assert_eq!(desk.bytes("a.txt"), b"alpha(1);\nbeta(2);\ngamma(3);\n", "{bad}");
    }
    let (_, message) = desk.error("apply_patch", envelope(&format!("{good}@@\n-delta();\n+x"))).await;
    assert!(message.starts_with("hunk 2 of 2 of a.txt:"), "{message}");
    desk.text("apply_patch", envelope(good)).await;
    let (_, message) =
        desk.error("apply_patch", envelope("*** Update File: a.txt\n@@\n alpha(1);\n-beta(2);\n+beta(9);")).await;
    assert!(message.contains("there already, at line 1"), "{message}");
    for empty in
        ["", "*** Begin Patch\n*** End Patch", "just words", "*** Begin Patch\n*** Update File: a.txt\n*** End Patch"]
    {
        assert_eq!(
            desk.error("apply_patch", json!({ "patch": empty })).await.0,
            ErrorCode::InvalidArguments,
            "{empty}"
        );
    }
}

#[tokio::test]
async fn a_file_that_was_read_must_be_as_it_was() {
    let desk = Desk::new();
    let path = desk.put("a.txt", "one\ntwo\n");
    let patch = || envelope("*** Update File: a.txt\n@@\n-two\n+2");
    desk.read("a.txt").await;
    fs::write(&path, "zero\none\ntwo\n").unwrap();
    assert_eq!(desk.error("apply_patch", patch()).await.0, ErrorCode::FileChanged);
    desk.read("a.txt").await;
    desk.text("apply_patch", patch()).await;
    desk.text("apply_patch", envelope("*** Update File: a.txt\n@@\n-2\n+two")).await;
    assert_eq!(desk.bytes("a.txt"), b"zero\none\ntwo\n");
}

#[tokio::test]
async fn when_a_write_fails_the_others_are_put_back() {
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    desk.put("gone.txt", "x\n");
    let locked = desk.put("locked.txt", "b\n");
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o444)).unwrap();
    let patch = "*** Update File: a.txt\n@@\n-a\n+A\n*** Add File: new/b.txt\n+b\n*** Delete File: gone.txt\n\
                 *** Update File: locked.txt\n@@\n-b\n+B";
    let (_, message) = desk.error("apply_patch", envelope(patch)).await;
    assert!(message.contains("write-protected") && message.contains("put back, so nothing is changed"), "{message}");
    assert_eq!(
        (desk.bytes("a.txt"), desk.bytes("gone.txt"), desk.bytes("locked.txt")),
        (b"a\n".into(), b"x\n".into(), b"b\n".into())
    );
    assert!(!desk.workspace.join("new").exists(), "folders that were made are gone too");
    let (_, message) =
        desk.error("apply_patch", envelope("*** Delete File: locked.txt\n*** Delete File: gone.txt")).await;
    assert!(message.ends_with("nothing was changed"), "{message}");
    assert_eq!(desk.bytes("gone.txt"), b"x\n");
}

#[tokio::test]
async fn a_file_can_be_named_more_than_once() {
    let desk = Desk::new();
    desk.put("a.txt", "one\ntwo\n");
    desk.put("b.txt", "b\n");
    let patch = "*** Update File: a.txt\n@@\n-one\n+1\n*** Update File: ./a.txt\n@@\n-two\n+2\n*** Update File: a.txt\n@@\n 1\n+1.5\n\
                 *** Update File: b.txt\n*** Move to: c.txt\n*** Add File: b.txt\n+new";
    let words = desk.text("apply_patch", envelope(patch)).await;
    assert_eq!(words, "Updated a.txt (+3 −2 at lines 1–3)\nUpdated b.txt (+1 −1 at line 1)\nMoved b.txt to c.txt\n");
    assert_eq!(
        (desk.bytes("a.txt"), desk.bytes("b.txt"), desk.bytes("c.txt")),
        (b"1\n1.5\n2\n".into(), b"new\n".into(), b"b\n".into())
    );
}

#[tokio::test]
async fn the_policy_sees_every_path() {
    let desk = Desk::new();
    desk.put(".env", "KEY=1\n");
    let plan = desk.plan("apply_patch", envelope("*** Add File: a.txt\n+x\n*** Delete File: .env")).await.unwrap();
    assert_eq!((plan.risk, plan.paths.len()), (Risk::Critical, 2));
    let moved = envelope("*** Add File: a.txt\n+x\n*** Update File: a.txt\n*** Move to: .git/hooks/pre-commit");
    assert_eq!(desk.plan("apply_patch", moved).await.unwrap().risk, Risk::Critical);
}

#[tokio::test]
async fn what_nobody_read_is_not_overwritten() {
    let desk = Desk::new();
    desk.put("a.txt", "one\ntwo\n");
    desk.put("b.txt", "b\n");
    desk.put("empty.txt", "");
    for patch in ["*** Add File: a.txt\n+mine", "*** Update File: b.txt\n*** Move to: a.txt"] {
        let (_, message) = desk.error("apply_patch", envelope(patch)).await;
        assert!(message.contains("was not read earlier"), "{message}");
    }
    desk.text("read_file", json!({"path": "a.txt", "limit": 1})).await;
    let (_, message) = desk.error("apply_patch", envelope("*** Add File: a.txt\n+mine")).await;
    assert!(message.contains("only a part of it"), "{message}");
    assert_eq!(desk.bytes("a.txt"), b"one\ntwo\n");
    desk.read("a.txt").await;
    desk.text("apply_patch", envelope("*** Add File: a.txt\n+mine\n*** Add File: empty.txt\n+x")).await;
    assert_eq!((desk.bytes("a.txt"), desk.bytes("empty.txt")), (b"mine\n".into(), b"x\n".into()));
}

#[tokio::test]
async fn the_deletion_of_many_is_critical() {
    let desk = Desk::new();
    let mut patch = String::new();
    for number in 0..6 {
        desk.put(&format!("{number}.txt"), "x\n");
        patch.push_str(&format!("*** Delete File: {number}.txt\n"));
    }
    let plan = desk.plan("apply_patch", envelope(patch.trim_end())).await.unwrap();
    assert_eq!((plan.risk, plan.because.as_deref()), (Risk::Critical, Some("it deletes 6 files")));
    let moved = envelope("*** Update File: 0.txt\n*** Move to: m.txt");
    assert_eq!(desk.plan("apply_patch", moved).await.unwrap().risk, Risk::Medium, "what is moved stays");
}

#[tokio::test]
async fn the_files_of_a_patch_have_a_limit_together() {
    let desk = Desk::new();
    let mut patch = String::new();
    for number in 0..3 {
        // They take no room on the disk.
        fs::File::create(desk.workspace.join(format!("{number}.bin"))).unwrap().set_len(60 << 20).unwrap();
        patch.push_str(&format!("*** Delete File: {number}.bin\n"));
    }
    let (code, message) = desk.error("apply_patch", envelope(patch.trim_end())).await;
    assert!(code == ErrorCode::FileTooLarge && message.contains("128 MB together, up to 2.bin"), "{message}");
}

#[tokio::test]
async fn a_place_is_only_one_if_no_other_follows_however_many_there_are() {
    let desk = Desk::new();
    let block = "{\n}\n".repeat(12_000);
    desk.put("a.txt", format!("start\n{block}end\n"));
    let (code, _) = desk.error("apply_patch", envelope("*** Update File: a.txt\n@@\n-}\n+};")).await;
    assert_eq!(code, ErrorCode::EditTextNotUnique);
    // Below a line that is there once it is still one.
    let block = "x {\n}\n".repeat(2_000);
    desk.put("b.txt", format!("{block}fn last() {{\n    one\n    }}\n"));
    apply(&desk, "*** Begin Patch\n*** Update File: b.txt\n@@ fn last() {\n-    one\n+    two\n*** End Patch\n").await;
    assert!(desk.bytes("b.txt").ends_with(b"    two\n    }\n"));
    // Of 2001 places the line number that the patch gives says which.
    let hunk = "--- a/b.txt\n+++ b/b.txt\n@@ -3999,2 +3999,2 @@\n-x {\n+y {\n }\n";
    apply(&desk, hunk).await;
    assert!(String::from_utf8(desk.bytes("b.txt")).unwrap().lines().nth(3998) == Some("y {"));
}

#[tokio::test]
async fn a_copy_is_told_as_one_and_a_last_line_ends_as_the_others() {
    let desk = Desk::new();
    desk.put("a.txt", "one\n");
    let patch = "diff --git a/a.txt b/b.txt\nsimilarity index 100%\ncopy from a.txt\ncopy to b.txt\n";
    let words = apply(&desk, patch).await;
    assert!(words.contains("Copied a.txt to b.txt") && !words.contains("Moved"), "{words}");
    desk.put("w.txt", "one\r\ntwo");
    let patch = "--- a/w.txt\n+++ b/w.txt\n@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n+2\n";
    apply(&desk, patch).await;
    assert_eq!(desk.bytes("w.txt"), b"one\r\n2\r\n");
}
