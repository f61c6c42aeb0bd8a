//! Lines of a file and of the text to be found, and the line endings at a place.

use std::ops::Range;

use crate::files::text::{with_crlf, with_lf};

/// Where the lines of a content are.
#[derive(Debug)]
pub(in crate::files) struct Lines {
    lines: Vec<Line>,
}

#[derive(Clone, Copy, Debug)]
pub(in crate::files) struct Line {
    pub start: usize,
    /// Where its text ends and its line ending begins.
    pub end: usize,
    /// Where the next line begins.
    pub next: usize,
}

impl Lines {
    pub fn of(content: &[u8]) -> Self {
        let mut lines = Vec::new();
        let mut start = 0;
        for newline in memchr::memchr_iter(b'\n', content) {
            let end = if newline > start && content.get(newline - 1) == Some(&b'\r') { newline - 1 } else { newline };
            lines.push(Line { start, end, next: newline + 1 });
            start = newline + 1;
        }
        if start < content.len() {
            lines.push(Line { start, end: content.len(), next: content.len() });
        }
        Self { lines }
    }

    pub fn len(&self) -> usize {
        self.lines.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &Line> {
        self.lines.iter()
    }

    /// Every run of `count` lines, with the index of its first.
    pub fn windows(&self, count: usize) -> impl Iterator<Item = (usize, &[Line])> {
        self.lines.windows(count.max(1)).enumerate()
    }

    pub fn get(&self, range: Range<usize>) -> &[Line] {
        self.lines.get(range).unwrap_or_default()
    }
}

impl Line {
    /// Its text without the line ending.
    pub fn text<'a>(&self, content: &'a [u8]) -> &'a [u8] {
        content.get(self.start..self.end).unwrap_or_default()
    }

    pub fn has_ending(&self) -> bool {
        self.next > self.end
    }
}

/// The text to be found, as lines.
#[derive(Debug)]
pub(in crate::files) struct OldText<'a> {
    /// Its lines without their endings.
    pub lines: Vec<&'a [u8]>,
    /// Whether its last line has an ending.
    pub ends_with_newline: bool,
}

impl<'a> OldText<'a> {
    pub fn of(old: &'a str) -> Self {
        let mut lines: Vec<&[u8]> =
            old.split('\n').map(|line| line.strip_suffix('\r').unwrap_or(line).as_bytes()).collect();
        let ends_with_newline = old.ends_with('\n');
        if ends_with_newline {
            lines.pop();
        }
        Self { lines, ends_with_newline }
    }

    /// Whether it says enough to be searched for loosely: brackets alone are everywhere.
    pub fn has_words(&self) -> bool {
        self.lines.iter().any(|line| line.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte >= 0x80))
    }
}

/// The lines, counted from one, that offsets in ascending order lie in.
pub(super) fn line_numbers(content: &[u8], offsets: &[usize]) -> Vec<usize> {
    let (mut line, mut from) = (1, 0);
    let mut number = |offset: usize| {
        line += memchr::memchr_iter(b'\n', content.get(from..offset).unwrap_or_default()).count();
        from = from.max(offset);
        line
    };
    offsets.iter().map(|offset| number(*offset)).collect()
}

/// Says how lines end, for places in ascending order: each line ending is looked for once.
#[derive(Debug)]
pub(in crate::files) struct Endings<'a> {
    content: &'a [u8],
    /// Where was looked from last, and the line ending that decides from there on.
    known: Option<(usize, Option<usize>)>,
}

impl<'a> Endings<'a> {
    pub fn of(content: &'a [u8]) -> Self {
        Self { content, known: None }
    }

    /// Whether lines at a place end with CRLF: the first line ending at or after its start says so,
    /// else the last one before it.
    pub fn is_crlf_at(&mut self, start: usize) -> bool {
        let newline = match self.known {
            // A line ending before where was looked from is the last one there is.
            Some((from, newline)) if from <= start && newline.is_none_or(|at| at >= start || at < from) => newline,
            Some(_) | None => {
                let (before, after) = self.content.split_at_checked(start).unwrap_or((self.content, b""));
                let next = memchr::memchr(b'\n', after).map(|at| start + at);
                let newline = next.or_else(|| memchr::memrchr(b'\n', before));
                self.known = Some((start, newline));
                newline
            }
        };
        newline.is_some_and(|at| at > 0 && self.content.get(at - 1) == Some(&b'\r'))
    }
}

/// The text with the line endings of a place.
pub(super) fn with_endings_of(content: &[u8], place: &Range<usize>, text: &[u8]) -> Vec<u8> {
    if Endings::of(content).is_crlf_at(place.start) { with_crlf(text) } else { with_lf(text) }
}

/// Without white space at its end.
pub(in crate::files) fn trim_end(line: &[u8]) -> &[u8] {
    line.trim_ascii_end()
}
