//! Every scenario plays exactly as written. With `SCENARIO=hook` only those with that in their name.

#![allow(clippy::disallowed_methods, reason = "tests read their own files")]

use std::path::Path;

use neco_testkit::Scenario;
use neco_testkit::scenario::play;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_scenario_plays_as_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let only = std::env::var("SCENARIO").unwrap_or_default();
    paths.retain(|path| path.to_string_lossy().contains(&only));
    let mut failures = Vec::new();
    let mut played = 0;
    for path in paths.iter().filter(|path| path.extension().is_some_and(|extension| extension == "md")) {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).unwrap();
        let result = match Scenario::parse(&text) {
            Ok(scenario) => play(&scenario).await.map(drop),
            Err(error) => Err(error),
        };
        played += 1;
        if let Err(error) = result {
            println!("{name}: {error}");
            failures.push(format!("{name}: {error}"));
        }
    }
    assert!(played > 20 || !only.is_empty(), "only {played} scenarios were found");
    assert!(failures.is_empty(), "{} of {played} scenarios failed\n{}", failures.len(), failures.join("\n"));
}
