//! Reading the lines back.

use std::io::{self, BufRead};

use neco_proto::{Event, Seq, SessionId};

use super::write::{FORMAT, Header, Output, OutputLine};

/// Why a file can't be read as a session.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the message says what each field is")]
pub enum JsonlError {
    /// The file itself can't be read.
    #[error("can't be read: {0}")]
    Read(#[from] io::Error),
    /// It is something else.
    #[error("is no session that Neco exported")]
    NotOurs,
    /// It was written by a later Neco.
    #[error("has format {0}, which this version of Neco does not know; update Neco to import it")]
    TooNew(u32),
    /// A line in the middle of it is no event.
    #[error("line {line} is no event that this version of Neco knows: {reason}")]
    Line { line: usize, reason: String },
    /// It begins in the middle of a session.
    #[error(
        "begins with event {0}: it is the last part of a session, as a run that goes on with one prints it; `neco \
         session export` writes all of it"
    )]
    Part(Seq),
    /// An event does not follow the one before it.
    #[error("line {line} holds event {got} where event {expected} was due")]
    Gap { line: usize, expected: Seq, got: Seq },
    /// An event is of another session than the ones before it.
    #[error("line {line} holds an event of another session")]
    Mixed { line: usize },
}

/// Reads a session from lines of JSON, event by event. A file without a header is read too, when its
/// first line is the first event of a session: what `--output-format stream-json` printed.
#[derive(Debug)]
pub struct JsonlReader<R> {
    input: R,
    header: Option<Header>,
    /// The first event, when it is the first line.
    first: Option<Event>,
    session: Option<SessionId>,
    line: usize,
    last: Seq,
    cut: bool,
    /// Outputs whose event comes next.
    outputs: Vec<Output>,
}

impl<R: BufRead> JsonlReader<R> {
    /// Reads the first line of `input`.
    /// Fails when it is not the beginning of a session, or of a later format.
    pub fn new(input: R) -> Result<Self, JsonlError> {
        let mut reader =
            Self { input, header: None, first: None, session: None, line: 0, last: 0, cut: false, outputs: Vec::new() };
        let (text, _) = reader.next_line()?.ok_or(JsonlError::NotOurs)?;
        if let Ok(header) = serde_json::from_str::<Header>(&text) {
            if header.neco_session > FORMAT {
                return Err(JsonlError::TooNew(header.neco_session));
            }
            reader.session = Some(header.about.id);
            reader.header = Some(header);
        } else {
            let event = Event::from_json(&text).map_err(|_| JsonlError::NotOurs)?;
            reader.first = Some(reader.checked(event)?);
        }
        Ok(reader)
    }

    /// What the file says of its session, if it has a header.
    pub fn header(&self) -> Option<&Header> {
        self.header.as_ref()
    }

    /// The session.
    pub fn session(&self) -> Option<SessionId> {
        self.session
    }

    /// Whether the file ends in the middle of a line, or before the events that its header promises.
    pub fn is_cut(&self) -> bool {
        self.cut || self.header.as_ref().is_some_and(|header| self.last < header.events)
    }

    /// The next event; nothing at the end of the file.
    /// Fails when a line is no event, or not the next one of this session.
    pub fn next_event(&mut self) -> Result<Option<Event>, JsonlError> {
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        while let Some((text, whole)) = self.next_line()? {
            if text.trim().is_empty() {
                continue;
            }
            if text.starts_with(OutputLine::BEGINS)
                && let Ok(line) = serde_json::from_str::<OutputLine>(&text)
            {
                self.outputs.push(line.neco_output);
                continue;
            }
            match Event::from_json(&text) {
                Ok(event) => return self.checked(event).map(Some),
                Err(_) if !whole => self.cut = true,
                Err(error) => return Err(JsonlError::Line { line: self.line, reason: error.to_string() }),
            }
        }
        Ok(None)
    }

    /// The big outputs that stood before the event which was read last.
    pub fn take_outputs(&mut self) -> Vec<Output> {
        std::mem::take(&mut self.outputs)
    }

    /// How many events were read.
    pub fn count(&self) -> u64 {
        self.last
    }

    /// The next line, and whether it ends as a line does.
    fn next_line(&mut self) -> io::Result<Option<(String, bool)>> {
        let mut bytes = Vec::new();
        if self.input.read_until(b'\n', &mut bytes)? == 0 {
            return Ok(None);
        }
        self.line += 1;
        let whole = bytes.ends_with(b"\n");
        Ok(Some((String::from_utf8_lossy(&bytes).into_owned(), whole)))
    }

    fn checked(&mut self, event: Event) -> Result<Event, JsonlError> {
        let (line, expected) = (self.line, self.last + 1);
        if event.seq != expected && expected == 1 && self.header.is_none() {
            return Err(JsonlError::Part(event.seq));
        }
        if event.seq != expected {
            return Err(JsonlError::Gap { line, expected, got: event.seq });
        }
        if *self.session.get_or_insert(event.session_id) != event.session_id {
            return Err(JsonlError::Mixed { line });
        }
        self.last = expected;
        Ok(event)
    }
}
