//! What models write that is not quite what a tool asks for, but can only be meant in one way.

use neco_proto::{ErrorCode, Risk};
use serde_json::{Value, json};

use crate::desk::Desk;

async fn edited(content: &str, arguments: Value) -> (String, String) {
    let desk = Desk::new();
    desk.put("a.rs", content);
    desk.read("a.rs").await;
    let mut all = json!({"path": "a.rs"});
    all.as_object_mut().unwrap().extend(arguments.as_object().unwrap().clone());
    let said = desk.text("edit_file", all).await;
    (String::from_utf8(desk.bytes("a.rs")).unwrap(), said)
}

#[tokio::test]
async fn edits_find_their_place_in_other_clothes_and_say_so() {
    let content = "fn a() {\n    if b {\n        c();\n    }\n}\n";
    let changed = "fn a() {\n    if b {\n        d();\n    }\n}\n";
    for (old, new) in [
        ("```rust\n        c();\n```", "```rust\n        d();\n```"),
        ("<<<<<<< SEARCH\n        c();\n=======\n", "        d();\n>>>>>>> REPLACE"),
        ("<<<<<<< SEARCH\n        c();\n=======\n        d();\n>>>>>>> REPLACE", ""),
        ("\n\n        c();\n\n", "\n\n        d();\n\n"),
        ("  if b {\n    c();\n  }", "  if b {\n    d();\n  }"),
        ("\tif b {\n\t\tc();\n\t}", "\tif b {\n\t\td();\n\t}"),
        ("        c();", "```\n        d();\n```"),
        ("        c();\n    }\n", "        d();\r\n    }\r\n"),
    ] {
        let (after, said) = edited(content, json!({"old_string": old, "new_string": new})).await;
        assert_eq!(after, changed, "{old:?}");
        assert!(said.starts_with("Edited a.rs."), "{said}");
    }
    let (after, _) = edited("a\r\nb\r\n", json!({"old_string": "b", "new_string": "c\nd"})).await;
    assert_eq!(after, "a\r\nc\r\nd\r\n");
    let (after, _) = edited("a\nb\n", json!({"edits": "[{\"old_string\": \"b\", \"new_string\": \"c\"}]"})).await;
    assert_eq!(after, "a\nc\n", "a list as text");
    let (after, _) = edited("a\nb\n", json!({"edits": {"old_string": "b", "new_string": "c"}, "why": "x"})).await;
    assert_eq!(after, "a\nc\n", "one item instead of a list");
}

#[tokio::test]
async fn marks_around_the_new_text_go_only_where_they_can_be_no_text_and_that_is_said() {
    let block = "<<<<<<< SEARCH\na\n=======\nb\n>>>>>>> REPLACE\n";
    let two = format!("{block}and\n{block}");
    let (after, said) = edited("one\nPLACE\n", json!({"old_string": "PLACE\n", "new_string": two})).await;
    assert_eq!(after, format!("one\n{two}"));
    assert!(!said.contains("marks"), "{said}");
    let arguments = json!({"old_string": "one\ntwo", "new_string": "1\n>>>>>>> REPLACE"});
    let (after, said) = edited("one  \ntwo\n", arguments).await;
    assert_eq!(after, "1\n");
    assert!(said.contains("without the marks of a search-and-replace block"), "{said}");
}

#[tokio::test]
async fn an_edit_that_changes_only_line_endings_is_told() {
    let desk = Desk::new();
    desk.put("a.txt", "a\nb\n");
    desk.read("a.txt").await;
    let (code, message) =
        desk.error("edit_file", json!({"path": "a.txt", "old_string": "a\nb", "new_string": "a\r\nb"})).await;
    assert!(code == ErrorCode::InvalidArguments && message.contains("line endings"), "{message}");
}

#[tokio::test]
async fn patches_are_read_with_padded_and_wrapped_headings() {
    for patch in [
        "  *** Begin Patch\n  *** Update File: a.txt\n  @@\n   one\n  -two\n  +2\n  *** End Patch\n",
        " *** Begin Patch\n *** Update File: a.txt\n@@\n one\n-two\n+2\n *** End Patch",
        "*** Begin Patch\n  *** Update File: a.txt  \n@@\n one\n-two\n+2\n*** End Patch   ",
        "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n *** End Patch",
        "*** begin patch ***\n***Update File:a.txt\n@@\n one\n-two\n+2\n*** end patch ***",
        "```patch\n*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n*** End Patch\n```",
        "```\n*** Update File: a.txt\n@@\n one\n-two\n+2\n```",
        "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+2\n*** End Patch\nEOF",
        "apply_patch <<'EOF'\n *** Update File: a.txt\n@@\n one\n-two\n+2\nEOF\n",
        "*** Begin Patch\n*** Update File: \"a.txt\"\n@@\n one\n-two\n+2\n*** End Patch",
        "```diff\n  --- a/a.txt\n  +++ b/a.txt\n  @@ -1,2 +1,2 @@\n   one\n  -two\n  +2\n```",
    ] {
        let desk = Desk::new();
        desk.put("a.txt", "one\ntwo\n");
        desk.text("apply_patch", json!({ "patch": patch })).await;
        assert_eq!(desk.bytes("a.txt"), b"one\n2\n", "{patch}");
    }
    let desk = Desk::new();
    desk.put("a.txt", "one\n");
    desk.put("b.txt", "two\n");
    let both =
        "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+1\n *** Update File: b.txt\n@@\n-two\n+2\n*** End Patch";
    desk.text("apply_patch", json!({ "patch": both })).await;
    assert_eq!((desk.bytes("a.txt"), desk.bytes("b.txt")), (b"1\n".to_vec(), b"2\n".to_vec()));
}

#[tokio::test]
async fn a_line_of_a_file_that_looks_like_a_heading_is_one_of_the_file() {
    let desk = Desk::new();
    desk.put("doc.txt", "*** Begin Patch\n*** Update File: a.py\n@@\n*** End Patch\nend\n");
    let patch = "*** Begin Patch\n*** Update File: doc.txt\n@@\n *** Update File: a.py\n @@\n *** End Patch\n-end\n+the end\n*** End Patch\n";
    desk.text("apply_patch", json!({ "patch": patch })).await;
    assert_eq!(desk.bytes("doc.txt"), b"*** Begin Patch\n*** Update File: a.py\n@@\n*** End Patch\nthe end\n");
}

#[tokio::test]
async fn reading_takes_what_can_only_be_meant_in_one_way() {
    let desk = Desk::new();
    desk.put("src/a.txt", "one\ntwo\nthree\n");
    for arguments in [
        json!({"path": "src/a.txt", "offset": "2", "limit": "1"}),
        json!({"path": "\"src/a.txt\"", "offset": 2.0, "limit": 1}),
        json!({"path": "src/a.txt/", "offset": 2, "limit": 1, "reason": "to look"}),
        json!({"path": ["src/a.txt"], "offset": 2, "limit": 1}),
    ] {
        assert!(desk.text("read_file", arguments.clone()).await.contains("2\ttwo\n"), "{arguments}");
    }
    let all = desk.text("read_file", json!({"path": "src/a.txt", "offset": 0, "limit": 0})).await;
    assert!(all.contains("1\tone") && all.contains("3\tthree"), "{all}");
    let past = desk.text("read_file", json!({"path": "src/a.txt", "offset": 900, "limit": 2})).await;
    assert!(past.contains("2\ttwo\n3\tthree") && past.contains("line 900 is past the end: there are 3"), "{past}");
    let whole = desk.workspace.display().to_string();
    for (tool, arguments) in [
        ("list_directory", json!({"path": ""})),
        ("glob", json!({"pattern": "**/*.txt", "path": ""})),
        ("glob", json!({"pattern": format!("{whole}/src/*.txt")})),
        ("grep", json!({"pattern": "two", "path": ""})),
        ("grep", json!({"pattern": "two", "glob": format!("{whole}/src/*.txt")})),
        ("grep", json!({"pattern": "two", "output": "Files", "ignore_case": "true", "type": ""})),
    ] {
        assert!(desk.text(tool, arguments.clone()).await.contains("src"), "{tool} {arguments}");
    }
}

#[tokio::test]
async fn a_field_that_would_make_a_write_another_is_not_passed_over() {
    let desk = Desk::new();
    desk.put("a.txt", "kept\n");
    desk.read("a.txt").await;
    for (name, value) in [
        ("append", json!(true)),
        ("append", json!(false)),
        ("mode", json!("append")),
        ("overwrite", json!(false)),
        ("create_only", json!(true)),
        ("backup", json!(true)),
        ("encoding", json!("latin1")),
    ] {
        let mut arguments = json!({"path": "a.txt", "content": "x"});
        arguments.as_object_mut().unwrap().insert(name.to_owned(), value);
        let (code, message) = desk.error("write_file", arguments).await;
        assert!(code == ErrorCode::InvalidArguments && message.contains(name), "{message}");
        assert_eq!(desk.bytes("a.txt"), b"kept\n");
    }
    desk.text("write_file", json!({"path": "a.txt", "content": "x", "description": "a file"})).await;
    assert_eq!(desk.bytes("a.txt"), b"x");
}

#[tokio::test]
async fn the_fields_that_other_agents_have_are_understood() {
    let arguments = json!({"instruction": "it", "old_string": "b", "new_string": "c", "expected_replacements": 1});
    let (after, _) = edited("a\nb\n", arguments).await;
    assert_eq!(after, "a\nc\n");
    let (after, _) = edited("a\nb\n", json!({"edits": "[{\"oldString\": \"b\", \"newString\": \"c\"}]"})).await;
    assert_eq!(after, "a\nc\n", "their names in a list as text");
    let desk = Desk::new();
    desk.text("write_file", json!({"file_path": "b.txt", "contents": "One\ntwo\nthree\n"})).await;
    assert_eq!(desk.bytes("b.txt"), b"One\ntwo\nthree\n");
    let lines = desk.text("read_file", json!({"target_file": "b.txt", "start_line": 2, "end_line": 3})).await;
    assert!(lines.contains("two") && lines.contains("three") && !lines.contains("One"), "{lines}");
    for arguments in [
        json!({"query": "ONE", "case_insensitive": true}),
        json!({"pattern": "ONE", "-i": true, "-n": true, "output_mode": "content", "head_limit": 5}),
        json!({"pattern": "ONE", "case_sensitive": false, "include_pattern": "*.txt"}),
    ] {
        let found = desk.text("grep", arguments.clone()).await;
        assert!(found.contains("One"), "{arguments}: {found}");
    }
    let files = desk.text("grep", json!({"pattern": "two", "output_mode": "files_with_matches"})).await;
    assert!(files.contains("b.txt") && !files.contains("two"), "{files}");
    let found = desk.text("glob", json!({"glob_pattern": "*.txt", "target_directory": "."})).await;
    assert!(found.contains("b.txt"), "{found}");
}

#[tokio::test]
async fn a_file_is_deleted_as_a_patch_would_delete_it() {
    let desk = Desk::new();
    desk.put("a.txt", "a\n");
    desk.read("a.txt").await;
    let said = desk.text("delete_file", json!({"target_file": "a.txt"})).await;
    assert!(said.contains("Deleted a.txt"), "{said}");
    assert_eq!(desk.error("delete_file", json!({"path": "a.txt"})).await.0, ErrorCode::FileNotFound);
    let two = json!({"path": "b\n*** Delete File: c"});
    assert_eq!(desk.error("delete_file", two).await.0, ErrorCode::InvalidArguments);
    desk.put("b.txt", "b\n");
    let plan = desk.plan("delete_file", json!({"path": "b.txt"})).await;
    assert!(plan.is_ok_and(|plan| plan.risk == Risk::High), "a deletion is no plain edit");
    assert!(!desk.tool("delete_file").is_offered());
}
