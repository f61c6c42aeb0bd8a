//! What is longer than the terminal, a screenful at a time.

use neco_view::figures;
use neco_view::paint::wrap::wrap;

use super::tty::{Said, Tty};
use crate::line::signals::Signal;

/// Rows and columns when the terminal does not say how many it has.
pub const USUAL_SIZE: (usize, usize) = (24, 80);

/// Rows that a screenful leaves for what is asked below it.
const ASKED_BELOW: usize = 4;

/// How far a person went through what is shown in screenfuls.
pub enum Shown {
    /// To the last one, which is to be written.
    Rest(String),
    /// They have seen enough.
    Left,
    /// Nobody can be read.
    Nobody,
}

/// Writes rows a screenful at a time, so that none leaves the screen unseen: Enter goes on, and Esc does what `leaves`
/// says.
///
/// # Errors
/// When they want to leave instead.
pub fn in_screens(tty: &Tty, rows: &[String], height: usize, leaves: &str) -> Result<Shown, Signal> {
    let room = height.saturating_sub(ASKED_BELOW).max(1);
    let mut rest = rows;
    while let Some((screen, later)) = rest.split_at_checked(room).filter(|(_, later)| !later.is_empty()) {
        let more = figures::count(later.len() as u64, "more line");
        let line =
            match tty.ask_or_leave(&format!("{}\n-- {more}: Enter shows them, Esc {leaves} -- ", screen.join("\n"))) {
                Some(Said::Interrupt) => return Err(Signal::Interrupt),
                Some(Said::Escape) => return Ok(Shown::Left),
                Some(Said::Line(line)) if !line.is_empty() => line,
                Some(Said::Line(_)) | None => return Ok(Shown::Nobody),
            };
        if matches!(line.trim(), "q" | "n" | "no") {
            return Ok(Shown::Left);
        }
        rest = later;
    }
    Ok(Shown::Rest(rest.join("\n")))
}

/// A text as rows of a terminal; what it says stands below what it is about.
pub fn rows(text: &str, width: usize) -> Vec<String> {
    let wrapped = text.lines().map(|line| wrap(line, width)).collect::<Vec<_>>().join("\n");
    wrapped.lines().map(str::to_owned).collect()
}
