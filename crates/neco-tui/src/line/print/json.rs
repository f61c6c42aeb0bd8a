//! A run as JSON, one object a line.

use std::io::{self, Write};

use neco_proto::{Event, visible};

/// Writes objects to `out`; fails once nobody reads them any more.
pub struct JsonPrinter {
    out: Box<dyn Write>,
    /// Tells a person what can't stand among the objects.
    pub(super) note: fn(&str),
}

impl JsonPrinter {
    /// Writes to `out`, and tells a person with `note`.
    pub fn new(out: Box<dyn Write>, note: fn(&str)) -> Self {
        Self { out, note }
    }

    /// Writes an event as the log has it.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        let line = serde_json::to_string(event).map_err(io::Error::other)?;
        self.line(&visible::json(&line))
    }

    /// Writes an object.
    pub fn line(&mut self, line: &str) -> io::Result<()> {
        // One write a line: a reader never sees half of one.
        self.out.write_all(format!("{line}\n").as_bytes())?;
        self.out.flush()
    }
}
