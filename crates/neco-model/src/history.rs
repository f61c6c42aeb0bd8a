//! The conversation as shared, append-only segments.
//!
//! A request of turn 200 must not copy the 199 turns before it, and a wire must not serialise them
//! again. So a message is stored once behind an [`Arc`], together with the bytes a wire made of it.

use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use neco_proto::Message;

/// Entries per sealed segment: cloning a history copies one pointer a segment and at most this many more.
const SEGMENT: usize = 64;

/// One message and what a wire made of it.
#[derive(Debug)]
pub struct Entry {
    message: Message,
    /// Two places: a session that changes the wire once pays for the change once.
    encoded: [OnceLock<(&'static str, Bytes)>; 2],
    /// What is sent in its place, and what is sent after it, where a vendor takes neither as it is.
    in_place: OnceLock<Arc<Entry>>,
    after: OnceLock<Arc<Entry>>,
}

impl Entry {
    fn new(message: Message) -> Self {
        Self { message, encoded: Default::default(), in_place: OnceLock::new(), after: OnceLock::new() }
    }

    /// An entry that is sent in place of this one: the one that was made before if it still `fits`,
    /// else what `make` gives. So a message that has to be changed is changed, copied and serialised
    /// once, and not for each request.
    pub(crate) fn in_place(&self, fits: impl FnOnce(&Message) -> bool, make: impl FnOnce() -> Message) -> Arc<Entry> {
        kept_or_made(&self.in_place, fits, make)
    }

    /// The same for an entry that is sent after this one.
    pub(crate) fn after(&self, fits: impl FnOnce(&Message) -> bool, make: impl FnOnce() -> Message) -> Arc<Entry> {
        kept_or_made(&self.after, fits, make)
    }

    /// The message.
    pub fn message(&self) -> &Message {
        &self.message
    }

    /// The bytes that `encode` makes of the message, kept for the next request. The first two
    /// forms that are asked for get a place; others are made anew each time, which only costs after
    /// several switches of wires in one session.
    pub fn encoded(&self, form: &'static str, encode: impl FnOnce(&Message) -> Bytes) -> Bytes {
        for place in &self.encoded {
            match place.get() {
                Some((kept, bytes)) if *kept == form => return bytes.clone(),
                Some(_) => {}
                None => {
                    let bytes = encode(&self.message);
                    // Losing the race to another thread is fine: it made the same bytes or those
                    // of another form.
                    let _ = place.set((form, bytes.clone()));
                    return bytes;
                }
            }
        }
        encode(&self.message)
    }
}

/// What no longer fits stays where it is: a history that is made fit for several vendors in turn is
/// made anew for all but the first.
fn kept_or_made(
    place: &OnceLock<Arc<Entry>>,
    fits: impl FnOnce(&Message) -> bool,
    make: impl FnOnce() -> Message,
) -> Arc<Entry> {
    match place.get() {
        Some(kept) if fits(kept.message()) => Arc::clone(kept),
        Some(_) => Arc::new(Entry::new(make())),
        None => {
            let made = Arc::new(Entry::new(make()));
            // Losing the race to another thread is fine.
            let _ = place.set(Arc::clone(&made));
            made
        }
    }
}

/// An append-only list of messages that is cheap to clone.
#[derive(Clone, Debug, Default)]
pub struct History {
    sealed: Vec<Arc<[Arc<Entry>]>>,
    tail: Vec<Arc<Entry>>,
}

impl History {
    /// Adds a message at the end.
    pub fn push(&mut self, message: Message) {
        self.add(Arc::new(Entry::new(message)));
    }

    /// Adds an entry of another history at the end, with the bytes that were made of it.
    pub fn push_shared(&mut self, entry: &Arc<Entry>) {
        self.add(Arc::clone(entry));
    }

    fn add(&mut self, entry: Arc<Entry>) {
        self.tail.push(entry);
        if self.tail.len() == SEGMENT {
            self.sealed.push(std::mem::take(&mut self.tail).into());
        }
    }

    /// Oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Entry> {
        self.shared().map(Arc::as_ref)
    }

    /// The same, to be shared with another history.
    pub fn shared(&self) -> impl DoubleEndedIterator<Item = &Arc<Entry>> {
        self.sealed.iter().flat_map(|segment| segment.iter()).chain(&self.tail)
    }

    /// How many messages.
    pub fn len(&self) -> usize {
        self.sealed.len() * SEGMENT + self.tail.len()
    }

    /// Whether nothing was said yet.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The newest message.
    pub fn last(&self) -> Option<&Message> {
        self.iter().next_back().map(Entry::message)
    }
}

impl FromIterator<Message> for History {
    fn from_iter<I: IntoIterator<Item = Message>>(messages: I) -> Self {
        let mut history = Self::default();
        for message in messages {
            history.push(message);
        }
        history
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_and_length_hold_across_segments() {
        let history: History = (0..200).map(|n| Message::user(n.to_string())).collect();
        assert_eq!(history.len(), 200);
        let texts: Vec<String> = history.iter().map(|entry| entry.message().text()).collect();
        assert_eq!(texts, (0..200).map(|n| n.to_string()).collect::<Vec<_>>());
        assert_eq!(history.last().map(Message::text), Some("199".to_owned()));
    }

    #[test]
    fn bytes_are_made_once_for_the_first_two_forms() {
        let history: History = [Message::user("a")].into_iter().collect();
        let entry = history.iter().next().unwrap();
        assert_eq!(entry.encoded("one", |_| Bytes::from_static(b"1")), "1");
        assert_eq!(entry.encoded("one", |_| panic!("encoded twice")), "1");
        assert_eq!(entry.encoded("two", |_| Bytes::from_static(b"2")), "2");
        assert_eq!(entry.encoded("two", |_| panic!("encoded twice")), "2");
        assert_eq!(entry.encoded("three", |_| Bytes::from_static(b"3")), "3");
    }
}
