//! Lines of files of any size, with a memory that does not grow with them.

use std::io::{self, Read, Seek, SeekFrom};

use super::text::Form;

/// Bytes read at once.
const BLOCK: usize = 256 * 1024;
/// Bytes of one line that are kept; the rest is counted.
const KEPT: usize = 8 * 1024;

/// Reads lines from the start of `source` on.
pub struct LineReader<R> {
    source: R,
    block: Vec<u8>,
    /// The part of the block that was not used yet.
    from: usize,
    to: usize,
    /// Bytes used so far.
    offset: u64,
    stop: Box<dyn Fn() -> bool + Send>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Line {
    /// Its beginning, without the line ending.
    pub text: Vec<u8>,
    /// Bytes it has in all, without the line ending.
    pub length: u64,
    /// Whether a newline ends it.
    pub ended: bool,
}

impl<R: Read> LineReader<R> {
    /// A reader that gives up with [`io::ErrorKind::Interrupted`] as soon as `stop` says so.
    pub fn new(source: R, stop: impl Fn() -> bool + Send + 'static) -> Self {
        Self { source, block: vec![0; BLOCK], from: 0, to: 0, offset: 0, stop: Box::new(stop) }
    }

    /// Bytes used so far.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Skips up to `count` lines and says how many there were.
    pub fn skip(&mut self, count: u64) -> io::Result<u64> {
        let mut skipped = 0;
        let mut inside = false;
        while skipped < count && self.fill()? {
            let rest = self.rest();
            let newlines = memchr::memchr_iter(b'\n', rest).count() as u64;
            if newlines <= count - skipped {
                skipped += newlines;
                // What follows the last newline belongs to a line that is to be skipped too.
                let complete = skipped == count;
                let used = if complete { memchr::memrchr(b'\n', rest).map_or(0, |at| at + 1) } else { rest.len() };
                inside = !complete && !rest.ends_with(b"\n");
                self.advance(used);
            } else {
                let last = usize::try_from(count - skipped - 1).unwrap_or(usize::MAX);
                let used = memchr::memchr_iter(b'\n', rest).nth(last).map_or(rest.len(), |at| at + 1);
                self.advance(used);
                return Ok(count);
            }
        }
        Ok(skipped + u64::from(inside))
    }

    /// The next line; `None` at the end.
    pub fn next_line(&mut self, line: &mut Line) -> io::Result<bool> {
        line.text.clear();
        (line.length, line.ended) = (0, false);
        let mut any = false;
        while !line.ended && self.fill()? {
            any = true;
            let rest = self.rest();
            let newline = memchr::memchr(b'\n', rest);
            let piece = rest.get(..newline.unwrap_or(rest.len())).unwrap_or_default();
            let room = KEPT.saturating_sub(line.text.len()).min(piece.len());
            line.text.extend_from_slice(piece.get(..room).unwrap_or_default());
            line.length += piece.len() as u64;
            line.ended = newline.is_some();
            let used = piece.len() + usize::from(line.ended);
            self.advance(used);
        }
        Ok(any)
    }

    /// Whether there is something left.
    pub fn fill(&mut self) -> io::Result<bool> {
        while self.from == self.to {
            if (self.stop)() {
                return Err(io::Error::new(io::ErrorKind::Interrupted, "cancelled"));
            }
            match self.source.read(&mut self.block) {
                Ok(0) => return Ok(false),
                Ok(read) => (self.from, self.to) = (0, read),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(true)
    }

    fn rest(&self) -> &[u8] {
        self.block.get(self.from..self.to).unwrap_or_default()
    }

    fn advance(&mut self, used: usize) {
        self.from += used;
        self.offset += used as u64;
    }
}

/// Where the last `count` lines of a source of `size` bytes begin, read from its end, and how many
/// lines that are.
pub fn start_of_last(
    source: &mut (impl Read + Seek),
    size: u64,
    count: u64,
    stop: &dyn Fn() -> bool,
) -> io::Result<(u64, u64)> {
    let mut block = vec![0; BLOCK];
    let mut end = size;
    let mut found = 0;
    while end > 0 {
        if stop() {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "cancelled"));
        }
        let length = end.min(BLOCK as u64);
        let start = end - length;
        let part = block.get_mut(..usize::try_from(length).unwrap_or(BLOCK)).unwrap_or_default();
        source.seek(SeekFrom::Start(start))?;
        source.read_exact(part)?;
        for at in memchr::memrchr_iter(b'\n', part) {
            let next_line = start + at as u64 + 1;
            // The newline at the very end ends the last line, it does not begin one.
            if next_line == size {
                continue;
            }
            found += 1;
            if found == count {
                return Ok((next_line, count));
            }
        }
        end = start;
    }
    Ok((0, if size == 0 { 0 } else { found + 1 }))
}

/// UTF-16 read as UTF-8.
pub struct Utf16Reader<R> {
    source: R,
    form: Form,
    raw: Vec<u8>,
    /// Bytes at the start of `raw` that wait for their other half.
    waiting: usize,
    out: Vec<u8>,
    given: usize,
}

impl<R: Read> Utf16Reader<R> {
    /// Reads `source`, which stands behind its byte order mark, in `form`.
    pub fn new(source: R, form: Form) -> Self {
        Self { source, form, raw: vec![0; 64 * 1024], waiting: 0, out: Vec::new(), given: 0 }
    }

    fn refill(&mut self) -> io::Result<()> {
        self.out.clear();
        self.given = 0;
        let read = self.source.read(self.raw.get_mut(self.waiting..).unwrap_or_default())?;
        let have = self.waiting + read;
        let raw = self.raw.get(..have).unwrap_or_default();
        let mut usable = if read == 0 { have } else { have - have % 2 };
        // Half of a pair waits for the other half, unless there is none.
        let last = raw.get(usable.saturating_sub(2)..usable).map(|unit| self.form.unit(unit));
        if read > 0 && last.is_some_and(|unit| (0xd800..0xdc00).contains(&unit)) {
            usable -= 2;
        }
        let units = raw.get(..usable).unwrap_or_default().chunks(2).map(|unit| self.form.unit(unit));
        let mut buffer = [0; 4];
        for character in char::decode_utf16(units) {
            let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
            self.out.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
        }
        self.raw.copy_within(usable..have, 0);
        self.waiting = have - usable;
        Ok(())
    }
}

impl<R: Read> Read for Utf16Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.given == self.out.len() {
            let waiting = self.waiting;
            self.refill()?;
            if self.out.is_empty() && self.waiting == waiting {
                return Ok(0);
            }
        }
        let rest = self.out.get(self.given..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        let (to, from) = (buffer.get_mut(..count).unwrap_or_default(), rest.get(..count).unwrap_or_default());
        to.copy_from_slice(from);
        self.given += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;

    use super::*;
    use crate::files::text::Encoding;

    fn all_lines(bytes: &[u8], skip: u64) -> (u64, Vec<String>) {
        let mut reader = LineReader::new(bytes, || false);
        let skipped = reader.skip(skip).unwrap();
        let (mut lines, mut line) = (Vec::new(), Line::default());
        while reader.next_line(&mut line).unwrap() {
            lines.push(String::from_utf8_lossy(&line.text).into_owned());
        }
        assert_eq!(reader.offset(), bytes.len() as u64);
        (skipped, lines)
    }

    #[test]
    fn lines_are_skipped_and_read() {
        assert_eq!(all_lines(b"a\nb\nc", 1), (1, vec!["b".to_owned(), "c".to_owned()]));
        assert_eq!(all_lines(b"a\nb\nc", 3), (3, vec![]));
        assert_eq!(all_lines(b"a\nb\n", 9), (2, vec![]));
        assert_eq!(all_lines(b"", 9), (0, vec![]));
        assert_eq!(all_lines(b"\n\n", 1), (1, vec![String::new()]));
    }

    #[test]
    fn a_line_longer_than_a_block_is_kept_in_part() {
        let long = [vec![b'x'; 3 * BLOCK], b"\nend".to_vec()].concat();
        let mut reader = LineReader::new(long.as_slice(), || false);
        let mut line = Line::default();
        assert!(reader.next_line(&mut line).unwrap());
        assert_eq!((line.text.len(), line.length, line.ended), (KEPT, 3 * BLOCK as u64, true));
        assert_eq!(all_lines(&long, 1), (1, vec!["end".to_owned()]));
    }

    #[test]
    fn reading_stops_when_told() {
        let mut reader = LineReader::new(&b"a\nb"[..], || true);
        assert_eq!(reader.skip(1).unwrap_err().kind(), io::ErrorKind::Interrupted);
    }

    proptest! {
        #[test]
        fn the_end_is_found_from_behind(text in "([ab]?\n){0,20}[ab]?", count in 1_u64..12) {
            let lines: Vec<&str> = text.split_inclusive('\n').collect();
            let (start, found) = start_of_last(&mut Cursor::new(&text), text.len() as u64, count, &|| false).unwrap();
            let expected = lines.len().min(count as usize);
            prop_assert_eq!(found as usize, expected);
            prop_assert_eq!(&text[start as usize..], lines[lines.len() - expected..].concat());
        }

        #[test]
        fn utf16_comes_out_as_utf8_however_it_comes_in(text in any::<String>(), step in 1_usize..7, big in any::<bool>()) {
            struct Slow<'a>(&'a [u8], usize);
            impl Read for Slow<'_> {
                fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                    let count = self.1.min(self.0.len()).min(buffer.len());
                    buffer[..count].copy_from_slice(&self.0[..count]);
                    self.0 = &self.0[count..];
                    Ok(count)
                }
            }
            let form = Form { encoding: if big { Encoding::Utf16Be } else { Encoding::Utf16Le }, mark: false };
            let bytes = form.encode(text.as_bytes());
            let mut out = String::new();
            Utf16Reader::new(Slow(&bytes, step), form).read_to_string(&mut out).unwrap();
            prop_assert_eq!(out, text);
        }
    }
}
