//! A run as events, one a line, as the log has them.

use std::io::{self, Write};

use neco_proto::Event;

use neco_proto::visible;

/// Writes events to `out`.
pub struct StreamJsonPrinter {
    out: Box<dyn Write>,
}

impl StreamJsonPrinter {
    /// Writes to `out`.
    #[must_use]
    pub fn new(out: Box<dyn Write>) -> Self {
        Self { out }
    }

    /// Writes an event.
    ///
    /// # Errors
    /// When nobody reads them any more.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        let line = serde_json::to_string(event).map_err(io::Error::other)?;
        let line = visible::json(&line).into_owned() + "\n";
        // One write a line: a reader never sees half of one.
        self.out.write_all(line.as_bytes())?;
        self.out.flush()
    }
}
