//! Text as it stands in files: encodings, byte order marks, line endings.

/// How characters are written as bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8, or some other one that has ASCII in it.
    Utf8,
    /// UTF-16, low byte first.
    Utf16Le,
    /// UTF-16, high byte first.
    Utf16Be,
}

/// How a text stands in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Form {
    /// How characters are written.
    pub encoding: Encoding,
    /// Whether a byte order mark comes first.
    pub mark: bool,
}

impl Form {
    /// What new files have.
    pub const PLAIN: Self = Self { encoding: Encoding::Utf8, mark: false };

    /// The byte order mark, if there is one.
    pub fn mark_bytes(self) -> &'static [u8] {
        match (self.mark, self.encoding) {
            (false, _) => b"",
            (true, Encoding::Utf8) => b"\xef\xbb\xbf",
            (true, Encoding::Utf16Le) => b"\xff\xfe",
            (true, Encoding::Utf16Be) => b"\xfe\xff",
        }
    }

    /// The form in words, when it is worth a word.
    pub fn describe(self) -> Option<&'static str> {
        match (self.encoding, self.mark) {
            (Encoding::Utf8, false) => None,
            (Encoding::Utf8, true) => Some("UTF-8 with a byte order mark"),
            (Encoding::Utf16Le, _) => Some("UTF-16 LE"),
            (Encoding::Utf16Be, _) => Some("UTF-16 BE"),
        }
    }

    /// The text of a file's bytes, without its mark. Bytes that are no UTF-8 stay as they are;
    /// `None` when UTF-16 is so damaged that writing it again would not give the same bytes.
    pub fn decode(self, bytes: &[u8]) -> Option<Vec<u8>> {
        let body = bytes.strip_prefix(self.mark_bytes()).unwrap_or(bytes);
        if self.encoding == Encoding::Utf8 {
            return Some(body.to_vec());
        }
        let units = body.chunks(2).map(|unit| self.unit(unit));
        let text: String = char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect();
        let text = text.into_bytes();
        (self.encode(&text) == bytes).then_some(text)
    }

    /// A text as the bytes of a file.
    pub fn encode(self, text: &[u8]) -> Vec<u8> {
        let mut bytes = self.mark_bytes().to_vec();
        match self.encoding {
            Encoding::Utf8 => bytes.extend_from_slice(text),
            Encoding::Utf16Le => {
                bytes.extend(String::from_utf8_lossy(text).encode_utf16().flat_map(u16::to_le_bytes));
            }
            Encoding::Utf16Be => {
                bytes.extend(String::from_utf8_lossy(text).encode_utf16().flat_map(u16::to_be_bytes));
            }
        }
        bytes
    }

    /// One UTF-16 unit; a byte without its other half stands for no character.
    pub(super) fn unit(self, bytes: &[u8]) -> u16 {
        match (bytes, self.encoding) {
            ([low, high], Encoding::Utf16Le) | ([high, low], Encoding::Utf16Be | Encoding::Utf8) => {
                u16::from_be_bytes([*high, *low])
            }
            _ => 0xfffd,
        }
    }
}

/// Whether every line of a text ends with CRLF, and there is at least one.
pub fn is_crlf(text: &[u8]) -> bool {
    let mut newlines = memchr::memchr_iter(b'\n', text).peekable();
    newlines.peek().is_some() && newlines.all(|at| at > 0 && text.get(at - 1) == Some(&b'\r'))
}

/// The text with CRLF line endings; those it has already stay.
pub fn with_crlf(text: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len() + text.len() / 16);
    let mut before = 0;
    for &byte in text {
        if byte == b'\n' && before != b'\r' {
            result.push(b'\r');
        }
        result.push(byte);
        before = byte;
    }
    result
}

/// The text with LF line endings.
pub fn with_lf(text: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(text.len());
    let mut bytes = text.iter().peekable();
    while let Some(&byte) = bytes.next() {
        if byte != b'\r' || bytes.peek() != Some(&&b'\n') {
            result.push(byte);
        }
    }
    result
}

/// How many lines a text has; a last line without an ending counts.
pub fn count_lines(text: &[u8]) -> usize {
    let newlines = memchr::memchr_iter(b'\n', text).count();
    if text.is_empty() || text.ends_with(b"\n") { newlines } else { newlines + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_reads_back() {
        for encoding in [Encoding::Utf8, Encoding::Utf16Le, Encoding::Utf16Be] {
            for mark in [false, true] {
                let form = Form { encoding, mark };
                let text = "häßlich 別 🦀\r\nzwei\n".as_bytes();
                assert_eq!(form.decode(&form.encode(text)).as_deref(), Some(text), "{form:?}");
            }
        }
    }

    #[test]
    fn damaged_text_is_kept_or_refused_but_never_changed() {
        assert_eq!(Form::PLAIN.decode(b"a\xffb").as_deref(), Some(&b"a\xffb"[..]));
        let utf16 = Form { encoding: Encoding::Utf16Le, mark: false };
        assert_eq!(utf16.decode(b"a\0b"), None, "half a unit at the end");
        assert_eq!(utf16.decode(b"\x00\xd8a\0"), None, "half a pair");
    }

    #[test]
    fn line_endings() {
        assert!(is_crlf(b"a\r\nb\r\n") && !is_crlf(b"a\r\nb\n") && !is_crlf(b"a") && !is_crlf(b"\n"));
        assert_eq!(with_crlf(b"a\nb\r\nc"), b"a\r\nb\r\nc");
        assert_eq!(with_lf(b"a\nb\r\nc\r"), b"a\nb\nc\r");
        assert_eq!((count_lines(b""), count_lines(b"a"), count_lines(b"a\n"), count_lines(b"a\nb")), (0, 1, 1, 2));
    }
}
