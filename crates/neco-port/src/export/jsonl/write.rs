//! Writing the lines.

use std::io::{self, Write};

use neco_proto::Event;

use super::header::Header;
use super::output::{Output, OutputLine};

/// Writes a session as lines of JSON.
#[derive(Debug)]
pub struct JsonlWriter<W> {
    out: W,
}

impl<W: Write> JsonlWriter<W> {
    /// Writes the header to `out`.
    ///
    /// # Errors
    /// When `out` can't be written.
    pub fn new(mut out: W, header: &Header) -> io::Result<Self> {
        serde_json::to_writer(&mut out, header)?;
        out.write_all(b"\n")?;
        Ok(Self { out })
    }

    /// Writes what a call gave that was too big for the model; the event that names it comes next.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn output(&mut self, output: Output) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, &OutputLine { neco_output: output })?;
        self.out.write_all(b"\n")
    }

    /// Writes the next event.
    ///
    /// # Errors
    /// When it can't be written.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, event)?;
        self.out.write_all(b"\n")
    }

    /// Gives the writer back, with everything handed to it.
    ///
    /// # Errors
    /// When it can't be flushed.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}
