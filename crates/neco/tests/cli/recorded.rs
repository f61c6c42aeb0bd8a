//! Every scenario as people read it: recorded logs in, what is printed and exported of them out.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use neco_agent::CapabilityLevel;
use neco_port::export::{About, MarkdownWriter, Outline};
use neco_proto::Event;
use neco_tui::line::print::{Look, Screen, TextPrinter};
use neco_tui::line::run::exit::Exit;
use neco_tui::line::run::outcome::Outcome;

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/view")
}

/// The recorded logs by the names of their scenarios; each is written again as it was read.
fn logs() -> Vec<(String, Vec<Event>)> {
    let mut paths: Vec<_> = fs::read_dir(fixtures().join("logs")).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let events: Vec<Event> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let written = events.iter().map(|event| serde_json::to_string(event).unwrap() + "\n").collect::<String>();
        assert_eq!(written, text, "{name} is written otherwise than it was read");
        (name, events)
    };
    paths.into_iter().map(read).collect()
}

#[derive(Clone, Default)]
struct Shared(Arc<Mutex<Vec<u8>>>);

impl Write for Shared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Both streams on one screen.
fn drawn(look: Look, events: &[Event]) -> String {
    let both = Shared::default();
    let screen = Screen::new(Box::new(both.clone()), Box::new(both.clone()), look);
    let mut printer = TextPrinter::new(screen, CapabilityLevel::highest().number());
    printer.set_session("0199a1b2-c3d4".to_owned());
    events.iter().for_each(|event| printer.event(event).unwrap());
    printer.finish().unwrap();
    String::from_utf8(both.0.lock().unwrap().clone()).unwrap()
}

fn exit(events: &[Event]) -> u8 {
    let mut outcome = Outcome::of_root(events[0].agent_id);
    events.iter().for_each(|event| outcome.apply(event));
    Exit::of(&outcome, None).number()
}

fn markdown(events: &[Event]) -> String {
    let mut outline = Outline::default();
    events.iter().for_each(|event| outline.read(event));
    let (agents, first, last) = (outline.agents.clone(), &events[0], &events[events.len() - 1]);
    let about = About {
        id: first.session_id,
        title: "A scenario".to_owned(),
        cwd: "/project".to_owned(),
        created_ms: first.ts.as_millisecond(),
        updated_ms: last.ts.as_millisecond(),
        neco: "0".to_owned(),
    };
    let mut writer = MarkdownWriter::new(Vec::new(), &about, outline).unwrap();
    events.iter().for_each(|event| writer.event(event).unwrap());
    for agent in &agents {
        writer.agent(agent).unwrap();
        events.iter().for_each(|event| writer.event(event).unwrap());
    }
    String::from_utf8(writer.finish().unwrap()).unwrap()
}

fn hold(folder: &str, name: &str, text: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(fixtures().join(folder));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name.to_owned(), text));
}

#[test]
fn a_run_is_printed_as_it_was() {
    let piped = Look { width: 80, ..Look::default() };
    let terminal = Look { streams: true, overwrites: true, ..piped };
    for (name, events) in logs() {
        let (piped, terminal) = (drawn(piped, &events), drawn(terminal, &events));
        let text = format!("── piped ──\n{piped}\n── on a terminal ──\n{terminal}\n── exit code {} ──", exit(&events));
        hold("text", &name, &text);
    }
}

#[test]
fn a_run_is_exported_as_it_was() {
    logs().iter().for_each(|(name, events)| hold("markdown", name, &markdown(events)));
}
