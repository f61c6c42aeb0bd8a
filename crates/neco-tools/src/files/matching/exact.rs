//! The text as it is, and the text with other line endings.

use memchr::memmem;

use super::apply::{Edited, Fit, Place, Places, Replacement};
use super::lines::{is_crlf_at, with_endings_of};
use crate::files::text::{with_crlf, with_lf};

/// Every place that holds `old` exactly, overlapping ones too: any of them could be meant.
pub(super) fn find(content: &[u8], old: &str, new: &str) -> Places {
    let mut places = Places::default();
    for start in occurrences(content, old.as_bytes()) {
        let range = start..start + old.len();
        places.add(|| Place { new: adapted(content, &range, new), range: range.clone() });
    }
    places
}

/// Replaces every occurrence, from left to right.
pub(super) fn replace_all(content: &[u8], replacement: &Replacement<'_>) -> Option<Edited> {
    let mut result = Vec::with_capacity(content.len());
    let (mut count, mut done) = (0, 0);
    for start in memmem::find_iter(content, replacement.old.as_bytes()) {
        let range = start..start + replacement.old.len();
        result.extend_from_slice(content.get(done..start)?);
        result.extend_from_slice(&adapted(content, &range, replacement.new));
        done = range.end;
        count += 1;
    }
    result.extend_from_slice(content.get(done..)?);
    (count > 0).then_some(Edited { content: result, fit: Fit::Exact, count })
}

/// Every place that holds `old` when CRLF and LF count as the same.
pub(super) fn find_with_any_line_ending(content: &[u8], old: &str, new: &str) -> Places {
    let mut places = Places::default();
    if !old.contains('\n') {
        return places;
    }
    let plain = Plain::of(content);
    let old = with_lf(old.as_bytes());
    for start in occurrences(&plain.text, &old) {
        let range = plain.offset(start)..plain.offset(start + old.len());
        places.add(|| Place { new: with_endings_of(content, &range, new.as_bytes()), range: range.clone() });
    }
    places
}

/// The new text as the model wrote it, but not with bare newlines among CRLF lines.
fn adapted(content: &[u8], range: &std::ops::Range<usize>, new: &str) -> Vec<u8> {
    if new.contains('\n') && is_crlf_at(content, range) { with_crlf(new.as_bytes()) } else { new.as_bytes().to_vec() }
}

fn occurrences<'a>(content: &'a [u8], wanted: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let finder = memmem::Finder::new(wanted);
    let mut from = 0;
    std::iter::from_fn(move || {
        let found = from + finder.find(content.get(from..)?)?;
        from = found + 1;
        Some(found)
    })
}

/// A content with LF line endings, and the way back.
struct Plain {
    text: Vec<u8>,
    /// For each CR left out, where its newline is in `text`.
    left_out: Vec<usize>,
}

impl Plain {
    fn of(content: &[u8]) -> Self {
        let mut left_out = Vec::new();
        let mut text = Vec::with_capacity(content.len());
        for (at, &byte) in content.iter().enumerate() {
            if byte == b'\r' && content.get(at + 1) == Some(&b'\n') {
                left_out.push(text.len());
            } else {
                text.push(byte);
            }
        }
        Self { text, left_out }
    }

    /// Where an offset of `text` is in the content; that of a newline is where its CRLF begins.
    fn offset(&self, at: usize) -> usize {
        at + self.left_out.partition_point(|newline| *newline < at)
    }
}
