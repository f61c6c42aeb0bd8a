//! The bytes that are kept of a message, some of which are only for the model that wrote it.
//!
//! Signatures and encrypted thoughts go back to their author and to nobody else. The bytes for all
//! cases are kept in one form, `bytes ‖ spans ‖ number of spans`, so that a switch of models
//! serialises nothing again.

use bytes::Bytes;
use neco_proto::Message;
use serde::Serialize;

use crate::adapt::Sent;

const NUMBER: usize = size_of::<u64>();

/// Who a span is for, or who reads: a set of kinds of readers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct For(u8);

impl For {
    /// The model that wrote the message.
    pub(super) const AUTHOR: Self = Self(1);
    /// Every other model.
    pub(super) const OTHERS: Self = Self(2);
    /// Who may read plain thoughts.
    pub(super) const PLAIN: Self = Self(4);
    /// Who may read signed thoughts.
    pub(super) const SIGNED: Self = Self(8);

    /// Both.
    pub(super) const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

/// Bytes that are being written.
#[derive(Default)]
pub(super) struct Kept {
    bytes: Vec<u8>,
    spans: Vec<Span>,
}

#[derive(Clone, Copy)]
struct Span {
    start: usize,
    end: usize,
    who: For,
}

impl Kept {
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Adds a value as JSON. Our own values always have a JSON form.
    pub(super) fn add_json(&mut self, value: &impl Serialize) {
        self.bytes.extend(serde_json::to_vec(value).unwrap_or_default());
    }

    /// What `write` adds is only for `who`. Not for use inside of itself.
    pub(super) fn only_for(&mut self, who: For, write: impl FnOnce(&mut Self)) {
        let start = self.bytes.len();
        write(self);
        self.spans.push(Span { start, end: self.bytes.len(), who });
    }

    /// The form that is kept.
    pub(super) fn finish(self) -> Bytes {
        let Self { mut bytes, spans } = self;
        for Span { start, end, who } in &spans {
            for number in [*start as u64, *end as u64, u64::from(who.0)] {
                bytes.extend(number.to_le_bytes());
            }
        }
        bytes.extend((spans.len() as u64).to_le_bytes());
        // They are kept as long as the conversation is: nothing is kept beside them.
        bytes.into_boxed_slice().into()
    }
}

/// Whether something in `kept` is only for some, and `reader` among them.
pub(super) fn has_for(kept: &Bytes, reader: For) -> bool {
    spans(kept).is_some_and(|(_, mut spans)| spans.any(|span| span.who.meets(reader) && span.start < span.end))
}

/// The pieces of `kept` that go to `reader`.
pub(super) fn add_pieces(kept: &Bytes, reader: For, pieces: &mut Vec<Bytes>) {
    let Some((end, spans)) = spans(kept) else { return };
    let mut from = 0;
    for span in spans.filter(|span| !span.who.meets(reader)) {
        add_slice(kept, from, span.start, pieces);
        from = span.end;
    }
    add_slice(kept, from, end, pieces);
}

/// A request that ends with the list of its messages, of which `encode` gives the form that is kept; it is also told
/// what stands before each.
pub(super) fn list<'a>(
    head: Bytes,
    conversation: &'a [Sent<'a>],
    encode: impl Fn(&Sent<'a>, Option<&'a Message>) -> Bytes,
) -> Vec<Bytes> {
    let mut pieces = Vec::with_capacity(conversation.len() + 2);
    pieces.push(head);
    let mut before = None;
    for sent in conversation {
        add_pieces(&encode(sent, before), if sent.own_thoughts() { For::AUTHOR } else { For::OTHERS }, &mut pieces);
        before = Some(sent.message());
    }
    // Every message begins with the comma that separates it from the one before.
    if let Some(first) = pieces.get_mut(1) {
        *first = first.slice(1..);
    }
    pieces.push(Bytes::from_static(b"]}"));
    pieces
}

fn add_slice(kept: &Bytes, from: usize, to: usize, pieces: &mut Vec<Bytes>) {
    if from < to && to <= kept.len() {
        pieces.push(kept.slice(from..to));
    }
}

/// Where the bytes end, and the spans in them.
fn spans(kept: &[u8]) -> Option<(usize, impl Iterator<Item = Span>)> {
    let (rest, count) = kept.split_last_chunk::<NUMBER>()?;
    let size = usize::try_from(u64::from_le_bytes(*count)).ok()?.checked_mul(3 * NUMBER)?;
    let end = rest.len().checked_sub(size)?;
    let (numbers, _) = rest.get(end..)?.as_chunks::<NUMBER>();
    let spans = numbers.chunks_exact(3).filter_map(|numbers| {
        let number = |at: usize| numbers.get(at).map(|bytes| u64::from_le_bytes(*bytes));
        Some(Span {
            start: usize::try_from(number(0)?).ok()?,
            end: usize::try_from(number(1)?).ok()?,
            who: For(u8::try_from(number(2)?).ok()?),
        })
    });
    Some((end, spans))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(kept: &Bytes, reader: For) -> String {
        let mut pieces = Vec::new();
        add_pieces(kept, reader, &mut pieces);
        String::from_utf8(pieces.concat()).unwrap()
    }

    proptest! {
        #[test]
        fn everyone_gets_what_is_for_everyone_and_for_him(texts in prop::collection::vec(("[a-z]{0,4}", 0..3), 0..8)) {
            let (mut kept, mut author, mut others) = (Kept::default(), String::new(), String::new());
            for (text, who) in &texts {
                match who {
                    0 => kept.add(text.as_bytes()),
                    1 => kept.only_for(For::AUTHOR, |kept| kept.add(text.as_bytes())),
                    _ => kept.only_for(For::OTHERS, |kept| kept.add(text.as_bytes())),
                }
                author.push_str(if *who == 2 { "" } else { text });
                others.push_str(if *who == 1 { "" } else { text });
            }
            let kept = kept.finish();
            prop_assert_eq!(read(&kept, For::AUTHOR), author);
            prop_assert_eq!(read(&kept, For::OTHERS), others);
        }
    }

    #[test]
    fn bytes_that_are_nothing_of_the_kind_give_nothing() {
        for bytes in [&b""[..], b"1234567", &[0xff; 8], &[0xff; 40]] {
            assert_eq!(read(&Bytes::copy_from_slice(bytes), For::AUTHOR), "");
        }
    }
}
