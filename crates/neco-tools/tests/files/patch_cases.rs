//! Patches against scenarios written by others, and against any two texts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::json;
use similar::TextDiff;

use crate::desk::Desk;

/// Where data that is not part of this repository lies, if it is there.
fn outside() -> PathBuf {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/outside");
    std::env::var_os("NECO_OUTSIDE_DATA").map_or(beside, PathBuf::from)
}

fn tree(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().map(Result::unwrap) {
            if entry.file_type().unwrap().is_dir() {
                folders.push(entry.path());
            } else {
                let name = entry.path().strip_prefix(root).unwrap().to_path_buf();
                files.insert(name, fs::read(entry.path()).unwrap());
            }
        }
    }
    files
}

#[tokio::test]
async fn the_scenarios_of_others_come_out_as_they_expect() {
    let folder = outside().join("apply-patch");
    let Ok(entries) = fs::read_dir(&folder) else {
        eprintln!("skipped: {} is not there; set NECO_OUTSIDE_DATA", folder.display());
        return;
    };
    let mut played = 0;
    for scenario in entries.map(|entry| entry.unwrap().path()).filter(|path| path.join("patch.txt").is_file()) {
        let desk = Desk::new();
        for (path, content) in tree(&scenario.join("input")) {
            desk.put(path.to_str().unwrap(), content);
        }
        let patch = fs::read_to_string(scenario.join("patch.txt")).unwrap();
        let before = tree(&desk.workspace);
        // Nothing is overwritten here that was not read.
        for path in before.keys() {
            let _ = desk.call("read_file", json!({ "path": path })).await;
        }
        let result = desk.call("apply_patch", json!({ "patch": patch })).await;
        // After a failure nothing is changed, also where others leave what they did before it.
        let expected = if result.is_ok() { tree(&scenario.join("expected")) } else { before };
        assert_eq!(tree(&desk.workspace), expected, "{}: {result:?}", scenario.display());
        let fails = ["reject", "fails", "requires"].iter().any(|word| scenario.to_string_lossy().contains(word));
        assert_eq!(result.is_err(), fails, "{}: {result:?}", scenario.display());
        played += 1;
    }
    assert!(played > 0, "{} has no scenarios", folder.display());
}

fn texts() -> impl Strategy<Value = String> {
    let line = prop::sample::select(vec![
        "",
        "a",
        "b",
        "fn x() {",
        "    y",
        "}",
        "\tz",
        "    return x;  ",
        "--- a/f",
        "+++ b/f",
        "@@ -1 +1 @@",
        "別é",
        "*** End Patch",
        "-- ",
        "\\ No newline",
        "c\r",
        "+",
        "-",
        " ",
    ]);
    (prop::collection::vec(line, 0..24), any::<bool>()).prop_map(|(lines, ended)| {
        let text = lines.join("\n").trim_end_matches('\r').to_owned();
        if ended && !text.is_empty() { text + "\n" } else { text }
    })
}

/// A hunk in an envelope with so many lines around each change.
fn envelope(old: &str, new: &str, around: usize) -> String {
    let diff = TextDiff::from_lines(old, new);
    let mut patch = "*** Begin Patch\n*** Update File: f\n".to_owned();
    for group in diff.grouped_ops(around) {
        patch.push_str("@@\n");
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let sign = match change.tag() {
                similar::ChangeTag::Equal => ' ',
                similar::ChangeTag::Delete => '-',
                similar::ChangeTag::Insert => '+',
            };
            patch.push(sign);
            patch.push_str(change.value().trim_end_matches('\n'));
            patch.push('\n');
        }
    }
    patch + "*** End Patch\n"
}

fn run<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_unified_diff_of_any_two_texts_gives_the_second(old in texts(), new in texts()) {
        prop_assume!(old != new);
        let desk = Desk::new();
        desk.put("f", &old);
        let diff = TextDiff::from_lines(&old, &new);
        let patch = diff.unified_diff().context_radius(3).header("a/f", "b/f").to_string();
        let result = run(desk.call("apply_patch", json!({ "patch": patch })));
        prop_assert!(result.is_ok(), "{patch}\n{result:?}");
        prop_assert_eq!(String::from_utf8(desk.bytes("f")).unwrap(), new, "{}", patch);
    }

    #[test]
    fn an_envelope_of_any_two_texts_gives_the_second_or_says_it_is_not_unique(old in texts(), new in texts()) {
        // The envelope has no way to say that a last line has no newline.
        let (old, new) = (old.replace("\r", ""), new.replace("\r", ""));
        let ended = |text: &str| if text.is_empty() || text.ends_with('\n') { text.to_owned() } else { format!("{text}\n") };
        let (old, new) = (ended(&old), ended(&new));
        prop_assume!(old != new && !old.is_empty());
        let mut around = 3;
        loop {
            let desk = Desk::new();
            desk.put("f", &old);
            let patch = envelope(&old, &new, around);
            match run(desk.call("apply_patch", json!({ "patch": patch }))) {
                Ok(_) => {
                    prop_assert_eq!(String::from_utf8(desk.bytes("f")).unwrap(), new, "{}", patch);
                    break;
                }
                Err(error) => {
                    prop_assert_eq!(desk.bytes("f"), old.as_bytes(), "a refusal changes nothing");
                    prop_assert!(error.message.contains("it fits") && around < 100, "{}\n{}", patch, error);
                    around = around * 2 + 4;
                }
            }
        }
    }

    #[test]
    fn a_refused_patch_changes_nothing(old in texts(), other in texts(), new in texts()) {
        let desk = Desk::new();
        desk.put("f", &old);
        desk.put("g", "g\n");
        let diff = TextDiff::from_lines(&other, &new);
        let patch = diff.unified_diff().context_radius(2).header("a/f", "b/f").to_string();
        let patch = format!("--- a/g\n+++ b/g\n@@ -1 +1 @@\n-g\n+G\n{patch}");
        let before = tree(&desk.workspace);
        if run(desk.call("apply_patch", json!({ "patch": patch }))).is_err() {
            prop_assert_eq!(tree(&desk.workspace), before);
        }
    }
}
