//! Server-sent events, cut out of bytes as they come.
//!
//! Lines end in LF, CRLF or CR, and a chunk may end anywhere, even between CR and LF or in the
//! middle of a character. Every byte is looked at once; a line or an event that never ends is an
//! error rather than a growing buffer.

use serde::Deserialize;

use crate::wire::format::Problem;

/// The longest line and the longest event that are accepted.
pub const LIMIT: usize = 8 * 1024 * 1024;

const BOM: &[u8] = b"\xef\xbb\xbf";

/// One event. Only what model vendors use: its name and its data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// The `event` field; empty when there was none.
    pub name: &'a [u8],
    /// The `data` lines, joined by line feeds.
    pub data: &'a [u8],
}

impl<'a> Event<'a> {
    /// Reads the object that the data is; servers also send pings, blanks and end marks of their own, which say nothing.
    pub(super) fn object<T: Deserialize<'a>>(&self) -> Result<Option<T>, Problem> {
        let data = self.data.trim_ascii();
        if data.first() != Some(&b'{') {
            return Ok(None);
        }
        serde_json::from_slice(data).map(Some).map_err(|error| Problem::unreadable(data, &error))
    }
}

/// A line or an event is longer than any real one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an event of the stream is longer than {LIMIT} bytes")]
pub struct TooLong;

/// The parser; one for each stream.
#[derive(Debug, Default)]
pub struct Parser {
    /// The beginning of a line whose end has not come yet.
    line: Vec<u8>,
    name: Vec<u8>,
    data: Vec<u8>,
    has_data: bool,
    /// The last byte was a CR that ended a line: a LF right after it belongs to it.
    after_cr: bool,
    past_first_line: bool,
}

impl Parser {
    /// Takes the next bytes and hands over every event that they complete.
    /// Fails when a line or an event grows past the limit.
    pub fn push(&mut self, mut bytes: &[u8], mut on_event: impl FnMut(Event<'_>)) -> Result<(), TooLong> {
        if self.after_cr && !bytes.is_empty() {
            self.after_cr = false;
            bytes = bytes.strip_prefix(b"\n").unwrap_or(bytes);
        }
        while let Some(end) = bytes.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, rest) = bytes.split_at(end);
            self.complete_line(line, &mut on_event)?;
            bytes = self.skip_line_end(rest);
        }
        self.keep_for_later(bytes)
    }

    /// The stream ended. An event whose closing blank line never came is handed over too: some
    /// servers leave it out after the last event. Whether it is whole is for its reader to judge.
    /// Fails when the last line is past the limit.
    pub fn finish(&mut self, mut on_event: impl FnMut(Event<'_>)) -> Result<(), TooLong> {
        if !self.line.is_empty() {
            self.complete_line(b"", &mut on_event)?;
        }
        self.dispatch(&mut on_event);
        Ok(())
    }

    /// The data, as far as it came, of an event that is too long.
    pub fn cut(&mut self) -> Vec<u8> {
        let line = std::mem::take(&mut self.line);
        if let (b"data", value) = split_field(&line) {
            let room = LIMIT - self.data.len().min(LIMIT);
            self.data.extend_from_slice(value.get(..room).unwrap_or(value));
        }
        std::mem::take(&mut self.data)
    }

    fn keep_for_later(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        if self.line.len() + bytes.len() > LIMIT {
            return Err(TooLong);
        }
        self.line.extend_from_slice(bytes);
        Ok(())
    }

    fn skip_line_end<'a>(&mut self, rest: &'a [u8]) -> &'a [u8] {
        match rest {
            [b'\r', b'\n', rest @ ..] => rest,
            [b'\r'] => {
                self.after_cr = true;
                &[]
            }
            [_, rest @ ..] => rest,
            [] => &[],
        }
    }

    /// `tail` ends the line whose beginning may have been kept.
    fn complete_line(&mut self, tail: &[u8], on_event: &mut impl FnMut(Event<'_>)) -> Result<(), TooLong> {
        if self.line.is_empty() {
            return self.read_line(tail, on_event);
        }
        self.keep_for_later(tail)?;
        let mut line = std::mem::take(&mut self.line);
        let read = self.read_line(&line, on_event);
        line.clear();
        self.line = line;
        read
    }

    fn read_line(&mut self, mut line: &[u8], on_event: &mut impl FnMut(Event<'_>)) -> Result<(), TooLong> {
        if !self.past_first_line {
            self.past_first_line = true;
            line = line.strip_prefix(BOM).unwrap_or(line);
        }
        if line.is_empty() {
            self.dispatch(on_event);
            return Ok(());
        }
        let (field, value) = split_field(line);
        match field {
            b"data" => self.add_data(value),
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
                Ok(())
            }
            // Comments have an empty field name; `id` and `retry` are for clients that reconnect.
            _ => Ok(()),
        }
    }

    fn add_data(&mut self, value: &[u8]) -> Result<(), TooLong> {
        if self.data.len() + value.len() >= LIMIT {
            return Err(TooLong);
        }
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(value);
        Ok(())
    }

    fn dispatch(&mut self, on_event: &mut impl FnMut(Event<'_>)) {
        if self.has_data {
            on_event(Event { name: &self.name, data: &self.data });
        }
        self.has_data = false;
        self.data.clear();
        self.name.clear();
    }
}

/// `field: value`, where one space after the colon belongs to the colon.
fn split_field(line: &[u8]) -> (&[u8], &[u8]) {
    match line.iter().position(|byte| *byte == b':') {
        Some(colon) => {
            let (field, value) = line.split_at(colon);
            let value = value.strip_prefix(b":").unwrap_or(value);
            (field, value.strip_prefix(b" ").unwrap_or(value))
        }
        None => (line, b""),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    type Owned = (String, String);

    fn parse(pieces: &[&[u8]]) -> Vec<Owned> {
        let mut parser = Parser::default();
        let mut events = Vec::new();
        let mut keep = |event: Event<'_>| {
            events.push((
                String::from_utf8_lossy(event.name).into_owned(),
                String::from_utf8_lossy(event.data).into_owned(),
            ));
        };
        for piece in pieces {
            parser.push(piece, &mut keep).unwrap();
        }
        parser.finish(&mut keep).unwrap();
        events
    }

    fn data(texts: &[&str]) -> Vec<Owned> {
        texts.iter().map(|text| (String::new(), (*text).to_owned())).collect()
    }

    #[test]
    fn all_three_line_ends() {
        assert_eq!(parse(&[b"data: a\n\ndata: b\r\n\r\ndata: c\r\rdata: d\n\r\n"]), data(&["a", "b", "c", "d"]));
    }

    #[test]
    fn cr_and_lf_in_different_pieces_are_one_line_end() {
        assert_eq!(parse(&[b"data: a\r", b"\ndata: b\r", b"\n\r", b"\n"]), data(&["a\nb"]));
        assert_eq!(parse(&[b"data: a\r", b"", b"\n\r\n"]), data(&["a"]));
    }

    #[test]
    fn an_event_is_handed_over_without_waiting_for_the_lf_after_its_cr() {
        let mut seen = 0;
        Parser::default().push(b"data: a\r\n\r", |_| seen += 1).unwrap();
        assert_eq!(seen, 1);
    }

    #[test]
    fn comments_names_unknown_fields_and_a_bom() {
        let bytes = b"\xef\xbb\xbf: hello\nevent: ping\nid: 7\nretry: 1\nnonsense\ndata:x\ndata\ndata:  y\n\n";
        assert_eq!(parse(&[bytes]), vec![("ping".to_owned(), "x\n\n y".to_owned())]);
    }

    #[test]
    fn a_name_without_data_is_no_event_and_does_not_leak() {
        assert_eq!(parse(&[b"event: a\n\ndata: b\n\n"]), data(&["b"]));
    }

    #[test]
    fn the_last_event_needs_no_blank_line() {
        assert_eq!(parse(&[b"data: [DONE]"]), data(&["[DONE]"]));
        assert_eq!(parse(&[b"data: a\n"]), data(&["a"]));
        assert_eq!(parse(&[b""]), data(&[]));
    }

    #[test]
    fn a_line_without_end_is_an_error() {
        let mut parser = Parser::default();
        let piece = vec![b'x'; 1024 * 1024];
        let result = (0..20).try_for_each(|_| parser.push(&piece, |_| ()));
        assert_eq!(result, Err(TooLong));
    }

    #[test]
    fn what_came_of_an_event_that_is_too_long_is_there() {
        let mut parser = Parser::default();
        parser.push(b"event: a\ndata: b\ndata: ", |_| ()).unwrap();
        let result = (0..20).try_for_each(|_| parser.push(&vec![b'x'; 1024 * 1024], |_| ()));
        assert_eq!(result, Err(TooLong));
        let data = parser.cut();
        assert!(data.starts_with(b"bxxx") && data.len() > LIMIT / 2 && data.len() <= LIMIT, "{}", data.len());
    }

    #[test]
    fn an_event_without_end_is_an_error() {
        let mut parser = Parser::default();
        let mut piece = b"data: ".to_vec();
        piece.resize(1024 * 1024, b'x');
        piece.push(b'\n');
        let result = (0..20).try_for_each(|_| parser.push(&piece, |_| ()));
        assert_eq!(result, Err(TooLong));
    }

    proptest! {
        #[test]
        fn any_split_gives_the_same_events(
            lines in prop::collection::vec("(data|event|id|: c|data: é|data:x|)?( ?[a-zé{}: ]{0,6})", 0..24),
            ends in prop::collection::vec(prop::sample::select(vec!["\n", "\r\n", "\r", "\n\n", "\r\r\n"]), 24),
            cuts in prop::collection::vec(0usize..400, 0..40),
        ) {
            let text: String = lines.iter().zip(&ends).flat_map(|(line, end)| [line.as_str(), end]).collect();
            let bytes = text.as_bytes();
            let mut cuts: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            cuts.extend([0, bytes.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&[u8]> = cuts.windows(2).map(|pair| &bytes[pair[0]..pair[1]]).collect();
            let single: Vec<&[u8]> = bytes.chunks(1).collect();
            let whole = parse(&[bytes]);
            prop_assert_eq!(&parse(&pieces), &whole);
            prop_assert_eq!(&parse(&single), &whole);
        }
    }
}
