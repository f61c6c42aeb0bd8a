//! The few lines that are written outside of a run.

use std::io;

use neco_tui::line::say;
pub use neco_tui::line::say::{hold_notes, note, release_notes, wrapped};

use crate::failure::Failure;

/// Writes what a person asked for. A reader that has had enough (`| head`) is no error.
pub fn out(text: &str) -> Result<(), Failure> {
    say::out(text).map_err(|error| unwritten(&error))
}

/// The same in lines that are broken between words; what follows stands `hanging` columns from the left.
pub fn lines(text: &str, hanging: usize) -> Result<(), Failure> {
    say::lines(text, hanging).map_err(|error| unwritten(&error))
}

/// Why Neco ends when what a person asked for can't be written.
pub fn unwritten(error: &io::Error) -> Failure {
    say::unwritten(error).into()
}

/// Writes why Neco ends.
pub fn failure(failure: &Failure) {
    wrapped(&failure.to_string());
}
