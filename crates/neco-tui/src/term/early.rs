//! What comes from a terminal before anybody listens to it: its answers, and keys and pastes among them.
//!
//! crossterm reads the keys later and can't be handed bytes, so they are read here as it reads them.

use crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};

/// How the end of a paste is marked.
const PASTE_END: &[u8] = b"\x1b[201~";

/// What some bytes say.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Early {
    /// Keys, pastes and focus, in order.
    pub events: Vec<Event>,
    /// The colour of the ground, where the terminal told it.
    pub colour: Option<[u8; 3]>,
    /// Whether there is an alternate screen, where the terminal told that.
    pub has_alternate: Option<bool>,
    /// Whether the terminal said where its cursor is.
    pub is_answered: bool,
    /// What the bytes end in the middle of.
    pub open: Option<Open>,
}

/// What bytes may end in the middle of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Open {
    Paste,
    /// A key or an answer of several bytes; a lone Esc may be the first of them.
    Sequence,
}

impl Early {
    pub(super) fn read(bytes: &[u8]) -> Self {
        let mut early = Self::default();
        let mut rest = bytes;
        while let Some((&first, after)) = rest.split_first() {
            rest = match first {
                0x1b => match early.escape(after) {
                    Some(after) => after,
                    None => return early,
                },
                0..0x20 | 0x7f => {
                    let (code, modifiers) = held_with_control(first);
                    early.key(code, modifiers);
                    after
                }
                _ => match character(rest) {
                    Some((char, after)) => {
                        early.key(KeyCode::Char(char), KeyModifiers::NONE);
                        after
                    }
                    None => {
                        early.open = Some(Open::Sequence);
                        return early;
                    }
                },
            };
        }
        early
    }

    fn key(&mut self, code: KeyCode, modifiers: KeyModifiers) {
        self.events.push(Event::Key(KeyEvent::new(code, modifiers)));
    }

    /// What follows an Esc; gives what comes behind it, or nothing when it is not all there.
    fn escape<'a>(&mut self, after: &'a [u8]) -> Option<&'a [u8]> {
        match after.split_first() {
            None => {
                self.key(KeyCode::Esc, KeyModifiers::NONE);
                self.open = Some(Open::Sequence);
                None
            }
            Some((b'[', rest)) => self.control_sequence(rest),
            Some((b']', rest)) => self.answer(rest),
            Some((b'O', rest)) => {
                let Some((&name, rest)) = rest.split_first() else {
                    self.open = Some(Open::Sequence);
                    return None;
                };
                if let Some(code) = by_letter(name) {
                    self.key(code, KeyModifiers::NONE);
                }
                Some(rest)
            }
            Some((0x1b, _)) => {
                self.key(KeyCode::Esc, KeyModifiers::NONE);
                Some(after)
            }
            Some((&byte, rest)) if byte < 0x20 || byte == 0x7f => {
                let (code, modifiers) = held_with_control(byte);
                self.key(code, modifiers | KeyModifiers::ALT);
                Some(rest)
            }
            Some(_) => {
                let Some((char, rest)) = character(after) else {
                    self.open = Some(Open::Sequence);
                    return None;
                };
                self.key(KeyCode::Char(char), KeyModifiers::ALT);
                Some(rest)
            }
        }
    }

    /// `ESC ] 11 ; rgb:…`, which ends with BEL or with ESC and a backslash.
    fn answer<'a>(&mut self, rest: &'a [u8]) -> Option<&'a [u8]> {
        let end = rest.iter().position(|byte| matches!(byte, 0x07 | 0x1b));
        let Some((end, after)) = end.and_then(|end| {
            let skip = if rest.get(end) == Some(&0x07) { 1 } else { 2 };
            Some((end, rest.get(end + skip..)?))
        }) else {
            self.open = Some(Open::Sequence);
            return None;
        };
        self.colour = self.colour.or_else(|| colour(rest.get(..end)?));
        Some(after)
    }

    fn control_sequence<'a>(&mut self, rest: &'a [u8]) -> Option<&'a [u8]> {
        let Some(end) = rest.iter().position(|byte| (0x40..0x7f).contains(byte)) else {
            self.open = Some(Open::Sequence);
            return None;
        };
        let (parameters, after) = rest.split_at_checked(end)?;
        let (&name, after) = after.split_first()?;
        if (parameters, name) == (b"200", b'~') {
            let Some(end) = after.windows(PASTE_END.len()).position(|part| part == PASTE_END) else {
                self.open = Some(Open::Paste);
                return None;
            };
            let text = String::from_utf8_lossy(after.get(..end)?).into_owned();
            self.events.push(Event::Paste(text));
            return after.get(end + PASTE_END.len()..);
        }
        let parameters = std::str::from_utf8(parameters).unwrap_or_default();
        match name {
            b'R' if !self.is_answered => self.is_answered = true,
            b'y' => self.has_alternate = self.has_alternate.or_else(|| has_alternate(parameters)),
            b'I' => self.events.push(Event::FocusGained),
            b'O' => self.events.push(Event::FocusLost),
            _ => self.events.extend(named(parameters, name).map(Event::Key)),
        }
        Some(after)
    }
}

/// The first character, and what comes behind it; nothing when it is not all there. What is no text is passed over.
fn character(bytes: &[u8]) -> Option<(char, &[u8])> {
    let length = match bytes.first()? {
        0xc2..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0..0xf5 => 4,
        _ => 1,
    };
    let (char, rest) = bytes.split_at_checked(length)?;
    let char = std::str::from_utf8(char).ok().and_then(|text| text.chars().next());
    Some((char.unwrap_or(char::REPLACEMENT_CHARACTER), rest))
}

/// A byte that stands for a key, or for one with Ctrl.
fn held_with_control(byte: u8) -> (KeyCode, KeyModifiers) {
    let letter = |from: u8| KeyCode::Char(char::from(byte - from + if from == 1 { b'a' } else { b'4' }));
    match byte {
        b'\r' => (KeyCode::Enter, KeyModifiers::NONE),
        b'\t' => (KeyCode::Tab, KeyModifiers::NONE),
        0x7f | 0x08 => (KeyCode::Backspace, KeyModifiers::NONE),
        0 => (KeyCode::Char(' '), KeyModifiers::CONTROL),
        1..=0x1a => (letter(1), KeyModifiers::CONTROL),
        _ => (letter(0x1c), KeyModifiers::CONTROL),
    }
}

/// A key that is told as `ESC [ parameters name`; none for what is no key, or is one that was let go.
fn named(parameters: &str, name: u8) -> Option<KeyEvent> {
    let mut parts = parameters.split(';');
    let number = |part: Option<&str>| part.and_then(|part| part.split(':').next()?.parse::<u32>().ok());
    let first = number(parts.next());
    let held = parts.next();
    let is_release = held.and_then(|held| held.split(':').nth(1)) == Some("3");
    let modifiers = modifiers(number(held).unwrap_or(1));
    let code = match name {
        b'u' => by_code(first?)?,
        b'~' => by_number(first?)?,
        b'Z' => KeyCode::BackTab,
        name => by_letter(name)?,
    };
    let code = match code {
        KeyCode::Tab if modifiers.contains(KeyModifiers::SHIFT) => KeyCode::BackTab,
        code => code,
    };
    let modifiers = if code == KeyCode::BackTab { modifiers | KeyModifiers::SHIFT } else { modifiers };
    (!is_release).then(|| KeyEvent::new(code, modifiers))
}

fn modifiers(number: u32) -> KeyModifiers {
    let held = number.saturating_sub(1);
    let all = [
        (1, KeyModifiers::SHIFT),
        (2, KeyModifiers::ALT),
        (4, KeyModifiers::CONTROL),
        (8, KeyModifiers::SUPER),
        (16, KeyModifiers::HYPER),
        (32, KeyModifiers::META),
    ];
    all.into_iter().filter(|(bit, _)| held & bit != 0).fold(KeyModifiers::NONE, |held, (_, one)| held | one)
}

/// Keys that are told by the character they write; those of a keypad and the like have none.
fn by_code(code: u32) -> Option<KeyCode> {
    match code {
        13 => Some(KeyCode::Enter),
        27 => Some(KeyCode::Esc),
        9 => Some(KeyCode::Tab),
        127 => Some(KeyCode::Backspace),
        code => char::from_u32(code).filter(|char| !('\u{e000}'..='\u{f8ff}').contains(char)).map(KeyCode::Char),
    }
}

fn by_number(number: u32) -> Option<KeyCode> {
    Some(match number {
        1 | 7 => KeyCode::Home,
        2 => KeyCode::Insert,
        3 => KeyCode::Delete,
        4 | 8 => KeyCode::End,
        5 => KeyCode::PageUp,
        6 => KeyCode::PageDown,
        11..=15 => KeyCode::F(u8::try_from(number - 10).ok()?),
        17..=21 => KeyCode::F(u8::try_from(number - 11).ok()?),
        23 | 24 => KeyCode::F(u8::try_from(number - 12).ok()?),
        _ => return None,
    })
}

fn by_letter(letter: u8) -> Option<KeyCode> {
    Some(match letter {
        b'A' => KeyCode::Up,
        b'B' => KeyCode::Down,
        b'C' => KeyCode::Right,
        b'D' => KeyCode::Left,
        b'H' => KeyCode::Home,
        b'F' => KeyCode::End,
        b'P'..=b'S' => KeyCode::F(letter - b'P' + 1),
        _ => return None,
    })
}

/// The colour of `11;rgb:1e1e/1a1a/1717`.
fn colour(answer: &[u8]) -> Option<[u8; 3]> {
    let colour = std::str::from_utf8(answer).ok()?.strip_prefix("11;rgb:")?;
    let mut parts = colour.split(|char: char| !char.is_ascii_hexdigit());
    let mut part = || {
        let digits = parts.next().filter(|digits| (1..=4).contains(&digits.len()))?;
        let most = (1u32 << (4 * digits.len())) - 1;
        u8::try_from(u32::from_str_radix(digits, 16).ok()? * 255 / most).ok()
    };
    Some([part()?, part()?, part()?])
}

/// Whether `?1049;2$` says that the mode of the alternate screen is known and can be set.
fn has_alternate(answer: &str) -> Option<bool> {
    let state = answer.strip_prefix("?1049;")?.strip_suffix('$')?;
    Some(matches!(state, "1" | "2"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(code: KeyCode, modifiers: KeyModifiers) -> Event {
        Event::Key(KeyEvent::new(code, modifiers))
    }

    fn plain(code: KeyCode) -> Event {
        key(code, KeyModifiers::NONE)
    }

    #[test]
    fn the_colour_and_the_place_are_no_keys() {
        let early = Early::read(b"\x1b]11;rgb:1414/1111/0e0e\x1b\\\x1b[24;1R");
        let told = Early { colour: Some([0x14, 0x11, 0x0e]), is_answered: true, ..Early::default() };
        assert_eq!(early, told);
        assert_eq!(Early::read(b"\x1b]11;rgb:fd/fb/f8\x07").colour, Some([0xfd, 0xfb, 0xf8]));
        assert!(!Early::read(b"\x1b[AR").is_answered, "an arrow and a letter");
    }

    #[test]
    fn a_terminal_tells_whether_it_has_an_alternate_screen() {
        let told = |bytes: &[u8]| Early::read(bytes).has_alternate;
        assert_eq!(told(b"\x1b[?1049;2$y\x1b[?62;4c\x1b[24;1R"), Some(true));
        assert_eq!(told(b"\x1b[?1049;0$y\x1b[24;1R"), Some(false), "it does not know it");
        assert_eq!(told(b"\x1b[?1049;4$y"), Some(false), "it is switched off for good");
        assert_eq!((told(b"\x1b[?2004;2$y"), told(b"\x1b[24;1R")), (None, None));
        assert_eq!(Early::read(b"\x1b[?1049;2$yx").events, [plain(KeyCode::Char('x'))], "it is no key");
        assert_eq!(Early::read(b"\x1b[?1049;2$").open, Some(Open::Sequence));
    }

    #[test]
    fn keys_are_read_however_a_terminal_tells_them() {
        let char = KeyCode::Char;
        for (bytes, told) in [
            ("é\x7f\r", vec![plain(char('é')), plain(KeyCode::Backspace), plain(KeyCode::Enter)]),
            ("\x03", vec![key(char('c'), KeyModifiers::CONTROL)]),
            ("\x1b[99;5u", vec![key(char('c'), KeyModifiers::CONTROL)]),
            ("\x1b[13;2u", vec![key(KeyCode::Enter, KeyModifiers::SHIFT)]),
            ("\x1b[27u", vec![plain(KeyCode::Esc)]),
            ("\x1b[97;1:3u", vec![]),
            (
                "\x1b[A\x1bOB\x1b[1;5C",
                vec![plain(KeyCode::Up), plain(KeyCode::Down), key(KeyCode::Right, KeyModifiers::CONTROL)],
            ),
            (
                "\x1b[3~\x1b[15~\x1b[Z",
                vec![plain(KeyCode::Delete), plain(KeyCode::F(5)), key(KeyCode::BackTab, KeyModifiers::SHIFT)],
            ),
            ("\x1bp\x1b\x1b[A", vec![key(char('p'), KeyModifiers::ALT), plain(KeyCode::Esc), plain(KeyCode::Up)]),
            ("\x1b[I\x1b[?62;4cx", vec![Event::FocusGained, plain(char('x'))]),
        ] {
            assert_eq!(Early::read(bytes.as_bytes()).events, told, "{bytes:?}");
        }
    }

    #[test]
    fn a_paste_is_one_and_what_is_not_all_there_is_waited_for() {
        let paste = Event::Paste("two\r[0;1R\nlines".to_owned());
        assert_eq!(Early::read(b"a\x1b[200~two\r[0;1R\nlines\x1b[201~").events, [plain(KeyCode::Char('a')), paste]);
        let open = |bytes: &[u8]| Early::read(bytes).open;
        assert_eq!(open(b"\x1b[200~half"), Some(Open::Paste));
        for bytes in [b"\x1b[20".as_slice(), b"\x1b]11;rgb:1", b"\xc3", b"\x1b"] {
            assert_eq!(open(bytes), Some(Open::Sequence), "{bytes:?}");
        }
        assert_eq!(open(b"ab\x1b[A"), None);
    }
}
