//! The forms a run can be printed in, behind one face.

use std::io;
use std::time::Instant;

use neco_proto::Event;

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
    /// Whether time that goes by is told: to people, and to those who wait for one object.
    pub fn shows_time(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Json(_))
    }

    /// Shows that time goes by.
    pub fn tick(&mut self, now: Instant) -> io::Result<()> {
        match self {
            Self::Text(text) => text.tick(now),
            Self::Json(json) => {
                json.tell_of_wait(now);
                Ok(())
            }
            Self::StreamJson(_) | Self::Claude(_) => Ok(()),
        }
    }

    /// Prints an event.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        match self {
            Self::Text(text) => text.event(event),
            Self::Json(json) => {
                json.tell(event);
                Ok(())
            }
            Self::StreamJson(stream) => stream.event(event),
            Self::Claude(claude) => claude.event(event),
        }
    }

    /// Whether an event would tear a line apart that is being written.
    pub fn tears(&self, event: &Event) -> bool {
        match self {
            Self::Text(text) => text.tears(event),
            Self::Json(_) | Self::StreamJson(_) | Self::Claude(_) => false,
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
