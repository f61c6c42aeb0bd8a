//! A message as it goes to a vendor.

use std::sync::Arc;

use bytes::Bytes;
use neco_proto::Message;

use super::taker::Kin;
use crate::history::Entry;

/// A message as it goes to a vendor: one of the history, or one made in its place.
#[derive(Debug)]
pub struct Sent<'a> {
    body: Body<'a>,
    kin: Kin,
}

#[derive(Debug)]
enum Body<'a> {
    Kept(&'a Entry),
    /// Made once and kept at the entry that it stands for.
    Shared(Arc<Entry>),
    Made(Box<Message>),
}

impl<'a> Sent<'a> {
    pub(super) fn kept(entry: &'a Entry, kin: Kin) -> Self {
        Self { body: Body::Kept(entry), kin }
    }

    pub(super) fn shared(entry: Arc<Entry>, kin: Kin) -> Self {
        Self { body: Body::Shared(entry), kin }
    }

    pub(super) fn made(message: Message, kin: Kin) -> Self {
        Self { body: Body::Made(Box::new(message)), kin }
    }

    /// The message.
    pub fn message(&self) -> &Message {
        match &self.body {
            Body::Kept(entry) => entry.message(),
            Body::Shared(entry) => entry.message(),
            Body::Made(message) => message,
        }
    }

    /// What its author is to the model that is asked. Without meaning for messages that are not a
    /// model's.
    pub fn kin(&self) -> Kin {
        self.kin
    }

    /// Whether its signatures and encrypted thoughts go back: they do to their author.
    pub fn own_thoughts(&self) -> bool {
        self.kin == Kin::Author
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
