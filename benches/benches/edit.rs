//! Finding the text of an edit, through the tool: the look at the change, nothing is written.
#![allow(clippy::unwrap_used, reason = "without its file a benchmark has nothing to go on with")]

use std::fs;

use divan::Bencher;
use neco_bench::toolbox::Toolbox;
use serde_json::json;
use tokio::runtime::Runtime;

const LINES: usize = 20_000;

/// How the text is written by the model, and how it stands in the file.
const READINGS: [&str; 4] = ["exact", "trailing_space", "indentation", "nowhere"];

fn main() {
    divan::main();
}

fn content() -> String {
    (0..LINES).map(|number| format!("        let value_{number} = compute({number});   \n")).collect()
}

fn old(reading: &str) -> String {
    let line = LINES * 3 / 4;
    let (a, b) = (line, line + 1);
    match reading {
        "exact" => format!("        let value_{a} = compute({a});   \n        let value_{b} = compute({b});   \n"),
        "trailing_space" => format!("        let value_{a} = compute({a});\n        let value_{b} = compute({b});\n"),
        "indentation" => format!("let value_{a} = compute({a});\nlet value_{b} = compute({b});\n"),
        _ => format!("        let value_{a} = compute({b});\n        let value_{b} = compute({a});\n"),
    }
}

#[divan::bench(args = READINGS)]
fn in_a_megabyte(bencher: Bencher<'_, '_>, reading: &str) {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("big.rs"), content()).unwrap();
    let toolbox = Toolbox::new(folder.path()).unwrap();
    runtime.block_on(toolbox.run("read_file", json!({ "path": "big.rs" }))).unwrap();
    let arguments = json!({ "path": "big.rs", "old_string": old(reading), "new_string": "changed();\n" });
    let found = runtime.block_on(toolbox.plan("edit_file", arguments.clone())).is_ok();
    assert_eq!(found, reading != "nowhere", "{reading}");
    bencher.bench(|| runtime.block_on(toolbox.plan("edit_file", arguments.clone())).is_ok());
}
