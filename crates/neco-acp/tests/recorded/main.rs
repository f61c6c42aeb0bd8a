//! Every scenario as an editor sees it: recorded logs in, messages of the protocol out. What an editor is told is what
//! happened, as it happens and when it is loaded.

#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "what a test does not expect fails it")]

mod editor;
mod program;
mod protocol;
mod told;

use std::fs;
use std::path::Path;

use neco_proto::Event;
use neco_proto::rewinds::Rewinds;

use editor::Editor;
use told::holds;

/// The recorded logs, by the names of their scenarios.
fn logs() -> Vec<(String, Vec<Event>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/view/logs");
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: std::path::PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        (name, text.lines().map(|line| serde_json::from_str(line).unwrap()).collect())
    };
    paths.into_iter().map(read).collect()
}

#[tokio::test]
async fn an_editor_that_follows_a_scenario_is_told_what_happens() {
    for (name, events) in logs() {
        let mut editor = Editor::of(&name, events.clone()).await;
        let session = editor.new_session().await;
        let updates = editor.follow(&session).await;
        holds(&name, &events, &updates);
        editor.leave().await;
    }
}

#[tokio::test]
async fn an_editor_that_loads_a_scenario_is_told_what_counts() {
    for (name, events) in logs() {
        let mut rewinds = Rewinds::default();
        events.iter().for_each(|event| rewinds.note(event));
        let counting = rewinds.effective(events.last().unwrap().seq);
        let counts: Vec<Event> = events.iter().filter(|event| counting.counts(event.seq)).cloned().collect();
        let mut editor = Editor::of(&name, events).await;
        let updates = editor.load().await;
        holds(&name, &counts, &updates);
        editor.leave().await;
    }
}
