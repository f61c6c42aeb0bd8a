//! Every scenario played by an editor: its person speaks the Agent Client Protocol, and what happens is what happens in
//! process. The editor is the official client library where that is there, and every message is held against the
//! official schema where that is. With `SCENARIO=hook` only those with that in their name.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests read their own files, say what they skip, and stop at the first thing that is wrong"
)]

mod door;
mod library;
mod person;
#[path = "../../../neco-acp/tests/recorded/protocol.rs"]
mod protocol;
#[path = "../../../neco-acp/tests/recorded/told.rs"]
mod told;

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use neco_proto::rewinds::Rewinds;
use neco_proto::{Client, Event};
use neco_testkit::Scenario;
use neco_testkit::scenario::play_through;

use person::Person;

/// A case that is not met in process either: `acceptance.rs` says why.
const UNMET: &str = "ac-11";

/// In how many parts they are played: all of them take a while.
const PARTS: usize = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_first_scenario_of_four_plays_in_an_editor_as_written() {
    play_part(0).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_second_scenario_of_four_plays_in_an_editor_as_written() {
    play_part(1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_third_scenario_of_four_plays_in_an_editor_as_written() {
    play_part(2).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_fourth_scenario_of_four_plays_in_an_editor_as_written() {
    play_part(3).await;
}

/// The scenarios of a part, by name.
fn scenarios(part: usize) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let folders = [folder.join("acceptance"), folder];
    let entries = folders.iter().flat_map(|folder| std::fs::read_dir(folder).unwrap());
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.retain(|path| path.file_stem().is_none_or(|name| name != UNMET));
    paths.sort();
    paths.into_iter().skip(part).step_by(PARTS).collect()
}

async fn play_part(part: usize) {
    let only = std::env::var("SCENARIO").unwrap_or_default();
    let (mut failures, mut played, mut by_editor) = (Vec::new(), 0, 0);
    for path in scenarios(part).into_iter().filter(|path| path.to_string_lossy().contains(&only)) {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        played += 1;
        match in_an_editor(&name, &std::fs::read_to_string(path).unwrap()).await {
            Ok(acts) => by_editor += acts,
            Err(error) => {
                eprintln!("{name}: {error}");
                failures.push(format!("{name}: {error}"));
            }
        }
    }
    assert!(played > 20 && by_editor > played || !only.is_empty(), "{by_editor} acts of {played} scenarios");
    assert!(failures.is_empty(), "{} of {played} scenarios failed\n{}", failures.len(), failures.join("\n"));
}

/// Plays a scenario; how much its person did by way of the editor.
async fn in_an_editor(name: &str, text: &str) -> Result<usize, String> {
    let scenario = Scenario::parse(text)?;
    let editor: OnceLock<Arc<Person>> = OnceLock::new();
    let played = play_through(&scenario, async |_, session| {
        let person = Arc::new(Person::of(session).await);
        let _ = editor.set(Arc::clone(&person));
        Ok(person as Arc<dyn Client>)
    });
    let events = played.await?;
    let Some(person) = editor.get() else { return Err("the editor was never opened".to_owned()) };
    person.has_heard(events.last().map_or(0, |event| event.seq)).await;
    let (counting, updates) = (counting(&events), person.updates());
    let held = std::panic::catch_unwind(|| told::holds(name, &counting, &updates));
    held.map_err(|_| "the editor was told something else".to_owned())?;
    Ok(person.leave().await)
}

/// What happened and was not taken back later: an editor was told of the rest, too, but in another order.
fn counting(events: &[Event]) -> Vec<Event> {
    let mut rewinds = Rewinds::default();
    events.iter().for_each(|event| rewinds.note(event));
    let Some(last) = events.last() else { return Vec::new() };
    let counting = rewinds.effective(last.seq);
    events.iter().filter(|event| counting.counts(event.seq)).cloned().collect()
}
