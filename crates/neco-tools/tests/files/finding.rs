//! list_directory, glob and grep.

use std::fs;
use std::os::unix::fs::symlink;
use std::time::{Duration, SystemTime};

use neco_proto::{Display, ErrorCode};
use serde_json::json;

use crate::desk::Desk;

fn project() -> Desk {
    let desk = Desk::new();
    desk.put(".gitignore", "target/\n*.log\n");
    desk.put("src/main.rs", "fn main() {\n    let total = 1;\n    run(total);\n}\n");
    desk.put("src/deep/run.rs", "// TOTAL\npub fn run(total: u32) {}\n\n\n\n\n// the total ends\n");
    desk.put("docs/guide.md", "total cost\r\nsubtotal\r\n");
    desk.put("target/out.rs", "total\n");
    desk.put("trace.log", "total\n");
    desk.put(".hidden/notes.md", "total\n");
    desk.put(".env", "total=1\n");
    desk.put("bin.dat", b"total\0total");
    desk
}

#[tokio::test]
async fn a_folder_is_listed_folders_first_with_a_note_of_the_rest() {
    let desk = project();
    symlink("src/main.rs", desk.workspace.join("zlink")).unwrap();
    let text = desk.text("list_directory", json!({})).await;
    assert_eq!(
        text,
        "./\ndocs/\nsrc/\nbin.dat  11 B\nzlink -> src/main.rs\n(5 hidden or ignored left out; all=true shows them, but never .git)\n"
    );
    let all = desk.text("list_directory", json!({"all": true})).await;
    assert!(all.contains(".env  8 B") && all.contains("target/") && !all.contains("left out"), "{all}");
    let page = desk.text("list_directory", json!({"all": true, "skip": 1, "limit": 2})).await;
    assert!(page.contains("(2–3 of 9 entries; go on with skip=3)"), "{page}");
    assert_eq!(desk.text("list_directory", json!({"path": "src/deep"})).await, "src/deep/\nrun.rs  57 B\n");
    let (code, _) = desk.error("list_directory", json!({"path": "src/main.rs"})).await;
    assert_eq!(code, ErrorCode::ToolFailed);
    fs::create_dir(desk.workspace.join("none")).unwrap();
    assert_eq!(desk.text("list_directory", json!({"path": "none"})).await, "none/\n(empty)\n");
}

#[tokio::test]
async fn files_are_found_by_name_newest_first() {
    let desk = project();
    for (index, path) in ["src/main.rs", "src/deep/run.rs", "docs/guide.md"].iter().enumerate() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000 + index as u64);
        fs::File::options().write(true).open(desk.workspace.join(path)).unwrap().set_modified(time).unwrap();
    }
    let find = async |arguments| desk.text("glob", arguments).await;
    assert_eq!(find(json!({"pattern": "**/*.rs"})).await, "src/deep/run.rs\nsrc/main.rs\n");
    assert_eq!(find(json!({"pattern": "*.rs"})).await, "src/deep/run.rs\nsrc/main.rs\n");
    assert_eq!(find(json!({"pattern": "src/*.rs"})).await, "src/main.rs\n");
    assert_eq!(find(json!({"pattern": "*.rs", "path": "src/deep"})).await, "src/deep/run.rs\n");
    assert_eq!(find(json!({"pattern": "target/*.rs"})).await, "target/out.rs\n", "asked for by name");
    assert_eq!(find(json!({"pattern": ".env*"})).await, ".env\n", "asked for by name");
    assert_eq!(
        find(json!({"pattern": "*.{md,rs}", "limit": 1})).await,
        "docs/guide.md\n(1 of 3 files, newest first; go on with skip=1, or narrow the pattern)"
    );
    assert_eq!(find(json!({"pattern": "*.nothing"})).await, "No file fits *.nothing.");
    let absolute = desk.workspace.join("src/*.rs");
    assert_eq!(find(json!({"pattern": absolute})).await, "src/main.rs\n");
    assert_eq!(desk.error("glob", json!({"pattern": "a[b"})).await.0, ErrorCode::InvalidArguments);
}

#[tokio::test]
async fn lines_are_found_sorted_and_grouped() {
    let desk = project();
    let grep = async |arguments| desk.text("grep", arguments).await;
    assert_eq!(
        grep(json!({"pattern": "total"})).await,
        "docs/guide.md\n1:total cost\n2:subtotal\n\nsrc/deep/run.rs\n2:pub fn run(total: u32) {}\n7:// the total ends\n\n\
         src/main.rs\n2:    let total = 1;\n3:    run(total);\n(1 binary file was not searched to the end)\n"
    );
    fs::remove_file(desk.workspace.join("bin.dat")).unwrap();
    assert_eq!(
        grep(json!({"pattern": "Total", "ignore_case": true, "path": "src/deep", "output": "count"})).await,
        "src/deep/run.rs: 3\n"
    );
    assert_eq!(
        grep(json!({"pattern": "total", "word": true, "output": "files"})).await,
        "docs/guide.md\nsrc/deep/run.rs\nsrc/main.rs\n"
    );
    assert_eq!(
        grep(json!({"pattern": "run(total", "literal": true})).await,
        "src/deep/run.rs\n2:pub fn run(total: u32) {}\n\nsrc/main.rs\n3:    run(total);\n"
    );
    assert_eq!(grep(json!({"pattern": "total$"})).await, "docs/guide.md\n2:subtotal\n", "CRLF is a line end too");
    assert_eq!(grep(json!({"pattern": "total", "type": "md", "output": "files"})).await, "docs/guide.md\n");
    assert_eq!(
        grep(json!({"pattern": "total", "glob": "!*.md", "output": "files"})).await,
        "src/deep/run.rs\nsrc/main.rs\n"
    );
    assert_eq!(
        grep(json!({"pattern": "total", "glob": "src/*.rs", "path": "src", "output": "files"})).await,
        "src/main.rs\n"
    );
    assert_eq!(
        grep(json!({"pattern": "total", "glob": "deep/**", "path": "src", "output": "files"})).await,
        "src/deep/run.rs\n"
    );
    assert_eq!(grep(json!({"pattern": "no such text"})).await, "No matches.\n");
    assert_eq!(
        grep(json!({"pattern": "total", "path": "trace.log"})).await,
        "trace.log\n1:total\n",
        "asked for by name"
    );
}

#[tokio::test]
async fn context_and_multiline() {
    let desk = project();
    let grep = async |arguments| desk.text("grep", arguments).await;
    assert_eq!(
        grep(json!({"pattern": "total", "path": "src/deep/run.rs", "context": 1})).await,
        "src/deep/run.rs\n1-// TOTAL\n2:pub fn run(total: u32) {}\n3-\n--\n6-\n7:// the total ends\n"
    );
    assert_eq!(
        grep(json!({"pattern": "total", "path": "src/deep/run.rs", "before": 1, "limit": 1, "skip": 1})).await,
        "src/deep/run.rs\n6-\n7:// the total ends\n"
    );
    assert_eq!(
        grep(json!({"pattern": "\\{\\n.*total", "multiline": true, "path": "src"})).await,
        "src/main.rs\n1:fn main() {\n2:    let total = 1;\n"
    );
    let (code, message) = desk.error("grep", json!({"pattern": "a\\nb"})).await;
    assert!(code == ErrorCode::InvalidArguments && message.contains("multiline"), "{message}");
    let (code, message) = desk.error("grep", json!({"pattern": "run("})).await;
    assert!(code == ErrorCode::InvalidArguments && message.contains("literal"), "{message}");
}

#[tokio::test]
async fn hidden_and_ignored_on_request_but_never_secrets_or_git() {
    let desk = project();
    desk.put(".git/HEAD", "ref: refs/heads/total\n");
    desk.put(".git/config", "total\n");
    let text = desk.text("grep", json!({"pattern": "total", "all": true, "output": "files"})).await;
    let expected = ".hidden/notes.md\ndocs/guide.md\nsrc/deep/run.rs\nsrc/main.rs\ntarget/out.rs\ntrace.log\n\
                    (1 sensitive file or folder was not searched; name one as path to ask for it)\n\
                    (1 binary file was not searched to the end)\n";
    assert_eq!(text, expected);
    let named = desk.text("grep", json!({"pattern": "total", "path": ".env"})).await;
    assert_eq!(named, ".env\n1:total=1\n");
    let risk = desk.plan("grep", json!({"pattern": "total", "path": ".env"})).await.unwrap().risk;
    assert_eq!(risk, neco_proto::Risk::Critical);
    let (code, _) = desk.error("grep", json!({"pattern": "total", "path": "bin.dat"})).await;
    assert_eq!(code, ErrorCode::NotATextFile);
}

#[tokio::test]
async fn results_are_capped_and_paged_the_same_way_every_time() {
    let desk = Desk::new();
    for file in 0..40 {
        let lines: String = (0..10).map(|line| format!("needle {file} {line}\n")).collect();
        desk.put(&format!("d{}/f{file:02}.txt", file % 4), lines);
    }
    let mut pages = String::new();
    for skip in (0..400).step_by(90) {
        let page = desk.text("grep", json!({"pattern": "needle", "skip": skip, "limit": 90})).await;
        let (body, note) = page.split_once("\n(").unwrap_or((&page, ""));
        if skip < 360 {
            assert_eq!(
                note,
                format!(
                    "90 of 400 matching lines in 40 files shown; go on with skip={}, or narrow the search)\n",
                    skip + 90
                )
            );
        }
        pages.push_str(body);
        pages.push('\n');
    }
    let found: Vec<&str> = pages.lines().filter(|line| line.contains("needle")).collect();
    assert_eq!(found.len(), 400);
    let whole = desk.text("grep", json!({"pattern": "needle", "limit": 1000})).await;
    let expected: Vec<&str> = whole.lines().filter(|line| line.contains("needle")).collect();
    assert_eq!(found, expected);
    let output = desk.call("grep", json!({"pattern": "needle", "output": "files", "limit": 3})).await.unwrap();
    assert_eq!(
        output.model,
        "d0/f00.txt\nd0/f04.txt\nd0/f08.txt\n(3 of 40 files shown; go on with skip=3, or narrow the search)\n"
    );
    assert!(matches!(output.display, Some(Display::List { total: 40, .. })));
}

#[tokio::test]
async fn long_lines_are_cut_around_the_match() {
    let desk = Desk::new();
    desk.put("min.js", format!("{}needle{}\n", "é".repeat(3000), "b".repeat(3000)));
    let text = desk.text("grep", json!({"pattern": "needle"})).await;
    assert!(text.contains("éneedleb") && text.contains("… [line cut, it has 9006 bytes]"), "{text}");
    assert!(text.len() < 700 && !text.contains('\u{FFFD}'), "{text}");
}

#[tokio::test]
async fn utf16_files_are_searched_too() {
    let desk = Desk::new();
    let wide: Vec<u8> = "\u{feff}eins\nneedle\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    desk.put("wide.txt", wide);
    assert_eq!(desk.text("grep", json!({"pattern": "needle"})).await, "wide.txt\n2:needle\n");
}

#[tokio::test]
async fn what_rules_close_to_reading_is_not_searched() {
    let mut desk = project();
    desk.put("secrets/a.txt", "total of secrets\n");
    desk.close("Read(secrets/**)");
    let text = desk.text("grep", json!({"pattern": "total"})).await;
    assert!(!text.contains("secrets/a.txt") && text.contains("main.rs"), "{text}");
    assert!(text.contains("(1 file or folder that a rule closes to reading was not searched)"), "{text}");
}

#[tokio::test]
async fn what_rules_close_to_reading_is_not_listed_nor_found_nor_offered() {
    let mut desk = project();
    for path in ["secrets/plan.txt", "deep/down/x.sealed", "deep/open.txt"] {
        desk.put(path, "total\n");
    }
    symlink("secrets/plan.txt", desk.workspace.join("way-in.txt")).unwrap();
    desk.close("{ tool = 'read_file', path = ['secrets', '**/*.sealed'] }");
    for (tool, arguments) in [
        ("list_directory", json!({ "all": true })),
        ("list_directory", json!({ "path": "deep/down" })),
        ("glob", json!({ "pattern": "**/*" })),
        ("glob", json!({ "pattern": "deep/**" })),
        ("grep", json!({ "pattern": "total", "output": "files", "all": true })),
        ("read_file", json!({ "path": "deep" })),
    ] {
        let text = desk.text(tool, arguments.clone()).await;
        let is_left_out = ["secrets", "sealed", "way-in"].iter().all(|name| !text.contains(name));
        assert!(is_left_out, "{tool} {arguments}: {text}");
    }
    assert!(desk.text("glob", json!({ "pattern": "deep/**" })).await.contains("deep/open.txt"));
    let (_, message) = desk.error("read_file", json!({ "path": "plan.txt" })).await;
    assert!(!message.contains("secrets"), "{message}");
}
