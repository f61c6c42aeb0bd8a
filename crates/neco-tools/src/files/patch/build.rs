//! The new content of a file whose hunks have their places.

use super::find::{Reading, Spot};
use super::hunk::{Hunk, Side};
use crate::files::matching::{Endings, Lines, MOST_BYTES, write_out};

/// The content with every hunk at its place; `None` when it would become too long.
pub fn content(old: &[u8], lines: &Lines, mut placed: Vec<(&Hunk, Spot)>) -> Option<Vec<u8>> {
    // Two insertions at one place stay in the order of the patch: the sort is stable.
    placed.sort_by_key(|(_, spot)| spot.first);
    let mut built = Built { old, lines, bytes: Vec::with_capacity(old.len()), ending: None };
    let mut at = 0;
    for (hunk, spot) in &placed {
        built.copy(at, spot.first);
        built.hunk(hunk, spot);
        at = spot.first + spot.count;
        if built.bytes.len() > MOST_BYTES {
            return None;
        }
    }
    built.copy(at, lines.len());
    let last = placed.last().filter(|(_, spot)| spot.first + spot.count == lines.len());
    if let Some((hunk, _)) = last {
        built.end(hunk);
    }
    (built.bytes.len() <= MOST_BYTES).then_some(built.bytes)
}

struct Built<'a> {
    old: &'a [u8],
    lines: &'a Lines,
    bytes: Vec<u8>,
    /// How long the line ending at the end is, once there is a line.
    ending: Option<usize>,
}

impl Built<'_> {
    fn copy(&mut self, from: usize, to: usize) {
        for line in self.lines.get(from..to) {
            self.push(self.old.get(line.start..line.next).unwrap_or_default(), line.next - line.end, b"\n");
        }
    }

    fn hunk(&mut self, hunk: &Hunk, spot: &Spot) {
        let start = self.lines.get(spot.first..spot.first + 1).first().map_or(self.old.len(), |line| line.start);
        let crlf = Endings::of(self.old).is_crlf_at(start);
        let mut at = spot.first;
        for line in &hunk.lines {
            match line.side {
                Side::Both => {
                    self.copy(at, at + 1);
                    at += 1;
                }
                Side::Old => at += 1,
                Side::New => {
                    let (text, crlf) = self.adapted(&line.text, spot, crlf);
                    let ending: &[u8] = if crlf { b"\r\n" } else { b"\n" };
                    self.push(&[text.as_bytes(), ending].concat(), ending.len(), ending);
                }
            }
        }
    }

    /// Adds a line; what is before it must have ended.
    fn push(&mut self, line: &[u8], ending_length: usize, ending: &[u8]) {
        if self.ending == Some(0) {
            self.bytes.extend_from_slice(ending);
        }
        self.bytes.extend_from_slice(line);
        self.ending = Some(ending_length);
    }

    /// The end of the file, where a hunk has it: as the hunk says, else as it was.
    fn end(&mut self, hunk: &Hunk) {
        let was_ended = self.old.is_empty() || self.old.ends_with(b"\n");
        let wanted = if hunk.new_unended { false } else { hunk.old_unended || was_ended };
        let crlf = Endings::of(self.old).is_crlf_at(self.old.len());
        match self.ending {
            Some(0) if wanted => self.bytes.extend_from_slice(if crlf { b"\r\n" } else { b"\n" }),
            Some(length) if !wanted => self.bytes.truncate(self.bytes.len() - length),
            Some(_) | None => {}
        }
    }

    /// A new line as it fits its place, and whether it ends with CRLF there.
    fn adapted(&self, text: &str, spot: &Spot, crlf: bool) -> (String, bool) {
        let plain = text.strip_suffix('\r').unwrap_or(text);
        match &spot.reading {
            // Every byte was as the patch has it, so the patch knows the line endings too.
            Reading::Exact if spot.count > 0 || self.old.is_empty() => (text.to_owned(), false),
            Reading::Exact | Reading::LineEndings | Reading::TrailingSpace => (plain.to_owned(), crlf),
            Reading::Shifted(shift) => (shift.apply(plain), crlf),
            Reading::Escaped(kinds) => (write_out(plain, |kind| kinds.contains(&kind)), crlf),
        }
    }
}
