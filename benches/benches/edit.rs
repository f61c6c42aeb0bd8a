//! Finding the text of an edit, through the tool: the look at the change, nothing is written.
#![allow(clippy::unwrap_used, reason = "without its file a benchmark has nothing to go on with")]

#[path = "../../fixtures/edits/corpus.rs"]
#[allow(clippy::string_slice, reason = "the corpus is written by hand and in ASCII")]
mod corpus;

use std::fs;

use divan::Bencher;
use divan::counter::ItemsCount;
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
    runtime.block_on(toolbox.call("read_file", json!({ "path": "big.rs" }))).unwrap();
    let arguments = json!({ "path": "big.rs", "old_string": old(reading), "new_string": "changed();\n" });
    let found = runtime.block_on(toolbox.plan("edit_file", arguments.clone())).is_ok();
    assert_eq!(found, reading != "nowhere", "{reading}");
    bencher.bench(|| runtime.block_on(toolbox.plan("edit_file", arguments.clone())).is_ok());
}

/// Every edit of the corpus in every kind of drift, as many as `cargo nextest run -p neco-tools measured` counts.
#[divan::bench(sample_count = 20, sample_size = 1)]
fn as_models_write_them(bencher: Bencher<'_, '_>) {
    let runtime = Runtime::new().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let toolbox = Toolbox::new(folder.path()).unwrap();
    let mut edits = Vec::new();
    for (number, case) in corpus::cases().into_iter().enumerate() {
        let path = format!("{number}-{}", case.file.replace('/', "-"));
        fs::write(folder.path().join(&path), &case.content).unwrap();
        runtime.block_on(toolbox.call("read_file", json!({ "path": path }))).unwrap();
        let arguments = json!({ "path": path, "old_string": case.old, "new_string": case.new });
        let found = runtime.block_on(toolbox.plan("edit_file", arguments.clone())).is_ok();
        assert_eq!(found, case.expected.is_some(), "{}: {path}", case.kind);
        edits.push(arguments);
    }
    bencher.counter(ItemsCount::new(edits.len())).bench(|| {
        let plan =
            |arguments: &serde_json::Value| runtime.block_on(toolbox.plan("edit_file", arguments.clone())).is_ok();
        edits.iter().filter(|arguments| plan(arguments)).count()
    });
}
