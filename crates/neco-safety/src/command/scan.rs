//! The words of the shell: quotes, escapes and expansions, found by our own scanner.
//!
//! All that has a meaning here is ASCII, so positions are in bytes and always fall between characters.

use super::ansi_c;

/// How deep substitutions may be nested before the scanner gives up.
const DEEPEST: usize = 24;

/// A piece of a word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Text as it is; `quoted` keeps the shell from seeing patterns in it.
    Text { text: String, quoted: bool },
    /// `$name` or `${name}`.
    Variable { name: String, quoted: bool },
    /// What only the shell can work out, as it is written.
    Unknown { text: String, quoted: bool },
    /// A command whose output, or whose pipe, becomes part of the word.
    Command { script: String, raw: String, quoted: bool },
}

/// A word and where it ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Scanned {
    pub(crate) pieces: Vec<Piece>,
    pub(crate) end: usize,
}

/// Reads the word that starts at a position; none where it is empty, has no end, or is not understood.
pub(crate) fn word(text: &str, start: usize) -> Option<Scanned> {
    let mut scanner = Scanner { text, at: start, pieces: Vec::new(), depth: 0, quoted: false };
    scanner.word()?;
    (scanner.at > start).then_some(Scanned { pieces: scanner.pieces, end: scanner.at })
}

/// The commands inside text in which the shell expands but knows no quotes: a here-document, `${…}`, `$((…))`.
pub(crate) fn commands_within(text: &str) -> Option<Vec<Piece>> {
    embedded(text, 0)
}

/// A here-document that was announced on a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Announced {
    pub(crate) delimiter: String,
    pub(crate) quoted: bool,
    pub(crate) strip_tabs: bool,
}

/// A here-document found: its text, and where its last line starts and ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Body<'a> {
    pub(crate) text: &'a str,
    pub(crate) end_line: usize,
    pub(crate) after: usize,
}

/// Reads the delimiter of a here-document at `start`, behind `<<` and `-`.
pub(crate) fn announced(text: &str, start: usize, strip_tabs: bool) -> Option<(Announced, usize)> {
    let found = word(text, start)?;
    let mut delimiter = String::new();
    for piece in &found.pieces {
        match piece {
            Piece::Text { text, .. } => delimiter.push_str(text),
            Piece::Variable { .. } | Piece::Unknown { .. } | Piece::Command { .. } => return None,
        }
    }
    let quoted = text.get(start..found.end)?.contains(['\'', '"', '\\', '$']);
    (!delimiter.is_empty() && !delimiter.contains('\n'))
        .then_some((Announced { delimiter, quoted, strip_tabs }, found.end))
}

/// Finds the text of a here-document whose first line starts at `start`.
pub(crate) fn body<'a>(text: &'a str, start: usize, announced: &Announced) -> Option<Body<'a>> {
    let mut line_start = start;
    loop {
        let rest = text.get(line_start..)?;
        let line = rest.split('\n').next()?;
        let compared = if announced.strip_tabs { line.trim_start_matches('\t') } else { line };
        if compared == announced.delimiter {
            let after = (line_start + line.len() + 1).min(text.len());
            return Some(Body { text: text.get(start..line_start)?, end_line: line_start, after });
        }
        line_start += line.len() + 1;
    }
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
    pieces: Vec<Piece>,
    depth: usize,
    /// Whether it is between double quotes.
    quoted: bool,
}

impl<'a> Scanner<'a> {
    fn byte(&self, ahead: usize) -> Option<u8> {
        self.text.as_bytes().get(self.at + ahead).copied()
    }

    fn push(&mut self, new: &str, quoted: bool) {
        match self.pieces.last_mut() {
            Some(Piece::Text { text, quoted: before }) if *before == quoted => text.push_str(new),
            _ => self.pieces.push(Piece::Text { text: new.to_owned(), quoted }),
        }
    }

    fn unknown(&mut self, raw: &str) {
        self.pieces.push(Piece::Unknown { text: raw.to_owned(), quoted: self.quoted });
    }

    /// The next whole character.
    fn character(&mut self) -> Option<&'a str> {
        let rest = self.text.get(self.at..)?;
        let length = rest.chars().next()?.len_utf8();
        self.at += length;
        rest.get(..length)
    }

    fn word(&mut self) -> Option<()> {
        while let Some(byte) = self.byte(0) {
            match byte {
                b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b')' => break,
                b'<' | b'>' if self.byte(1) == Some(b'(') => self.substitution()?,
                b'<' | b'>' => break,
                // `name(` is a function, and `@(…)` a pattern that runs to its own end.
                b'(' => return None,
                b'\\' => self.escape()?,
                b'\'' => self.single()?,
                b'"' => self.double()?,
                b'$' => self.dollar(false)?,
                b'`' => self.backtick()?,
                // Another kind of white space or of line end is a part of the word for the shell,
                // and looks like none to a person.
                0..=31 | 127 => return None,
                _ => {
                    let character = self.character()?;
                    self.push(character, false);
                }
            }
        }
        Some(())
    }

    fn escape(&mut self) -> Option<()> {
        self.at += 1;
        let character = self.character()?;
        if character != "\n" {
            self.push(character, true);
        }
        Some(())
    }

    fn single(&mut self) -> Option<()> {
        let inside = self.text.get(self.at + 1..)?;
        let length = inside.find('\'')?;
        self.push(inside.get(..length)?, true);
        self.at += length + 2;
        Some(())
    }

    fn double(&mut self) -> Option<()> {
        self.at += 1;
        self.push("", true);
        self.quoted = true;
        loop {
            match self.byte(0)? {
                b'"' => {
                    self.at += 1;
                    self.quoted = false;
                    return Some(());
                }
                b'\\' => self.escape_in_double()?,
                b'$' => self.dollar(true)?,
                b'`' => self.backtick()?,
                _ => {
                    let character = self.character()?;
                    self.push(character, true);
                }
            }
        }
    }

    fn escape_in_double(&mut self) -> Option<()> {
        self.at += 1;
        let character = self.character()?;
        match character {
            "\n" => {}
            "$" | "`" | "\"" | "\\" => self.push(character, true),
            _ => {
                self.push("\\", true);
                self.push(character, true);
            }
        }
        Some(())
    }

    fn dollar(&mut self, quoted: bool) -> Option<()> {
        match self.byte(1) {
            Some(b'\'') if !quoted => self.ansi(),
            Some(b'"') if !quoted => self.translated(),
            Some(b'(') if self.byte(2) == Some(b'(') => self.arithmetic(),
            Some(b'(') => self.substitution(),
            Some(b'{') => self.braced(quoted),
            // The old spelling of arithmetic.
            Some(b'[') => None,
            Some(byte) if byte == b'_' || byte.is_ascii_alphanumeric() => self.named(quoted),
            Some(b'@' | b'*' | b'#' | b'?' | b'-' | b'$' | b'!') => {
                let raw = self.text.get(self.at..self.at + 2)?;
                self.unknown(raw);
                self.at += 2;
                Some(())
            }
            _ => {
                self.push("$", quoted);
                self.at += 1;
                Some(())
            }
        }
    }

    fn ansi(&mut self) -> Option<()> {
        let inside = self.text.get(self.at + 2..)?;
        let mut escaped = false;
        let length = inside.find(|character| {
            let ends = character == '\'' && !escaped;
            escaped = character == '\\' && !escaped;
            ends
        })?;
        let decoded = ansi_c::decode(inside.get(..length)?)?;
        self.push(&decoded, true);
        self.at += length + 3;
        Some(())
    }

    /// `$"…"` is looked up in the language of the user: only a guess.
    fn translated(&mut self) -> Option<()> {
        self.at += 1;
        self.unknown("");
        self.double()
    }

    fn named(&mut self, quoted: bool) -> Option<()> {
        let rest = self.text.get(self.at + 1..)?;
        let length = match rest.bytes().next()? {
            byte if byte.is_ascii_digit() => 1,
            _ => rest.bytes().take_while(|byte| is_name_byte(*byte)).count(),
        };
        self.pieces.push(Piece::Variable { name: rest.get(..length)?.to_owned(), quoted });
        self.at += length + 1;
        Some(())
    }

    fn braced(&mut self, quoted: bool) -> Option<()> {
        let end = closing_brace(self.text, self.at + 2)?;
        let inside = self.text.get(self.at + 2..end)?;
        if is_name(inside) {
            self.pieces.push(Piece::Variable { name: inside.to_owned(), quoted });
        } else if inside.contains("@P") {
            // The value is expanded once more, commands and all.
            return None;
        } else {
            self.unknown(self.text.get(self.at..=end)?);
            self.pieces.extend(embedded(inside, self.depth + 1)?);
        }
        self.at = end + 1;
        Some(())
    }

    fn arithmetic(&mut self) -> Option<()> {
        let end = closing_arithmetic(self.text, self.at + 2)?;
        let inside = self.text.get(self.at + 3..end)?.strip_suffix(')')?;
        self.unknown(self.text.get(self.at..=end)?);
        self.pieces.extend(embedded(inside, self.depth + 1)?);
        self.at = end + 1;
        Some(())
    }

    /// `$(…)`, `<(…)` and `>(…)`.
    fn substitution(&mut self) -> Option<()> {
        let end = closing_at(self.text, self.at + 2, self.depth + 1)?;
        let script = self.text.get(self.at + 2..end)?.to_owned();
        let raw = self.text.get(self.at..=end)?.to_owned();
        self.pieces.push(Piece::Command { script, raw, quoted: self.quoted });
        self.at = end + 1;
        Some(())
    }

    fn backtick(&mut self) -> Option<()> {
        let start = self.at;
        let mut script = String::new();
        self.at += 1;
        loop {
            match self.character()? {
                "`" => break,
                "\\" => match self.character()? {
                    plain @ ("`" | "\\" | "$") => script.push_str(plain),
                    other => {
                        script.push('\\');
                        script.push_str(other);
                    }
                },
                character => script.push_str(character),
            }
        }
        let raw = self.text.get(start..self.at)?.to_owned();
        self.pieces.push(Piece::Command { script, raw, quoted: self.quoted });
        Some(())
    }
}

fn embedded(text: &str, depth: usize) -> Option<Vec<Piece>> {
    if depth > DEEPEST {
        return None;
    }
    let mut scanner = Scanner { text, at: 0, pieces: Vec::new(), depth, quoted: true };
    while let Some(byte) = scanner.byte(0) {
        match (byte, scanner.byte(1)) {
            (b'\\', Some(_)) => {
                scanner.at += 1;
                scanner.character()?;
            }
            (b'$', Some(b'(')) => scanner.dollar(true)?,
            (b'`', _) => scanner.backtick()?,
            _ => {
                scanner.character()?;
            }
        }
    }
    scanner.pieces.retain(|piece| matches!(piece, Piece::Command { .. }));
    Some(scanner.pieces)
}

/// Where `${` is closed.
fn closing_brace(text: &str, start: usize) -> Option<usize> {
    let mut at = start;
    let mut open = 1_usize;
    loop {
        match text.as_bytes().get(at)? {
            b'\\' => at += 1,
            b'\'' => at += 1 + text.get(at + 1..)?.find('\'')?,
            b'{' => open += 1,
            b'}' if open == 1 => return Some(at),
            b'}' => open -= 1,
            _ => {}
        }
        at += 1;
    }
}

/// Where the outer of the two parentheses of `$((` is closed; none with quotes inside, which mean
/// commands hidden from a reader of arithmetic.
fn closing_arithmetic(text: &str, start: usize) -> Option<usize> {
    let mut open = 1_usize;
    for (offset, byte) in text.as_bytes().get(start..)?.iter().enumerate() {
        match byte {
            b'\'' | b'"' | b'\\' => return None,
            b'(' => open += 1,
            b')' if open == 1 => return Some(start + offset),
            b')' => open -= 1,
            _ => {}
        }
    }
    None
}

fn closing_at(text: &str, start: usize, depth: usize) -> Option<usize> {
    if depth > DEEPEST {
        return None;
    }
    let mut scanner = Scanner { text, at: start, pieces: Vec::new(), depth, quoted: false };
    let mut open = 1_usize;
    let mut waiting = Vec::new();
    let mut fresh = true;
    loop {
        let was_fresh = std::mem::replace(&mut fresh, false);
        match scanner.byte(0)? {
            b')' if open == 1 => return Some(scanner.at),
            b')' => {
                open -= 1;
                scanner.at += 1;
            }
            b'(' => {
                open += 1;
                scanner.at += 1;
                fresh = true;
            }
            b'\n' => {
                scanner.at += 1;
                for announced in waiting.drain(..) {
                    scanner.at = body(text, scanner.at, &announced)?.after;
                }
                fresh = true;
            }
            b' ' | b'\t' | b';' | b'&' | b'|' => {
                scanner.at += 1;
                fresh = true;
            }
            b'#' if was_fresh => scanner.at += text.get(scanner.at..)?.find('\n')?,
            b'<' if text.get(scanner.at..)?.starts_with("<<<") => scanner.at += 3,
            b'<' if scanner.byte(1) == Some(b'<') => waiting.push(heredoc(&mut scanner)?),
            b'\\' => scanner.escape()?,
            b'\'' => scanner.single()?,
            b'"' => scanner.double()?,
            b'$' => scanner.dollar(false)?,
            b'`' => scanner.backtick()?,
            _ => {
                scanner.character()?;
            }
        }
        scanner.pieces.clear();
    }
}

fn heredoc(scanner: &mut Scanner<'_>) -> Option<Announced> {
    scanner.at += 2;
    let strip_tabs = scanner.byte(0) == Some(b'-');
    scanner.at += usize::from(strip_tabs);
    while matches!(scanner.byte(0), Some(b' ' | b'\t')) {
        scanner.at += 1;
    }
    let (announced, end) = announced(scanner.text, scanner.at, strip_tabs)?;
    scanner.at = end;
    Some(announced)
}

pub(crate) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(is_name_byte) && !text.starts_with(|first: char| first.is_ascii_digit())
}

fn is_name_byte(byte: u8) -> bool {
    byte == b'_' || byte.is_ascii_alphanumeric()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str, quoted: bool) -> Piece {
        Piece::Text { text: text.to_owned(), quoted }
    }

    #[test]
    fn quotes_and_escapes_are_taken_away() {
        for line in [r"r\m", "'r'm", r#""r"m"#, r"$'\x72'm", "r''m", "r\\\nm", r#"r"m""#] {
            let found = word(line, 0).unwrap();
            let joined: String = found
                .pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text { text, .. } => text.as_str(),
                    _ => panic!("{line}"),
                })
                .collect();
            assert_eq!((joined.as_str(), found.end), ("rm", line.len()), "{line}");
        }
    }

    #[test]
    fn substitutions_end_where_the_shell_ends_them() {
        let line = "\"$(cat <<'EOF'\ndon't ) stop\nEOF\n)\" next";
        let found = word(line, 0).unwrap();
        assert_eq!(line.get(found.end..), Some(" next"));
        let Some(Piece::Command { script, .. }) = found.pieces.get(1) else { panic!("{found:?}") };
        assert_eq!(script, "cat <<'EOF'\ndon't ) stop\nEOF\n");
        let nested = word("$(a \"$(b ')')\" # c )\n)x", 0).unwrap();
        assert_eq!(nested.pieces.last(), Some(&text("x", false)));
        assert_eq!(
            word("`a \\`b\\``", 0).unwrap().pieces,
            [Piece::Command { script: "a `b`".into(), raw: "`a \\`b\\``".into(), quoted: false }]
        );
    }

    #[test]
    fn what_has_no_end_is_no_word() {
        for line in ["'a", "\"a", "$(a", "`a", "${a", "$((1)", "f()", "a\u{7}b", "${x@P}", "$[1]", "\\"] {
            assert_eq!(word(line, 0), None, "{line}");
        }
        assert_eq!(word(&"$(".repeat(10_000), 0), None);
        assert_eq!(word(&"\"$(".repeat(10_000), 0), None);
    }

    #[test]
    fn here_documents_end_at_their_delimiter_and_nowhere_else() {
        let (announced, _) = announced("'E F'", 0, false).unwrap();
        let found = body("a\n E F\nE F\nrest", 0, &announced).unwrap();
        assert_eq!((found.text, found.after), ("a\n E F\n", 11));
        assert_eq!(body("a\nb", 0, &announced), None);
    }
}
