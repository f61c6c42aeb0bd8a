//! The text as it is, and the text with other line endings.

use memchr::memmem;

use super::apply::{Edited, Fit, MOST_BYTES, Misfit, Place, Places, Replacement, Stop};
use super::lines::{Endings, with_endings_of};
use crate::files::text::{with_crlf, with_lf};

/// How many replacements are made between two looks at whether to stop.
const LOOK_AFTER: usize = 4096;

/// Every place that holds `old` exactly, overlapping ones too: any of them could be meant.
pub(super) fn find(content: &[u8], old: &str, new: &str) -> Places {
    let mut places = Places::default();
    for start in occurrences(content, old.as_bytes()) {
        places.add(start, || Place { range: start..start + old.len(), new: adapted(content, start, new) });
        if places.is_full() {
            break;
        }
    }
    places
}

/// Replaces every occurrence, from left to right; `None` when there is none.
pub(super) fn replace_all(
    content: &[u8],
    replacement: &Replacement<'_>,
    stop: &Stop<'_>,
) -> Result<Option<Edited>, Misfit> {
    let (old, new) = (replacement.old.as_bytes(), replacement.new.as_bytes());
    let (crlf, lf) = (with_crlf(new), with_lf(new));
    let adapts = crlf.len() != lf.len() && memchr::memchr(b'\n', content).is_some();
    let mut result = Vec::with_capacity(content.len());
    let mut endings = Endings::of(content);
    let (mut count, mut done) = (0, 0);
    for start in memmem::find_iter(content, old) {
        if count % LOOK_AFTER == 0 && stop() {
            return Err(Misfit::Stopped);
        }
        result.extend_from_slice(content.get(done..start).unwrap_or_default());
        result.extend_from_slice(match adapts {
            false => new,
            true if endings.is_crlf_at(start) => &crlf,
            true => &lf,
        });
        if result.len() > MOST_BYTES {
            return Err(Misfit::TooLong);
        }
        done = start + old.len();
        count += 1;
    }
    result.extend_from_slice(content.get(done..).unwrap_or_default());
    Ok((count > 0).then_some(Edited { content: result, fit: Fit::Exact, count }))
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
        places
            .add(range.start, || Place { new: with_endings_of(content, &range, new.as_bytes()), range: range.clone() });
        if places.is_full() {
            break;
        }
    }
    places
}

/// The new text with the line endings of its place; where the content has none, as the model wrote it.
fn adapted(content: &[u8], start: usize, new: &str) -> Vec<u8> {
    match new.contains('\n') && memchr::memchr(b'\n', content).is_some() {
        true => with_endings_of(content, &(start..start), new.as_bytes()),
        false => new.as_bytes().to_vec(),
    }
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
