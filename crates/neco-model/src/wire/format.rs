//! What a wire format is, and what it says when a vendor refuses.

use bytes::Bytes;

use crate::delta::Delta;
use crate::error::ErrorKind;
use crate::request::Request;
use crate::wire::sse::Event;

/// One vendor format, bound to one model and its parameters.
pub trait Wire: Send + Sync {
    /// What is added to the provider's base address.
    fn path(&self) -> &str;

    /// The request as pieces; everything that was sent before is shared, not copied.
    fn encode(&self, request: &Request) -> Vec<Bytes>;

    /// Reads one answer.
    fn decoder(&self) -> Box<dyn Decoder>;

    /// What an error body means.
    fn problem(&self, status: u16, body: &[u8]) -> Problem;
}

/// Reads one answer, piece by piece.
pub trait Decoder: Send + Sync {
    /// The next event of a stream.
    fn event(&mut self, event: Event<'_>, out: &mut Vec<Delta>) -> Result<(), Problem>;

    /// Whether the end mark was seen, so that nothing more is worth waiting for.
    fn is_over(&self) -> bool;

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
}

impl Problem {
    /// A problem of `kind`.
    #[must_use]
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }
}
