//! Placeholders for left-out text are not written, and ordinary code is.

use std::path::Path;

use neco_proto::ErrorCode;
use serde_json::json;

use crate::desk::Desk;

const CODE: &str = "def a():\n    one()\n    two()\n\n\ndef b():\n    pass\n";

#[tokio::test]
async fn no_tool_writes_a_placeholder() {
    for line in
        ["    # ... rest of the code remains unchanged ...", "    # ... existing code ...", "    # ...", "    # …"]
    {
        let desk = Desk::new();
        desk.put("a.py", CODE);
        desk.read("a.py").await;
        let whole = format!("def a():\n{line}\n\n\ndef b():\n    return 1\n");
        let patch = format!("*** Begin Patch\n*** Update File: a.py\n-    one()\n-    two()\n+{line}\n*** End Patch\n");
        for (tool, arguments) in [
            ("write_file", json!({"path": "a.py", "content": whole})),
            ("edit_file", json!({"path": "a.py", "old_string": "    one()\n    two()", "new_string": line})),
            ("apply_patch", json!({ "patch": patch })),
        ] {
            let (code, message) = desk.error(tool, arguments).await;
            assert!(
                code == ErrorCode::InvalidArguments && message.contains("Give the whole text"),
                "{tool}: {message}"
            );
            assert_eq!(desk.bytes("a.py"), CODE.as_bytes());
        }
    }
    let desk = Desk::new();
    let (code, _) =
        desk.error("write_file", json!({"path": "new.js", "content": "a();\n// ... existing code ...\n"})).await;
    assert_eq!(code, ErrorCode::InvalidArguments);
}

#[tokio::test]
async fn a_placeholder_that_is_there_already_may_stay() {
    let desk = Desk::new();
    desk.put("a.js", "a();\n// ... existing code ...\nb();\n");
    desk.read("a.js").await;
    let edit = json!({"path": "a.js", "old_string": "// ... existing code ...\nb();", "new_string": "// ... existing code ...\nc();"});
    desk.text("edit_file", edit).await;
    desk.text("write_file", json!({"path": "a.js", "content": "// ... existing code ...\n"})).await;
}

/// The sources of this repository are ordinary code, but for those that are about placeholders.
#[tokio::test]
async fn ordinary_code_is_written() {
    let desk = Desk::new();
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let (mut files, mut refused) = (0, Vec::new());
    for entry in ignore::WalkBuilder::new(crates).build().flatten() {
        let is_source =
            entry.path().extension().is_some_and(|ending| ["rs", "toml", "md", "txt"].iter().any(|e| ending == *e));
        let Some(content) = std::fs::read_to_string(entry.path()).ok().filter(|_| is_source) else { continue };
        let name = entry.file_name().to_string_lossy().into_owned();
        files += 1;
        let plan = desk.plan("write_file", json!({"path": format!("{files}-{name}"), "content": content})).await;
        // Some are about secrets, whose marks are refused too.
        if plan.is_err_and(|error| error.message.contains("that you left out")) {
            refused.push(name);
        }
    }
    println!("{files} files, {} refused: {refused:?}", refused.len());
    refused.retain(|name| !["placeholder.rs", "left_out.rs"].contains(&name.as_str()));
    assert!(files > 500 && refused.is_empty(), "{files} files, refused: {refused:?}");
}
