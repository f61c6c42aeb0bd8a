//! How often the guard against loops speaks up in sessions that were recorded: a false alarm costs more than a loop.
//!
//! `NECO_RECORDED_SESSIONS` names a folder of logs as `neco session export --format jsonl` writes them, of real work;
//! sessions of other agents can be imported first. That test runs with `--ignored`; without it only the logs of the
//! scenarios are played.

#![allow(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "tests stop at the first thing that is wrong, and print figures"
)]

use std::path::{Path, PathBuf};
use std::sync::Arc;

use neco_agent::guards::{Guards, Scene};
use neco_config::Config;
use neco_config::section::GuardsSection;
use neco_model::History;
use neco_proto::{Event, Mode};
use neco_session::Fold;
use neco_toolkit::Registry;
use neco_tools::code::Indexes;

const SCENE: Scene = Scene { mode: Mode::Agent, can_ask: true, has_todos: true, can_plan: true };

/// What became of the calls of some sessions.
#[derive(Debug, Default)]
struct Figures {
    sessions: usize,
    calls: usize,
    longest: usize,
    /// What the guard said, with the session and the number of the message before which it did.
    warned: Vec<String>,
    stopped: Vec<String>,
}

impl Figures {
    /// Plays the conversation of a log to the guard, message by message.
    fn play(&mut self, log: &Path, tools: &Registry) {
        let text = std::fs::read_to_string(log).unwrap();
        let events: Vec<Event> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let messages = Fold::of(&events).messages;
        let name = log.file_stem().unwrap().to_string_lossy().into_owned();
        let calls = messages.iter().map(|message| message.tool_calls().count()).sum();
        self.sessions += 1;
        self.calls += calls;
        self.longest = self.longest.max(calls);
        let mut guards = Guards::new(&GuardsSection { loops: true, ..GuardsSection::default() });
        let mut history = History::default();
        for (number, message) in messages.into_iter().enumerate() {
            history.push(message);
            guards.catch_up(&history, tools, &SCENE);
            let said = guards.take();
            self.warned.extend(said.hints.iter().map(|hint| format!("{name} {number}: {hint}")));
            self.stopped.extend(said.stop.iter().map(|why| format!("{name} {number}: {why}")));
        }
    }

    fn of(folder: &Path) -> Self {
        let indexes = Arc::new(Indexes::new(std::env::temp_dir()));
        let tools = neco_tools::builtin::registry(&Config::built_in().tools, &indexes).with(neco_agent::plan::tools());
        let mut logs: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
        logs.retain(|log| log.extension().is_some_and(|ending| ending == "jsonl"));
        logs.sort();
        let mut figures = Self::default();
        logs.iter().for_each(|log| figures.play(log, &tools));
        figures
    }
}

#[test]
fn in_the_scenarios_only_loops_are_taken_for_loops() {
    let logs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/view/logs");
    let figures = Figures::of(&logs);
    assert!(figures.sessions > 100 && figures.calls > 100, "{figures:?}");
    // Scenarios in which a model goes round in circles.
    let circles = ["loop-", "guards-", "reading-on-and-on", "answer-in-circles", "iteration-limit"];
    let is_meant = |said: &&String| circles.iter().any(|name| said.starts_with(name));
    let not_meant: Vec<&String> =
        figures.warned.iter().chain(&figures.stopped).filter(|said| !is_meant(said)).collect();
    assert!(not_meant.is_empty(), "{not_meant:#?}");
    assert!(figures.stopped.iter().any(|said| said.starts_with("loop-")), "{figures:?}");
}

#[test]
#[ignore = "it needs recorded sessions: NECO_RECORDED_SESSIONS names their folder"]
fn in_real_work_it_hardly_speaks_up() {
    let folder = std::env::var_os("NECO_RECORDED_SESSIONS").expect("NECO_RECORDED_SESSIONS names a folder of logs");
    let figures = Figures::of(Path::new(&folder));
    eprintln!(
        "{} sessions, {} calls, the longest {}: {} warned, {} stopped",
        figures.sessions,
        figures.calls,
        figures.longest,
        figures.warned.len(),
        figures.stopped.len()
    );
    figures.warned.iter().chain(&figures.stopped).for_each(|said| eprintln!("  {said}"));
    assert!(figures.sessions > 0, "no logs in {}", folder.display());
    assert!(figures.warned.len() * 20 <= figures.sessions, "more than one in twenty sessions");
    assert!(figures.stopped.len() * 50 <= figures.sessions, "more than one in fifty sessions");
}
