//! The three forms a run can be printed in, behind one face.

use std::io::{self, Write};
use std::time::Instant;

use neco_proto::{AgentId, Event, EventBody, SessionId};

use super::json::Report;
use super::screen::Screen;
use super::stream_json::StreamJsonPrinter;
use super::text::TextPrinter;
use super::told;
use crate::args::OutputFormat;
use crate::exit::Exit;
use crate::outcome::Outcome;
use crate::say;
use crate::terminal::Terminal;

/// Prints a run.
pub enum Printer {
    /// For people.
    Text(Box<TextPrinter>),
    /// One object at the end.
    Json(Box<dyn Write>),
    /// One event a line.
    StreamJson(StreamJsonPrinter),
}

impl Printer {
    /// Prints to this process's streams.
    #[must_use]
    pub fn new(format: OutputFormat, terminal: &Terminal) -> Self {
        let out = Box::new(io::stdout());
        match format {
            OutputFormat::Text => {
                let screen = Screen::new(out, Box::new(io::stderr()), terminal.look());
                Self::Text(Box::new(TextPrinter::new(screen)))
            }
            OutputFormat::Json => Self::Json(out),
            OutputFormat::StreamJson => Self::StreamJson(StreamJsonPrinter::new(out)),
        }
    }

    /// The id that the last line of the text form tells people to go on with.
    pub fn set_session(&mut self, id: String) {
        match self {
            Self::Text(text) => text.set_session(id),
            Self::Json(_) | Self::StreamJson(_) => {}
        }
    }

    /// Draws every message of a person, also the first: none of them was typed here.
    pub fn show_messages(&mut self) {
        match self {
            Self::Text(text) => text.show_messages(),
            Self::Json(_) | Self::StreamJson(_) => {}
        }
    }

    /// The root of the session, for whoever has not seen its beginning.
    pub fn set_root(&mut self, root: AgentId) {
        match self {
            Self::Text(text) => text.set_root(root),
            Self::Json(_) | Self::StreamJson(_) => {}
        }
    }

    /// Whether time that goes by can be shown.
    #[must_use]
    pub fn shows_time(&self) -> bool {
        match self {
            Self::Text(text) => text.shows_time(),
            Self::Json(_) | Self::StreamJson(_) => false,
        }
    }

    /// Shows that time goes by.
    ///
    /// # Errors
    /// When nobody reads the output any more.
    pub fn tick(&mut self, now: Instant) -> io::Result<()> {
        match self {
            Self::Text(text) => text.tick(now),
            Self::Json(_) | Self::StreamJson(_) => Ok(()),
        }
    }

    /// Prints an event.
    ///
    /// # Errors
    /// When nobody reads the output any more.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        match self {
            Self::Text(text) => text.event(event),
            Self::Json(_) => {
                tell(event);
                Ok(())
            }
            Self::StreamJson(stream) => stream.event(event),
        }
    }

    /// Prints what is said at the very end.
    ///
    /// # Errors
    /// When nobody reads the output any more.
    pub fn finish(&mut self, outcome: &Outcome, session: Option<SessionId>, exit: Exit) -> io::Result<()> {
        match self {
            Self::Text(text) => text.finish(),
            Self::Json(out) => {
                writeln!(out, "{}", Report::new(outcome, session, exit).line())?;
                out.flush()
            }
            Self::StreamJson(_) => Ok(()),
        }
    }
}

/// A program that waits for one object at the end has somebody who wonders why it takes so long.
fn tell(event: &Event) {
    match &event.body {
        EventBody::ModelRetry(retry) => say::note(&told::retry(retry)),
        EventBody::ModelSwitch(switch) => say::note(&told::switch(switch)),
        // Everything else is in the object.
        _ => {}
    }
}
