//! A message as it goes to a vendor.

use std::sync::Arc;

use bytes::Bytes;
use neco_proto::Message;

use crate::history::Entry;

/// A message as it goes to a vendor: one of the history, or one made in its place.
#[derive(Debug)]
pub struct Sent<'a> {
    body: Body<'a>,
    own_thoughts: bool,
}

#[derive(Debug)]
enum Body<'a> {
    Kept(&'a Entry),
    /// Made once and kept at the entry that it stands for.
    Shared(Arc<Entry>),
    Made(Box<Message>),
}

impl<'a> Sent<'a> {
    pub(super) fn kept(entry: &'a Entry, own_thoughts: bool) -> Self {
        Self { body: Body::Kept(entry), own_thoughts }
    }

    pub(super) fn shared(entry: Arc<Entry>, own_thoughts: bool) -> Self {
        Self { body: Body::Shared(entry), own_thoughts }
    }

    pub(super) fn made(message: Message, own_thoughts: bool) -> Self {
        Self { body: Body::Made(Box::new(message)), own_thoughts }
    }

    /// The message.
    #[must_use]
    pub fn message(&self) -> &Message {
        match &self.body {
            Body::Kept(entry) => entry.message(),
            Body::Shared(entry) => entry.message(),
            Body::Made(message) => message,
        }
    }

    /// Whether its thoughts and signatures go back to the vendor that is asked. Without meaning for
    /// messages that are not the model's.
    #[must_use]
    pub fn own_thoughts(&self) -> bool {
        self.own_thoughts
    }

    /// The bytes that `encode` makes of the message, kept for the next request if the message is
    /// one of the history. `form` names what the bytes depend on besides the message.
    pub fn encoded(&self, form: &'static str, encode: impl FnOnce(&Message) -> Bytes) -> Bytes {
        match &self.body {
            Body::Kept(entry) => entry.encoded(form, encode),
            Body::Shared(entry) => entry.encoded(form, encode),
            Body::Made(message) => encode(message),
        }
    }
}
