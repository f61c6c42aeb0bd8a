//! Every scenario plays exactly as written, and has a recorded log, which the tests of whatever shows sessions are
//! held to. With `SCENARIO=hook` only those with that in their name; with `RECORD_LOGS=1` logs are written anew.

#![allow(clippy::disallowed_methods, reason = "tests read their own files")]

use std::path::Path;

use neco_testkit::Scenario;
use neco_testkit::scenario::{play, recorded};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_scenario_plays_as_written() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let logs = root.join("fixtures/view/logs");
    let folder = root.join("scenarios");
    let records = std::env::var_os("RECORD_LOGS").is_some();
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let only = std::env::var("SCENARIO").unwrap_or_default();
    paths.retain(|path| path.to_string_lossy().contains(&only));
    let mut failures = Vec::new();
    let mut played = 0;
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "md")) {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).unwrap();
        let log = logs.join(&name).with_extension("jsonl");
        let result = match Scenario::parse(&text) {
            Ok(scenario) => play(&scenario).await,
            Err(error) => Err(error),
        };
        let result = result.and_then(|events| match records {
            true => std::fs::write(&log, recorded(&events)).map_err(|error| error.to_string()),
            false if log.exists() => Ok(()),
            false => Err(format!("no log was recorded of it: run this test with SCENARIO={name} RECORD_LOGS=1")),
        });
        played += 1;
        if let Err(error) = result {
            println!("{name}: {error}");
            failures.push(format!("{name}: {error}"));
        }
    }
    assert!(played > 20 || !only.is_empty(), "only {played} scenarios were found");
    assert!(failures.is_empty(), "{} of {played} scenarios failed\n{}", failures.len(), failures.join("\n"));
}
