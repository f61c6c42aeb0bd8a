//! read_file.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use neco_proto::{ErrorCode, Risk};
use serde_json::json;

use crate::desk::Desk;

#[tokio::test]
async fn lines_are_numbered_and_the_rest_is_pointed_to() {
    let desk = Desk::new();
    desk.put("a.txt", "one\ntwo\nthree\nfour\n");
    assert_eq!(desk.read("a.txt").await, "1\tone\n2\ttwo\n3\tthree\n4\tfour\n(4 lines)");
    let part = desk.text("read_file", json!({"path": "a.txt", "offset": 2, "limit": 2})).await;
    assert_eq!(part, "2\ttwo\n3\tthree\n(lines 2–3 of 4; go on with offset=4)");
    let end = desk.text("read_file", json!({"path": "a.txt", "offset": 4})).await;
    assert_eq!(end, "4\tfour\n(lines 4–4 of 4, the end)");
    let last = desk.text("read_file", json!({"path": "a.txt", "offset": -2})).await;
    assert_eq!(last, "3\tthree\n4\tfour\n(lines 3–4 of 4, the end)");
    let more_than_there_is = desk.text("read_file", json!({"path": "a.txt", "offset": -20, "limit": 1})).await;
    assert_eq!(more_than_there_is, "1\tone\n(lines 1–1 of 4; go on with offset=2)");
    let past = desk.text("read_file", json!({"path": "a.txt", "offset": 9, "limit": 1})).await;
    let words = "4\tfour\n(lines 4–4 of 4, the end)\n(line 9 is past the end: there are 4; these are the last)";
    assert_eq!(past, words);
}

#[tokio::test]
async fn every_kind_of_text_is_read() {
    let desk = Desk::new();
    let utf16 = |text: &str| text.encode_utf16().collect::<Vec<u16>>();
    let le: Vec<u8> = utf16("héé\r\n別🦀\r\n").into_iter().flat_map(u16::to_le_bytes).collect();
    let be: Vec<u8> = utf16("plain\nascii\n").into_iter().flat_map(u16::to_be_bytes).collect();
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (b"".to_vec(), "(the file is empty)"),
        (b"x".to_vec(), "1\tx\n(1 line; no newline at the end)"),
        (b"a\r\nb\r\n".to_vec(), "1\ta\n2\tb\n(2 lines; CRLF line endings)"),
        (b"a\r\nb\n".to_vec(), "1\ta\n2\tb\n(2 lines; CRLF and LF line endings mixed)"),
        ("\u{feff}a\n".into(), "1\ta\n(1 line; UTF-8 with a byte order mark)"),
        ([b"\xff\xfe".to_vec(), le].concat(), "1\théé\n2\t別🦀\n(2 lines; UTF-16 LE; CRLF line endings)"),
        (be, "1\tplain\n2\tascii\n(2 lines; UTF-16 BE)"),
        (b"caf\xe9\n".to_vec(), "1\tcaf\u{FFFD}\n(1 line; bytes that are not UTF-8 are shown as \u{FFFD})"),
    ];
    for (content, expected) in cases {
        desk.put("f", &content);
        assert_eq!(desk.read("f").await, expected, "{content:?}");
    }
    let long = desk.put("f", format!("{}\nshort\n", "é".repeat(5000)));
    let text = desk.read("f").await;
    assert!(text.contains("é… [line cut, it has 10000 bytes]\n2\tshort\n(2 lines)"), "{}", &text[text.len() - 200..]);
    assert_eq!(text.lines().next().unwrap().chars().filter(|c| *c == 'é').count(), 2000);
    assert!(fs::metadata(long).unwrap().len() > 10_000);
}

#[tokio::test]
async fn what_is_no_text_says_what_it_is() {
    let desk = Desk::new();
    for (content, words) in [
        (&b"\x89PNG\r\n\x1a\n\0\0"[..], "f is a picture (image/png, 10 B) that is damaged, so it can't be shown"),
        (b"%PDF-1.7\n%", "f is a PDF document; it is damaged (failed parsing cross reference table)"),
        (b"a\0b", "f is a binary file of 3 B, not a text file"),
    ] {
        desk.put("f", content);
        assert_eq!(desk.error("read_file", json!({"path": "f"})).await, (ErrorCode::NotATextFile, words.to_owned()));
    }
    let pipe = desk.workspace.join("pipe");
    std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
    let (code, message) = desk.error("read_file", json!({"path": "pipe"})).await;
    assert!(code == ErrorCode::ToolFailed && message.contains("a pipe"), "{message}");
    let (code, message) = desk.error("grep", json!({"pattern": "x", "path": "pipe"})).await;
    assert!(code == ErrorCode::ToolFailed && message.contains("a pipe"), "{message}");
    assert!(desk.text("grep", json!({"pattern": "x"})).await.contains("No matches"));
}

#[tokio::test]
async fn a_folder_is_listed_and_a_missing_file_has_near_names() {
    let desk = Desk::new();
    desk.put("src/parser.rs", "");
    desk.put("lib/deep/widget.py", "x");
    assert!(desk.read("src").await.contains("parser.rs"), "a listing");
    let message = async |path: &str| desk.error("read_file", json!({ "path": path })).await;
    let (code, words) = message("src/praser.rs").await;
    assert_eq!(
        (code, words.as_str()),
        (ErrorCode::FileNotFound, "src/praser.rs does not exist; did you mean src/parser.rs?")
    );
    assert!(message("src/parser.ts").await.1.contains("src/parser.rs"));
    assert!(message("widget.py").await.1.contains("lib/deep/widget.py"), "the same name elsewhere");
    assert!(message("nothing/like/it").await.1.contains("look at what is in the folder"));
}

#[tokio::test]
async fn paths_outside_are_refused_before_anyone_is_asked() {
    let desk = Desk::new();
    fs::write(desk.outside.join("secret"), "secret").unwrap();
    symlink(&desk.outside, desk.workspace.join("link")).unwrap();
    let absolute = desk.outside.join("secret");
    for path in ["../outside/secret", "link/secret", absolute.to_str().unwrap(), "/etc/passwd"] {
        for (tool, arguments) in [
            ("read_file", json!({"path": path})),
            ("write_file", json!({"path": path, "content": "x"})),
            ("edit_file", json!({"path": path, "old_string": "secret", "new_string": "x"})),
            ("list_directory", json!({"path": path})),
            ("glob", json!({"pattern": "*", "path": path})),
            ("glob", json!({"pattern": format!("{path}/*")})),
            ("grep", json!({"pattern": "secret", "path": path})),
        ] {
            let error = desk.plan(tool, arguments).await.unwrap_err();
            assert_eq!(error.code, ErrorCode::PathOutsideWorkspace, "{tool} {path}: {error}");
        }
    }
    assert!(desk.text("grep", json!({"pattern": "secret"})).await.contains("No matches"), "links are not followed");
    assert_eq!(fs::read(desk.outside.join("secret")).unwrap(), b"secret");
}

#[tokio::test]
async fn sensitive_files_are_critical_and_others_safe() {
    let desk = Desk::new();
    desk.put(".env", "KEY=1");
    desk.put("a.rs", "x");
    let risk = async |path: &str| desk.plan("read_file", json!({ "path": path })).await.unwrap().risk;
    assert_eq!((risk(".env").await, risk("a.rs").await), (Risk::Critical, Risk::Safe));
    symlink(".env", desk.workspace.join("harmless.txt")).unwrap();
    assert_eq!(risk("harmless.txt").await, Risk::Critical, "judged by where it leads");
    let write = desk.plan("write_file", json!({"path": "new/.bashrc", "content": "x"})).await.unwrap();
    assert_eq!(write.risk, Risk::Critical);
    let write = desk.plan("write_file", json!({"path": "new/a.rs", "content": "x"})).await.unwrap();
    assert_eq!(write.risk, Risk::Medium);
}

#[tokio::test]
async fn output_is_bounded_by_whole_lines() {
    let desk = Desk::new();
    let line = "x".repeat(99);
    desk.put("big.txt", format!("{line}\n").repeat(1500));
    let text = desk.read("big.txt").await;
    assert!(text.len() <= 51 * 1024, "{}", text.len());
    let end = text.lines().last().unwrap();
    assert!(end.starts_with("(lines 1–") && end.contains(" of 1500; go on with offset="), "{end}");
    let next: u64 = end.rsplit('=').next().unwrap().trim_end_matches(')').parse().unwrap();
    let rest = desk.text("read_file", json!({"path": "big.txt", "offset": next, "limit": 1})).await;
    assert!(rest.starts_with(&format!("{next}\t")), "{rest}");
}

/// Two gigabytes on the disk of which almost nothing is stored: text, a hole, text.
#[tokio::test]
async fn a_giant_is_read_in_the_middle_and_at_its_end_with_flat_memory() {
    let desk = Desk::new();
    let path = desk.workspace.join("giant.log");
    let mut file = File::create(&path).unwrap();
    for n in 1..=20_000 {
        writeln!(file, "line {n} of the beginning").unwrap();
    }
    file.seek(SeekFrom::Start(2 * 1024 * 1024 * 1024)).unwrap();
    write!(file, "\nafter the hole\nthe end\n").unwrap();
    drop(file);
    let memory = resident();
    let middle = desk.text("read_file", json!({"path": "giant.log", "offset": 20_002, "limit": 1})).await;
    assert!(
        middle.starts_with("20002\tafter the hole\n(lines 20002–20002 of a file of 2.0 GB; go on with offset=20003)"),
        "{middle}"
    );
    let on = desk.text("read_file", json!({"path": "giant.log", "offset": 20_003})).await;
    assert_eq!(on, "20003\tthe end\n(lines 20003–20003 of 20003, the end)");
    let end = desk.text("read_file", json!({"path": "giant.log", "offset": -2})).await;
    assert_eq!(end, "-2\tafter the hole\n-1\tthe end\n(lines -2–-1, counted from the end of a file of 2.0 GB)");
    let start = desk.text("read_file", json!({"path": "giant.log", "limit": 1})).await;
    assert_eq!(start, "1\tline 1 of the beginning\n(lines 1–1 of a file of 2.0 GB; go on with offset=2)");
    let grown = resident().saturating_sub(memory);
    assert!(grown < 64 * 1024, "grew by {grown} KB");
    let (code, _) = desk.error("edit_file", json!({"path": "giant.log", "old_string": "a", "new_string": "b"})).await;
    assert_eq!(code, ErrorCode::FileTooLarge);
}

fn resident() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn names_that_are_no_text_are_listed_and_read() {
    let desk = Desk::new();
    fs::write(desk.workspace.join(std::ffi::OsStr::from_bytes(b"n\xffme.txt")), "inside\n").unwrap();
    let listed = desk.text("list_directory", json!({})).await;
    assert!(listed.contains("n\u{FFFD}me.txt"), "{listed}");
    assert_eq!(desk.read("n\u{FFFD}me.txt").await, "1\tinside\n(1 line)");
    assert!(desk.text("grep", json!({"pattern": "inside"})).await.contains("n\u{FFFD}me.txt\n1:inside"));
}

#[tokio::test]
async fn a_cancelled_call_ends() {
    let desk = Desk::new();
    desk.put("a", "x");
    desk.ctx.cancel.cancel();
    for (tool, arguments) in [("read_file", json!({"path": "a"})), ("grep", json!({"pattern": "x"}))] {
        let call = desk.tool(tool).prepare(arguments).unwrap();
        assert!(call.run(desk.ctx.clone()).await.unwrap_err().message.contains("cancelled"));
    }
    let call = desk.tool("write_file").prepare(json!({"path": "new", "content": "x"})).unwrap();
    assert!(call.run(desk.ctx.clone()).await.is_err());
    assert!(!desk.workspace.join("new").exists());
}

#[test]
fn summaries_say_what_is_done() {
    let desk = Desk::new();
    let cases = [
        ("read_file", json!({"path": "src/a.rs"}), "Read src/a.rs"),
        ("read_file", json!({"path": "src/a.rs", "offset": 10, "limit": 31}), "Read src/a.rs (lines 10–40)"),
        ("read_file", json!({"path": "a", "offset": -5}), "Read a (last 5 lines)"),
        ("write_file", json!({"path": "a", "content": ""}), "Write a"),
        ("edit_file", json!({"path": "src/a.rs", "old_string": "a", "new_string": "b"}), "Edit src/a.rs"),
        ("list_directory", json!({}), "List ."),
        ("glob", json!({"pattern": "*.rs", "path": "src"}), "Find *.rs in src"),
        ("grep", json!({"pattern": "foo", "path": "src"}), "Search \"foo\" in src"),
    ];
    for (tool, arguments, expected) in cases {
        assert_eq!(desk.summary(tool, arguments), expected);
    }
}

/// The first request carries every declaration, so they are kept short.
#[test]
fn declarations_are_short() {
    let desk = Desk::new();
    let mut total = 0;
    for tool in desk.tools() {
        let (words, schema) = (tool.description().len(), tool.schema().to_string().len());
        // A patch has a form of its own, which takes an example to show.
        let most = if tool.name() == "apply_patch" { 800 } else { 600 };
        assert!(words <= most, "{}: {words} bytes of description", tool.name());
        assert!(schema <= 1300, "{}: {schema} bytes of schema: {}", tool.name(), tool.schema());
        total += words + schema;
    }
    assert!(total <= 7200, "{total} bytes in all");
}
