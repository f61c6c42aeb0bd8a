//! The forms a run can be printed in, behind one face.

use std::io;
use std::time::Instant;

use neco_proto::{Event, EventBody};
use neco_view::wording::notices as told;

use super::claude::ClaudePrinter;
use super::json::JsonPrinter;
use super::text::TextPrinter;

/// Prints a run; fails once nobody reads the output any more.
pub enum Printer {
    /// For people.
    Text(Box<TextPrinter>),
    /// One object at the end.
    Json(JsonPrinter),
    /// One event a line.
    StreamJson(JsonPrinter),
    /// The lines of Claude Code.
    Claude(Box<ClaudePrinter>),
}

impl Printer {
    /// Whether time that goes by can be shown.
    pub fn shows_time(&self) -> bool {
        matches!(self, Self::Text(text) if text.shows_time())
    }

    /// Shows that time goes by.
    pub fn tick(&mut self, now: Instant) -> io::Result<()> {
        match self {
            Self::Text(text) => text.tick(now),
            Self::Json(_) | Self::StreamJson(_) | Self::Claude(_) => Ok(()),
        }
    }

    /// Prints an event.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        match self {
            Self::Text(text) => text.event(event),
            Self::Json(json) => {
                tell(event, json.note);
                Ok(())
            }
            Self::StreamJson(stream) => stream.event(event),
            Self::Claude(claude) => claude.event(event),
        }
    }

    /// Prints a line for the person, where words are printed for one.
    pub fn note(&mut self, words: &str) -> io::Result<()> {
        match self {
            Self::Text(text) => text.note(words),
            Self::Json(_) | Self::StreamJson(_) | Self::Claude(_) => Ok(()),
        }
    }

    /// Tells the person a line, whichever form the run has.
    pub fn tell(&mut self, words: &str) -> io::Result<()> {
        match self {
            Self::Text(text) => return text.note(words),
            // What is said beside events begins with the mark.
            Self::Json(json) | Self::StreamJson(json) => (json.note)(words.strip_prefix("! ").unwrap_or(words)),
            Self::Claude(claude) => (claude.json.note)(words.strip_prefix("! ").unwrap_or(words)),
        }
        Ok(())
    }

    /// Prints what is said at the very end: `report` is the one object.
    pub fn finish(&mut self, report: impl FnOnce() -> String) -> io::Result<()> {
        match self {
            Self::Text(text) => text.finish(),
            Self::Json(json) => json.line(&report()),
            Self::StreamJson(_) => Ok(()),
            Self::Claude(claude) => claude.result(&report()),
        }
    }
}

/// A program that waits for one object at the end has somebody who wonders why it takes so long.
fn tell(event: &Event, note: fn(&str)) {
    match &event.body {
        EventBody::ModelRetry(retry) => note(&told::retry(retry)),
        EventBody::ModelSwitch(switch) => note(&told::switch(switch)),
        // Everything else is in the object.
        _ => {}
    }
}
