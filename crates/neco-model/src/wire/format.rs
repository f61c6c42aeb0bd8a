//! What a wire format is, and what it says when a vendor refuses.

use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName};

use crate::delta::Delta;
use crate::error::ErrorKind;
use crate::request::Request;
use crate::wire::sse::Event;

/// As many characters of a vendor's message are worth telling.
const LONGEST_MESSAGE: usize = 1000;

/// What a thing that is looked through again and again counts besides its bytes in what a decoder keeps.
pub(super) const ENTRY: usize = 4096;

/// One vendor format, bound to one model and its parameters.
pub trait Wire: Send + Sync {
    /// What is added to the provider's base address; begins with a slash.
    fn path(&self) -> &str;

    /// How the key is shown.
    fn auth(&self) -> Auth {
        Auth::Bearer
    }

    /// Headers that this format wants with `request`.
    fn headers(&self, request: &Request) -> HeaderMap {
        let _ = request;
        HeaderMap::new()
    }

    /// Whether a picture of this kind is sent to the model rather than a note that one was there.
    fn sees(&self, media_type: &str) -> bool;

    /// The path for answers that come whole, where that is another one.
    fn path_whole(&self) -> &str {
        self.path()
    }

    /// The request as pieces; everything that was sent before is shared, not copied.
    fn encode_as(&self, request: &Request, delivery: Delivery) -> Vec<Bytes>;

    /// The request for an answer piece by piece.
    fn encode(&self, request: &Request) -> Vec<Bytes> {
        self.encode_as(request, Delivery::Streamed)
    }

    /// Reads one answer.
    fn decoder(&self) -> Box<dyn Decoder>;

    /// Reads the answer to `request`, for formats in which what was asked says how to read it.
    fn decoder_for(&self, request: &Request) -> Box<dyn Decoder> {
        let _ = request;
        self.decoder()
    }

    /// The request and the reader of its answer, both made of the same knowledge of the server.
    fn call(&self, request: &Request, delivery: Delivery) -> (Vec<Bytes>, Box<dyn Decoder>) {
        (self.encode_as(request, delivery), self.decoder_for(request))
    }

    /// Whether it matters what a local server says of its template.
    fn asks_for_template(&self) -> bool {
        false
    }

    /// Takes note of what the server says of its template.
    fn heed(&self, template: Template) {
        let _ = template;
    }

    /// Whether the next request is put otherwise because of `problem`, so that it may go better.
    fn changes_after(&self, problem: &Problem) -> bool {
        let _ = problem;
        false
    }

    /// What an error body means.
    fn problem(&self, status: u16, body: &[u8]) -> Problem;
}

/// How an answer is to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// Piece by piece, as it is written.
    Streamed,
    /// When it is whole: for side calls that nobody watches.
    Whole,
}

/// What a server's chat template does with tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Template {
    /// It shows them to the model.
    ShowsTools,
    /// It leaves them out without a word.
    DropsTools,
    /// The server does not say.
    Unknown,
}

/// How a key is shown to a vendor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Auth {
    /// `authorization: Bearer KEY`.
    Bearer,
    /// The key alone in a header of this name.
    Header(HeaderName),
}

/// Reads one answer, piece by piece.
pub trait Decoder: Send + Sync {
    /// The next event of a stream.
    fn event(&mut self, event: Event<'_>, out: &mut Vec<Delta>) -> Result<(), Problem>;

    /// Whether the end mark was seen, so that nothing more is worth waiting for.
    fn is_over(&self) -> bool;

    /// Whether the finish is known, so that only what it cost may still come.
    fn is_finished(&self) -> bool {
        self.is_over()
    }

    /// About how many bytes of the answer it keeps to itself, with something for each thing that it looks through.
    fn kept(&self) -> usize {
        0
    }

    /// The bytes ended. Gives the finish, or says that the answer was cut off.
    fn end(&mut self, out: &mut Vec<Delta>) -> Result<(), Problem>;

    /// A whole answer in one body: what some servers send although a stream was asked for.
    fn whole(&mut self, body: &[u8], out: &mut Vec<Delta>) -> Result<(), Problem>;
}

/// What went wrong, in the vendor's words.
#[derive(Clone, Debug, PartialEq)]
pub struct Problem {
    /// What kind of failure.
    pub kind: ErrorKind,
    /// The vendor's text; may be empty.
    pub message: String,
    /// How long the vendor asks to wait, when the body says so elsewhere than in the text.
    pub retry_after: Option<Duration>,
}

impl Problem {
    /// A problem of `kind`. Of a long message the beginning is kept.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let mut message = message.into();
        if let Some((end, _)) = message.char_indices().nth(LONGEST_MESSAGE) {
            message.truncate(end);
            message.push('…');
        }
        Self { kind, message, retry_after: None }
    }

    /// The answer ended before its end mark.
    pub fn cut() -> Self {
        Self::new(ErrorKind::StreamCut, "the answer ended before it was whole")
    }

    /// A piece of an answer that is no JSON of this format. A last piece that was cut off in the
    /// middle looks like that too.
    pub fn unreadable(data: &[u8], error: &serde_json::Error) -> Self {
        if error.is_eof() || is_at_end(data, error) {
            return Self::cut();
        }
        tracing::debug!(bytes = data.len(), %error, "unreadable piece of an answer");
        Self::new(ErrorKind::ServerError, format!("a piece of the answer could not be read: {error}"))
    }
}

/// Whether the error is in the last byte: half a number is an error there rather than an end.
fn is_at_end(data: &[u8], error: &serde_json::Error) -> bool {
    let lines = data.split(|byte| *byte == b'\n');
    lines.enumerate().last().is_some_and(|(at, last)| error.line() == at + 1 && error.column() >= last.len())
}
