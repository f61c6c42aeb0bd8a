//! Checkers of the user's own, and what goes wrong with checkers.

use std::time::{Duration, Instant};

use neco_config::section::{CheckerSection, DiagnosticsSection};
use neco_proto::ErrorCode;
use serde_json::json;

use crate::bench::{Bench, data, one_checker};

async fn refused(bench: &Bench, arguments: serde_json::Value) -> String {
    bench.call("diagnostics", arguments).await.unwrap_err().message
}

#[tokio::test]
async fn a_checker_of_the_user_is_run_and_read() {
    let pattern = r"^(?<severity>\w+)@(?<file>\S+)#(?<line>\d+) (?<message>.*)$";
    let bench = Bench::new(one_checker(
        "echo 'warn@a.txt#3 odd'; echo 'error@b/c.txt#1 bad'; echo noise; exit 3",
        Some(pattern),
    ));
    let output = bench.check(json!({})).await;
    assert!(output.model.starts_with("mine: 1 error, 1 warning ("), "{}", output.model);
    assert_eq!(data(&output), "b/c.txt:1: error: bad\na.txt:3: warning: odd");
    let plan = bench.plan("diagnostics", json!({})).await.unwrap();
    assert!(plan.command.unwrap().starts_with("echo 'warn@"));
    assert_eq!(plan.folder, Some(bench.workspace.clone()));
}

#[tokio::test]
async fn a_checker_for_some_endings_is_for_folders_that_hold_such_files() {
    let section = one_checker("echo 'x.sh:3:1: error: odd'", None);
    let checkers = section.checkers.into_iter();
    let checkers = checkers.map(|(name, one)| (name, CheckerSection { endings: vec!["sh".to_owned()], ..one }));
    let bench = Bench::new(DiagnosticsSection { checkers: checkers.collect(), ..DiagnosticsSection::default() });
    bench.put("go/notes.txt", "");
    assert!(refused(&bench, json!({ "path": "go" })).await.contains("no checker is known"));
    assert_eq!(data(&bench.check(json!({ "path": "go", "checker": "mine" })).await), "x.sh:3:1: error: odd", "by name");
    bench.put("go/deep/run.sh", "");
    assert_eq!(data(&bench.check(json!({ "path": "go" })).await), "x.sh:3:1: error: odd");
    // Where there are too many files to look at all of them, it may be meant.
    (0..5_010).for_each(|number| bench.put(&format!("many/{number}.txt"), ""));
    assert_eq!(data(&bench.check(json!({ "path": "many" })).await), "x.sh:3:1: error: odd");
}

#[tokio::test]
async fn a_built_in_checker_can_be_given_another_command_or_none() {
    let script = r#"echo '{"reason":"compiler-message","target":{},"message":{"level":"warning","message":"by clippy","spans":[]}}'"#;
    let cargo = CheckerSection { command: script.to_owned(), ..CheckerSection::default() };
    let section =
        DiagnosticsSection { checkers: [("cargo".to_owned(), cargo)].into(), ..DiagnosticsSection::default() };
    let bench = Bench::new(section.clone());
    bench.put("Cargo.toml", "");
    assert_eq!(data(&bench.check(json!({})).await), "warning: by clippy");
    let bench = Bench::new(DiagnosticsSection { off: vec!["cargo".to_owned()], ..section });
    bench.put("Cargo.toml", "");
    assert!(refused(&bench, json!({})).await.contains("no checker is known"));
}

#[tokio::test]
async fn what_is_missing_is_told_with_what_to_do() {
    let bench = Bench::new(DiagnosticsSection::default());
    let none = refused(&bench, json!({})).await;
    assert!(none.contains("Cargo.toml, tsconfig.json") && none.contains("[tools.diagnostics.checkers.NAME]"), "{none}");
    bench.put("tsconfig.json", "{}");
    if std::process::Command::new("tsc").output().is_err() {
        let missing = refused(&bench, json!({})).await;
        assert!(
            missing.contains("tsc is not installed") && missing.contains("npm install --save-dev typescript"),
            "{missing}"
        );
    }
    assert!(refused(&bench, json!({ "checker": "lint" })).await.contains("there are: cargo, tsc, eslint, ruff, go"));
    assert!(refused(&bench, json!({ "path": "nowhere" })).await.contains("there is no nowhere"));
    assert!(bench.plan("diagnostics", json!({ "path": "/etc" })).await.is_err());
}

#[tokio::test]
async fn a_pattern_that_can_t_work_is_named() {
    for (pattern, words) in [("(", "is no regular expression"), ("x", "has no group (?<message>…)")] {
        let bench = Bench::new(one_checker("true", Some(pattern)));
        let error = refused(&bench, json!({})).await;
        assert!(error.contains("tools.diagnostics.checkers.mine.pattern") && error.contains(words), "{error}");
    }
}

#[tokio::test]
async fn a_checker_that_breaks_is_told_apart_from_one_that_finds_nothing() {
    let bench = Bench::new(one_checker("echo could not load; exit 7", None));
    let output = bench.check(json!({})).await;
    assert!(output.model.starts_with("mine failed (exit code 7) and named no place"), "{}", output.model);
    assert_eq!((data(&output), output.error_code), ("could not load", Some(ErrorCode::ToolFailed)));
    let bench = Bench::new(one_checker("echo fine", None));
    let output = bench.check(json!({})).await;
    assert!(output.model.starts_with("mine: nothing found") && output.error_code.is_none(), "{}", output.model);
}

#[tokio::test]
async fn many_problems_are_cut_and_the_worst_come_first() {
    let bench = Bench::new(one_checker(
        "for i in $(seq 300); do echo \"a.c:$i: warning: w\"; done; echo 'z.c:1: error: e'",
        None,
    ));
    let output = bench.check(json!({})).await;
    assert!(data(&output).starts_with("z.c:1: error: e\n"), "{}", output.model);
    assert_eq!(data(&output).lines().count(), 100);
    assert!(
        output.model.ends_with("[201 more are not listed; mend these first, or ask about one file]"),
        "{}",
        output.model
    );
}

#[tokio::test]
async fn time_and_cancel_end_all_of_it() {
    let marker = format!("6{:07}.5", std::process::id());
    let command = format!("echo 'a.c:1: warning: w'; sleep {marker} & sleep {marker}; wait");
    let section = DiagnosticsSection { timeout: 0.3, ..one_checker(&command, None) };
    let bench = Bench::new(section);
    let started = Instant::now();
    let output = bench.check(json!({})).await;
    assert!(output.model.contains("was stopped after") && data(&output).contains("a.c:1"), "{}", output.model);
    assert_eq!(with_argument(&marker), 0);
    let bench = Bench::new(one_checker(&command, None));
    let cancel = bench.ctx.cancel.clone();
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_millis(200)).await;
        cancel.cancel();
    });
    assert!(refused(&bench, json!({})).await.contains("cancelled"));
    assert_eq!(with_argument(&marker), 0);
    assert!(started.elapsed() < Duration::from_secs(30));
}

/// How many processes have this argument.
fn with_argument(argument: &str) -> usize {
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let lines = entries.map(|entry| std::fs::read(entry.path().join("cmdline")).unwrap_or_default());
    lines.filter(|line| line.split(|byte| *byte == 0).any(|part| part == argument.as_bytes())).count()
}

#[tokio::test]
async fn checks_that_are_not_run_are_named() {
    let checker = CheckerSection {
        command: "echo ran >> ../runs".to_owned(),
        markers: vec!["mark".to_owned()],
        ..CheckerSection::default()
    };
    let section =
        DiagnosticsSection { checkers: [("mine".to_owned(), checker)].into(), ..DiagnosticsSection::default() };
    let bench = Bench::new(section);
    for folder in ["a", "b", "c", "d", "e", "f"] {
        bench.put(&format!("{folder}/mark"), "");
    }
    let output = bench.check(json!({})).await;
    let note = "[not run, as one call runs 4 checks at most: mine in e, mine in f; give path to check there]";
    assert!(output.model.contains(note), "{}", output.model);
    assert_eq!(std::fs::read_to_string(bench.workspace.join("runs")).unwrap().lines().count(), 4);
}

#[tokio::test]
async fn a_file_name_is_no_option_of_a_checker() {
    let bench = Bench::new(DiagnosticsSection::default());
    bench.put("eslint.config.js", "");
    bench.put("node_modules/.bin/eslint", "#!/bin/sh\necho \"$@\" > said\necho '[]'\n");
    let program = bench.workspace.join("node_modules/.bin/eslint");
    std::fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    bench.put("--output-file=y.js", "");
    let _ = bench.call("diagnostics", json!({ "path": "--output-file=y.js", "checker": "eslint" })).await;
    let said = std::fs::read_to_string(bench.workspace.join("said")).unwrap();
    assert!(said.trim_end().ends_with(" ./--output-file=y.js"), "{said}");
}
