//! edit_file.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

use neco_proto::ErrorCode;
use serde_json::{Value, json};

use crate::desk::{Desk, unified};

fn edit(old: &str, new: &str) -> Value {
    json!({"path": "a.rs", "old_string": old, "new_string": new})
}

async fn desk_with(content: impl AsRef<[u8]>) -> Desk {
    let desk = Desk::new();
    desk.put("a.rs", content);
    desk.read("a.rs").await;
    desk
}

#[tokio::test]
async fn the_text_is_replaced_and_the_place_is_shown() {
    let content: String = (1..=20).map(|n| format!("line {n}\n")).collect();
    let desk = desk_with(&content).await;
    let plan = desk.plan("edit_file", edit("line 10\n", "ten\nand more\n")).await.unwrap();
    assert_eq!((plan.diff[0].added, plan.diff[0].removed), (2, 1));
    assert_eq!(desk.bytes("a.rs"), content.as_bytes(), "a plan changes nothing");
    let output = desk.call("edit_file", edit("line 10\n", "ten\nand more\n")).await.unwrap();
    let expected =
        "Edited a.rs.\n7\tline 7\n8\tline 8\n9\tline 9\n10\tten\n11\tand more\n12\tline 11\n13\tline 12\n14\tline 13\n";
    assert_eq!(output.model, expected);
    assert!(unified(&output).starts_with("@@ -7,7 +7,8 @@"));
    assert_eq!(desk.bytes("a.rs"), content.replace("line 10\n", "ten\nand more\n").as_bytes());
}

#[tokio::test]
async fn it_must_have_been_read() {
    let desk = Desk::new();
    let path = desk.put("a.rs", "x\n");
    let (code, message) = desk.error("edit_file", edit("x", "y")).await;
    assert!(code == ErrorCode::ToolFailed && message.contains("read it first"), "{message}");
    desk.read("a.rs").await;
    fs::write(path, "x changed\n").unwrap();
    assert_eq!(desk.error("edit_file", edit("x", "y")).await.0, ErrorCode::FileChanged);
    desk.read("a.rs").await;
    desk.text("edit_file", edit("x", "y")).await;
    desk.text("edit_file", edit("y", "z")).await;
    assert_eq!(desk.bytes("a.rs"), b"z changed\n");
}

#[tokio::test]
async fn ambiguous_and_missing_texts_are_explained() {
    let desk = desk_with("let a = 1;\nlet b = 2;\nlet a = 1;\nfn total(list: &[u32]) -> u32 {\n").await;
    let (code, message) = desk.error("edit_file", edit("let a = 1;", "x")).await;
    assert_eq!(code, ErrorCode::EditTextNotUnique);
    assert!(message.contains("fits 2 places in a.rs, at lines 1, 3;"), "{message}");
    let (code, message) = desk.error("edit_file", edit("fn total(list: &[u64]) -> u64 {", "x")).await;
    assert_eq!(code, ErrorCode::EditTextNotFound);
    assert!(message.contains("The closest is line 4:\n4\tfn total(list: &[u32]) -> u32 {"), "{message}");
    assert!(message.contains("The first difference is in line 4"), "{message}");
    let (code, message) = desk.error("edit_file", json!({"path": "aa.rs", "old_string": "x", "new_string": "y"})).await;
    assert!(code == ErrorCode::FileNotFound && message.contains("a.rs"), "{message}");
    let all = json!({"path": "a.rs", "old_string": "let a = 1;", "new_string": "gone", "replace_all": true});
    assert!(desk.text("edit_file", all).await.starts_with("Edited a.rs in 2 places."));
    assert_eq!(desk.bytes("a.rs"), b"gone\nlet b = 2;\ngone\nfn total(list: &[u32]) -> u32 {\n");
}

#[tokio::test]
async fn a_looser_fit_is_said() {
    let desk = desk_with("mod a {\n    fn b() {\n        c();\n    }\n}\n").await;
    let text = desk.text("edit_file", edit("fn b() {\n    c();\n}", "fn b() {\n    d();\n}")).await;
    assert!(text.contains("another indentation"), "{text}");
    assert_eq!(desk.bytes("a.rs"), b"mod a {\n    fn b() {\n        d();\n    }\n}\n");
}

#[tokio::test]
async fn several_edits_are_all_or_nothing() {
    let desk = desk_with("one\ntwo\nthree\n").await;
    let edits = |second: &str| {
        json!({"path": "a.rs", "edits": [
            {"old_string": "one", "new_string": "1"},
            {"old_string": second, "new_string": "2"},
            {"old_string": "1\n2", "new_string": "1 and 2"},
        ]})
    };
    let (code, message) = desk.error("edit_file", edits("missing text")).await;
    assert_eq!(code, ErrorCode::EditTextNotFound);
    assert!(message.starts_with("edit 2 of 3: ") && message.contains("nothing was changed"), "{message}");
    assert_eq!(desk.bytes("a.rs"), b"one\ntwo\nthree\n");
    let text = desk.text("edit_file", edits("two")).await;
    assert!(text.starts_with("Edited a.rs in 3 places."), "{text}");
    assert_eq!(desk.bytes("a.rs"), b"1 and 2\nthree\n");
    let filled = json!({"path": "a.rs", "old_string": "", "new_string": "", "replace_all": false,
        "edits": [{"old_string": "three", "new_string": "3", "replace_all": null}]});
    desk.text("edit_file", filled).await;
    assert_eq!(desk.bytes("a.rs"), b"1 and 2\n3\n");
}

#[tokio::test]
async fn wrong_arguments_are_named() {
    let desk = desk_with("x\n").await;
    for (arguments, words) in [
        (edit("x", "x"), "the same"),
        (edit("", "new"), "only for a missing or empty file"),
        (json!({"path": "a.rs"}), "give old_string and new_string, or edits"),
        (json!({"path": "a.rs", "old_string": "x"}), "new_string is missing"),
        (
            json!({"path": "a.rs", "old_string": "x", "new_string": "y", "edits": [{"old_string": "x", "new_string": "z"}]}),
            "not both",
        ),
        (json!({"path": "a.rs", "edits": [{"old_string": "x"}]}), "new_string"),
        (json!({"path": "a.rs", "old": "x"}), "old"),
    ] {
        let (code, message) = desk.error("edit_file", arguments.clone()).await;
        assert!(code == ErrorCode::InvalidArguments && message.contains(words), "{arguments}: {message}");
    }
}

#[tokio::test]
async fn an_empty_old_string_fills_a_missing_or_empty_file() {
    let desk = Desk::new();
    let text = desk.text("edit_file", json!({"path": "new/a.txt", "old_string": "", "new_string": "hello\n"})).await;
    assert_eq!(text, "Created new/a.txt.\n1\thello\n");
    desk.put("empty", "");
    desk.text("edit_file", json!({"path": "empty", "old_string": "", "new_string": "x"})).await;
    assert_eq!(desk.bytes("empty"), b"x");
}

#[tokio::test]
async fn encodings_modes_and_line_endings_survive() {
    let wide = |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_be_bytes).collect() };
    let cases: Vec<(Vec<u8>, Vec<u8>)> = vec![
        (b"one\r\ntwo\r\n".to_vec(), b"one\r\n2\r\nzwei\r\n".to_vec()),
        ("\u{feff}two\n".into(), "\u{feff}2\nzwei\n".into()),
        (wide("\u{feff}one\r\ntwo\r\n"), wide("\u{feff}one\r\n2\r\nzwei\r\n")),
        (b"\xc4\xe3\xba\xc3\ntwo\n".to_vec(), b"\xc4\xe3\xba\xc3\n2\nzwei\n".to_vec()),
    ];
    for (before, after) in cases {
        let desk = desk_with(&before).await;
        let path = desk.workspace.join("a.rs");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o751)).unwrap();
        desk.text("edit_file", edit("two", "2\nzwei")).await;
        assert_eq!(desk.bytes("a.rs"), after);
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o751);
    }
    let desk = desk_with(b"\xc4\xe3\ntwo\n").await;
    let text = desk.text("edit_file", edit("two", "zwölf")).await;
    assert!(text.contains("mixes encodings"), "{text}");
    let damaged = desk_with([b"\xff\xfe".to_vec(), b"a\0b\0c".to_vec()].concat()).await;
    assert_eq!(damaged.error("edit_file", edit("a", "x")).await.0, ErrorCode::NotATextFile);
}
