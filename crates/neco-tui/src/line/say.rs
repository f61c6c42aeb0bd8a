//! Lines that are written outside of a run, and the notes that wait while something else has the screen.

use std::io::{self, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use neco_proto::app::{AppError, Trouble};
use neco_proto::clean::clean;
use neco_view::paint::wrap::{wrap, wrap_under};

use super::terminal;

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
pub fn out(text: &str) -> io::Result<()> {
    let written = io::stdout().write_all(text.as_bytes()).and_then(|()| io::stdout().flush());
    written.or_else(|error| if error.kind() == io::ErrorKind::BrokenPipe { Ok(()) } else { Err(error) })
}

/// Why nothing goes on when what a person asked for can't be written.
pub fn unwritten(error: &io::Error) -> AppError {
    AppError::new(Trouble::Failed, format!("stdout can't be written: {error}"))
}

/// Writes lines that a person asked for, broken between words where a terminal would break inside of
/// them; what follows stands `hanging` columns from the left.
pub fn lines(text: &str, hanging: usize) -> io::Result<()> {
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
    let line = format!("! {}", clean(line));
    tracing::info!("{line}");
    wrapped(&line);
}

/// Writes to stderr, broken between words where that is a terminal.
pub fn wrapped(text: &str) {
    let mut text = clean(text);
    if io::stderr().is_terminal() {
        let width = terminal::size().0;
        text = text.split('\n').map(|line| wrap(line, width)).collect::<Vec<_>>().join("\n");
    }
    // Nothing can be done about a closed stderr.
    let _ = writeln!(io::stderr(), "{text}");
}
