//! The few lines that are written outside of a run.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use neco_tui::line::repl::process;

use crate::exit::Exit;
use crate::failure::Failure;
use crate::print::clean::clean;
use crate::print::wrap::{wrap, wrap_under};
use crate::terminal;

/// Notes that wait while something else has the screen; nothing when it is free. A process has one terminal, and
/// whoever writes to it has to know whether it is taken: this belongs to the terminal, and holds nothing of a folder.
static HELD: Mutex<Option<Vec<String>>> = Mutex::new(None);

/// Something else has the screen from now on: notes are kept for it.
pub fn hold_notes() {
    HELD.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default();
}

/// The notes that were kept since the last time.
pub fn held_notes() -> Vec<String> {
    HELD.lock().unwrap_or_else(PoisonError::into_inner).as_mut().map(std::mem::take).unwrap_or_default()
}

/// The screen is free again: what nobody took is written now.
pub fn release_notes() {
    let held = HELD.lock().unwrap_or_else(PoisonError::into_inner).take();
    held.unwrap_or_default().iter().for_each(|line| note(line));
}

/// Writes what a person asked for. A reader that has had enough (`| head`) is no error.
pub fn out(text: &str) -> Result<(), Failure> {
    process::out(text).map_err(|error| unwritten(&error))
}

/// Why Neco ends when what a person asked for can't be written.
pub fn unwritten(error: &io::Error) -> Failure {
    Failure::new(Exit::Failed, format!("stdout can't be written: {error}"))
}

/// Writes lines that a person asked for, broken between words where a terminal would break inside of
/// them; what follows stands `hanging` columns from the left.
pub fn lines(text: &str, hanging: usize) -> Result<(), Failure> {
    if !io::stdout().is_terminal() {
        return out(text);
    }
    let width = terminal::stdout_width();
    let wrapped: Vec<String> = text.split('\n').map(|line| wrap_under(line, width, hanging)).collect();
    out(&wrapped.join("\n"))
}

/// Writes lines beside what a program reads.
pub fn plain(text: &str) {
    // Nothing can be done about a closed stderr.
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Writes a line that a person should know of.
pub fn note(line: &str) {
    if let Some(held) = HELD.lock().unwrap_or_else(PoisonError::into_inner).as_mut() {
        tracing::info!("! {line}");
        held.push(clean(line));
        return;
    }
    let mut line = format!("! {}", clean(line));
    if io::stderr().is_terminal() {
        line = wrap(&line, terminal::size().0);
    }
    tracing::info!("{line}");
    // Nothing can be done about a closed stderr.
    let _ = writeln!(io::stderr(), "{line}");
}

/// Writes why Neco ends.
pub fn failure(failure: &Failure) {
    let mut text = clean(&failure.to_string());
    if io::stderr().is_terminal() {
        let width = terminal::size().0;
        text = text.split('\n').map(|line| wrap(line, width)).collect::<Vec<_>>().join("\n");
    }
    let _ = writeln!(io::stderr(), "{text}");
}
