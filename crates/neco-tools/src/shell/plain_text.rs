//! Text as it is left on a terminal, without what commands a terminal.
//!
//! Escape sequences go, text stays; a line that is written again and again, as progress is, keeps
//! its last state; bytes that are no UTF-8 become the replacement character. Works on pieces cut
//! anywhere.

/// The whole of an output as plain text.
pub fn plain_text(bytes: &[u8]) -> String {
    let mut plain = PlainText::default();
    let mut text = String::with_capacity(bytes.len());
    plain.feed(bytes, &mut text);
    plain.finish(&mut text);
    text
}

/// Plain text of an output that is shown while it grows. What was given out can't be taken back: a
/// line that is written anew after a part of it was given out starts a new line.
#[derive(Debug, Default)]
pub struct LivePlainText(PlainText);

impl LivePlainText {
    /// The text of the next piece.
    pub fn push(&mut self, bytes: &[u8]) -> String {
        let mut text = String::with_capacity(bytes.len());
        self.0.feed(bytes, &mut text);
        self.0.give_line(&mut text);
        text
    }

    /// The text that was held back because its end was missing.
    pub fn end(mut self) -> String {
        let mut text = String::new();
        self.0.finish(&mut text);
        text
    }
}

#[derive(Debug, Default)]
struct PlainText {
    /// The beginning of a character whose end has not come.
    half: Vec<u8>,
    sequence: Sequence,
    /// What stands on the current line and was not given out.
    line: String,
    /// Whether a part of the current line was given out.
    given: bool,
    /// The next character starts at the beginning of the line.
    at_start: bool,
}

/// Where we are in an escape sequence.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Sequence {
    #[default]
    None,
    /// After the escape character.
    Escape,
    /// An escape with more than one character, such as the choice of a character set.
    Longer,
    /// A control sequence; its first number matters to the few that are acted on.
    Control { number: u16 },
    /// A control sequence with more than one number or a private mark: never acted on.
    Other,
    /// A title, a link, an image: text up to a terminator.
    Text,
    /// An escape inside of that.
    TextEscape,
}

const ESCAPE: char = '\u{1b}';

impl PlainText {
    fn feed(&mut self, bytes: &[u8], out: &mut String) {
        if self.half.is_empty() {
            self.feed_whole(bytes, out);
        } else {
            let mut joined = std::mem::take(&mut self.half);
            joined.extend_from_slice(bytes);
            self.feed_whole(&joined, out);
        }
    }

    fn feed_whole(&mut self, bytes: &[u8], out: &mut String) {
        let mut chunks = bytes.utf8_chunks().peekable();
        while let Some(chunk) = chunks.next() {
            self.text(chunk.valid(), out);
            let invalid = chunk.invalid();
            if chunks.peek().is_none() && is_half(invalid) {
                self.half = invalid.to_vec();
            } else if !invalid.is_empty() {
                self.character(char::REPLACEMENT_CHARACTER, out);
            }
        }
    }

    fn text(&mut self, mut text: &str, out: &mut String) {
        while !text.is_empty() {
            if self.sequence == Sequence::None && !self.at_start {
                let (run, rest) = text.split_at(text.find(char::is_control).unwrap_or(text.len()));
                self.line.push_str(run);
                text = rest;
            }
            let mut characters = text.chars();
            if let Some(character) = characters.next() {
                self.character(character, out);
            }
            text = characters.as_str();
        }
    }

    fn character(&mut self, character: char, out: &mut String) {
        match self.sequence {
            Sequence::None => self.plain(character, out),
            Sequence::Escape => self.escape(character, out),
            Sequence::Longer => match character {
                ' '..='/' => {}
                '0'..='~' => self.sequence = Sequence::None,
                _ => self.leave(character, out),
            },
            Sequence::Control { number } => self.control(number, character, out),
            Sequence::Other => match character {
                ' '..='?' => {}
                '@'..='~' => self.sequence = Sequence::None,
                _ => self.leave(character, out),
            },
            Sequence::Text => match character {
                '\u{7}' | '\u{18}' | '\u{1a}' | '\u{9c}' => self.sequence = Sequence::None,
                ESCAPE => self.sequence = Sequence::TextEscape,
                // Who forgets the terminator must not make all that follows invisible.
                '\n' => self.leave(character, out),
                _ => {}
            },
            Sequence::TextEscape => match character {
                '\\' => self.sequence = Sequence::None,
                _ => self.escape(character, out),
            },
        }
    }

    fn plain(&mut self, character: char, out: &mut String) {
        match character {
            '\n' => {
                self.give_line(out);
                out.push('\n');
                self.given = false;
                self.at_start = false;
            }
            '\r' => self.at_start = true,
            '\u{8}' => {
                self.line.pop();
            }
            ESCAPE => self.sequence = Sequence::Escape,
            '\u{9b}' => self.sequence = Sequence::Control { number: 0 },
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => self.sequence = Sequence::Text,
            '\t' => self.put(character, out),
            character if character.is_control() => {}
            character => self.put(character, out),
        }
    }

    fn put(&mut self, character: char, out: &mut String) {
        if self.at_start {
            self.start_over(out);
        }
        self.line.push(character);
    }

    /// After an escape character.
    fn escape(&mut self, character: char, out: &mut String) {
        self.sequence = match character {
            '[' => Sequence::Control { number: 0 },
            ']' | 'P' | '_' | '^' | 'X' => Sequence::Text,
            ' '..='/' => Sequence::Longer,
            ESCAPE => Sequence::Escape,
            '0'..='~' => Sequence::None,
            _ => return self.leave(character, out),
        };
    }

    fn control(&mut self, number: u16, character: char, out: &mut String) {
        self.sequence = match character {
            '0'..='9' => {
                let digit = character.to_digit(10).unwrap_or_default() as u16;
                Sequence::Control { number: number.saturating_mul(10).saturating_add(digit) }
            }
            ' '..='?' => Sequence::Other,
            '@'..='~' => {
                self.act(number, character, out);
                Sequence::None
            }
            _ => return self.leave(character, out),
        };
    }

    /// The few sequences that change what stands on the line.
    fn act(&mut self, number: u16, command: char, out: &mut String) {
        match (command, number) {
            ('K', 2) => self.start_over(out),
            ('K', 0) if self.at_start => self.start_over(out),
            ('G', 0 | 1) => self.at_start = true,
            _ => {}
        }
    }

    /// A sequence that is broken off ends where the text goes on.
    fn leave(&mut self, character: char, out: &mut String) {
        self.sequence = Sequence::None;
        self.plain(character, out);
    }

    fn start_over(&mut self, out: &mut String) {
        self.at_start = false;
        self.line.clear();
        if std::mem::take(&mut self.given) {
            out.push('\n');
        }
    }

    fn give_line(&mut self, out: &mut String) {
        self.given |= !self.line.is_empty();
        out.push_str(&self.line);
        self.line.clear();
    }

    fn finish(&mut self, out: &mut String) {
        if !std::mem::take(&mut self.half).is_empty() {
            self.character(char::REPLACEMENT_CHARACTER, out);
        }
        self.give_line(out);
    }
}

/// Whether these bytes begin a character that could still be completed.
fn is_half(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_terminal_would_show_is_kept() {
        let table: &[(&[u8], &str)] = &[
            (b"plain\ttext\n", "plain\ttext\n"),
            (b"\x1b[1;31mred\x1b[0m \x1b[38;5;9mnot\x1b[m\n", "red not\n"),
            (b"\x1b]0;a title\x07shown\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\\n", "shownlink\n"),
            (b"one\r\ntwo\r\n", "one\ntwo\n"),
            (b"10%\r20%\r100%\ndone", "100%\ndone"),
            (b"old\r\x1b[Knew\n", "new\n"),
            (b"old\x1b[2Knew\n", "new\n"),
            (b"old\x1b[1Gnew\n", "new\n"),
            (b"line\r\r\n", "line\n"),
            (b"ends with\r", "ends with"),
            (b"|\x08/\x08-\x08done\n", "done\n"),
            (b"N\x08NA\x08A\n", "NA\n"),
            (b"\x08\x08x\n", "x\n"),
            (b"bell\x07 null\x00 del\x7f\n", "bell null del\n"),
            (b"\x1b(B\x1b)0\x1b=\x1b>\x1bMtext\n", "text\n"),
            (b"\x1b[?25l\x1b[?1049hfull\x1b[?25h\n", "full\n"),
            (b"\x1bP1$r0m\x1b\\after\n", "after\n"),
            (b"\x1b]52;c;c2VjcmV0\x07after\n", "after\n"),
            (b"\x1b]never ended\nnext line\n", "\nnext line\n"),
            (b"\x1b[12\nnext line\n", "\nnext line\n"),
            (b"\xc2\x9b31mred\xc2\x9b0m\n", "red\n"),
            (b"\xc2\x9d0;title\xc2\x9ctext\n", "text\n"),
            (b"caf\xe9 \xff\n", "caf\u{fffd} \u{fffd}\n"),
            ("日本語 é 🦀\n".as_bytes(), "日本語 é 🦀\n"),
            (b"half \xe6\x97", "half \u{fffd}"),
            (b"\x1b", ""),
            (b"\x1b[31", ""),
        ];
        for (bytes, expected) in table {
            assert_eq!(plain_text(bytes), *expected, "{}", bytes.escape_ascii());
        }
    }

    #[test]
    fn live_text_shows_unfinished_lines_and_starts_rewritten_ones_anew() {
        let mut live = LivePlainText::default();
        assert_eq!(live.push(b"10%"), "10%");
        assert_eq!(live.push(b"\r20%\r"), "\n20%");
        assert_eq!(live.push(b"\n"), "\n");
        assert_eq!(live.push(b"name? "), "name? ");
        assert_eq!(live.push(b"me\n"), "me\n");
        assert_eq!(live.push(&[0xe6]), "");
        assert_eq!(live.push(&[0x97, 0xa5]), "日");
        assert_eq!(live.push(b"\x1b[3"), "");
        assert_eq!(live.push(b"1mred"), "red");
        assert_eq!(live.push(&[0xf0, 0x9f]), "");
        assert_eq!(live.end(), "\u{fffd}");
    }

    fn in_pieces(bytes: &[u8], sizes: &[usize]) -> String {
        let mut live = LivePlainText::default();
        let mut text = String::new();
        let mut rest = bytes;
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, after) = rest.split_at((*size).min(rest.len()));
            text.push_str(&live.push(piece));
            rest = after;
        }
        text + &live.end()
    }

    fn is_clean(text: &str) -> bool {
        text.chars().all(|character| matches!(character, '\n' | '\t') || !character.is_control())
    }

    proptest! {
        #[test]
        fn nothing_that_commands_a_terminal_gets_through(
            bytes in prop::collection::vec(
                prop_oneof![any::<u8>(), Just(0x1b), Just(b'['), Just(b']'), Just(b'\r'), Just(0xc2), Just(0x9b)], 0..300),
            sizes in prop::collection::vec(1usize..20, 1..8),
        ) {
            prop_assert!(is_clean(&plain_text(&bytes)));
            prop_assert!(is_clean(&in_pieces(&bytes, &sizes)));
        }

        #[test]
        fn cuts_do_not_matter_where_nothing_is_rewritten(
            text in prop::collection::vec(
                prop_oneof!["[a-z é日🦀\\t\\n]{0,12}", Just("\u{1b}[1;32m".to_owned()), Just("\u{1b}]0;t\u{7}".to_owned())], 0..20),
            sizes in prop::collection::vec(1usize..7, 1..8),
        ) {
            let bytes = text.concat().into_bytes();
            prop_assert_eq!(in_pieces(&bytes, &sizes), plain_text(&bytes));
        }

        #[test]
        fn plain_text_stays_as_it_is(text in "[ -~é日🦀\\t\\n]{0,200}") {
            prop_assert_eq!(plain_text(text.as_bytes()), text);
        }
    }
}
