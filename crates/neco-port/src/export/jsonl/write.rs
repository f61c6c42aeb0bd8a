//! Writing the lines.

use std::io::{self, Write};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use neco_proto::{CallId, Event};
use serde::{Deserialize, Serialize};

use crate::export::About;

/// Writes a session as lines of JSON.
#[derive(Debug)]
pub struct JsonlWriter<W> {
    out: W,
}

impl<W: Write> JsonlWriter<W> {
    /// Writes the header to `out`.
    /// Fails when `out` can't be written.
    pub fn new(mut out: W, header: &Header) -> io::Result<Self> {
        serde_json::to_writer(&mut out, header)?;
        out.write_all(b"\n")?;
        Ok(Self { out })
    }

    /// Writes what a call gave that was too big for the model; the event that names it comes next.
    /// Fails when it can't be written.
    pub fn output(&mut self, output: Output) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, &OutputLine { neco_output: output })?;
        self.out.write_all(b"\n")
    }

    /// Writes the next event.
    /// Fails when it can't be written.
    pub fn event(&mut self, event: &Event) -> io::Result<()> {
        serde_json::to_writer(&mut self.out, event)?;
        self.out.write_all(b"\n")
    }

    /// Gives the writer back, with everything handed to it.
    /// Fails when it can't be flushed.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// The version of the format that is written.
pub const FORMAT: u32 = 1;

/// The first line of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// The version of the format; what makes the line a header.
    pub neco_session: u32,
    /// The session.
    #[serde(flatten)]
    pub about: About,
    /// How many events follow, as far as that was known when the file was begun.
    #[serde(default)]
    pub events: u64,
}

impl Header {
    /// The header of a file that is written now.
    pub fn new(about: About, events: u64) -> Self {
        Self { neco_session: FORMAT, about, events }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct OutputLine {
    /// What makes the line one of these.
    pub neco_output: Output,
}

impl OutputLine {
    /// How such a line begins; no event does.
    pub const BEGINS: &str = "{\"neco_output\":";
}

/// All of an output that was too big for the model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Output {
    /// The call.
    pub call_id: CallId,
    /// What it gave, where that is text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    /// What it gave otherwise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    base64: Option<String>,
}

impl Output {
    /// What a call gave.
    pub fn new(call_id: CallId, bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self { call_id, text: Some(text), base64: None },
            Err(error) => Self { call_id, text: None, base64: Some(STANDARD.encode(error.as_bytes())) },
        }
    }

    /// The bytes again; nothing when they can't be read.
    pub fn into_bytes(self) -> Option<Vec<u8>> {
        match (self.text, self.base64) {
            (Some(text), _) => Some(text.into_bytes()),
            (None, Some(base64)) => STANDARD.decode(base64).ok(),
            (None, None) => None,
        }
    }
}
