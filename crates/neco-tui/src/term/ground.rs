//! The ground of the terminal: it is asked for its colour before anybody listens to the keys.
//!
//! Behind the question stands one that every terminal answers: nobody waits for an answer that does not come. What is typed
//! meanwhile comes with the answer, and is kept.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::theme::{ThemeName, is_light};

/// Asks for the colour of the ground, and then where the cursor is.
const QUESTION: &str = "\x1b]11;?\x1b\\\x1b[6n";

/// Bytes that the answers have at most.
const LONGEST: usize = 512;

/// What a terminal told when it was asked for its ground.
#[derive(Debug, Default)]
pub struct Told {
    /// The colour, where it told one.
    pub colour: Option<[u8; 3]>,
    /// What was typed meanwhile.
    pub keys: Vec<KeyEvent>,
}

impl Told {
    /// The theme that fits; the one of sixteen colours where nothing was told.
    pub fn theme(&self) -> ThemeName {
        match self.colour {
            None => ThemeName::Sixteen,
            Some(colour) if is_light(colour) => ThemeName::Light,
            Some(_) => ThemeName::Dark,
        }
    }
}

/// Asks the terminal for its ground. `patience` is how long the answer may take; what was typed before the question stays
/// for whoever listens.
pub fn ask(patience: Duration) -> Told {
    let stdin = io::stdin();
    let mut bytes = Vec::new();
    let mut out = io::stdout();
    let is_free = !has_bytes(&stdin, Duration::ZERO);
    if is_free && out.write_all(QUESTION.as_bytes()).and_then(|()| out.flush()).is_ok() {
        let by = Instant::now() + patience;
        while bytes.len() < LONGEST && !is_whole(&bytes) {
            let mut some = [0; 64];
            if !has_bytes(&stdin, by.saturating_duration_since(Instant::now())) {
                break;
            }
            let Some(count) = rustix::io::read(&stdin, &mut some).ok().filter(|count| *count > 0) else { break };
            bytes.extend(some.into_iter().take(count));
        }
    }
    Told { colour: colour(&bytes), keys: typed(&bytes) }
}

/// What of some bytes was typed: everything but the answers. Keys that are more than a character are known as far as they
/// begin a message: arrows and the like have nothing to move yet.
fn typed(bytes: &[u8]) -> Vec<KeyEvent> {
    let text = String::from_utf8_lossy(bytes);
    let mut chars = text.chars().peekable();
    let mut keys = Vec::new();
    while let Some(char) = chars.next() {
        let plain = |code: KeyCode| KeyEvent::new(code, KeyModifiers::NONE);
        match char {
            '\x1b' if chars.next_if_eq(&']').is_some() => {
                // An answer that ends with BEL or with ESC and a backslash.
                while let Some(char) = chars.next() {
                    if char == '\x07' || char == '\x1b' && chars.next_if_eq(&'\\').is_some() {
                        break;
                    }
                }
            }
            '\x1b' if chars.next_if(|char| matches!(char, '[' | 'O')).is_some() => {
                while chars.next_if(|char| matches!(char, '0'..='9' | ';' | '?')).is_some() {}
                chars.next();
            }
            '\x1b' => keys.push(plain(KeyCode::Esc)),
            '\r' => keys.push(plain(KeyCode::Enter)),
            '\t' => keys.push(plain(KeyCode::Tab)),
            '\x7f' | '\x08' => keys.push(plain(KeyCode::Backspace)),
            '\x01'..='\x1a' => {
                let letter = char::from_u32(u32::from(char) + 0x60).unwrap_or(char);
                keys.push(KeyEvent::new(KeyCode::Char(letter), KeyModifiers::CONTROL));
            }
            char if char.is_control() => {}
            char => keys.push(plain(KeyCode::Char(char))),
        }
    }
    keys
}

fn has_bytes(from: &impl AsFd, within: Duration) -> bool {
    let Ok(within) = Timespec::try_from(within) else { return false };
    let mut fds = [PollFd::new(from, PollFlags::IN)];
    poll(&mut fds, Some(&within)).is_ok_and(|ready| ready > 0)
}

/// Whether the last of the answers is there: `ESC [ 24 ; 1 R`.
fn is_whole(bytes: &[u8]) -> bool {
    let begin = bytes.windows(2).position(|part| part == b"\x1b[");
    begin.is_some_and(|begin| bytes.get(begin..).is_some_and(|place| place.contains(&b'R')))
}

/// The colour of `ESC ] 11 ; rgb:1e1e/1a1a/1717 …`.
fn colour(bytes: &[u8]) -> Option<[u8; 3]> {
    let text = String::from_utf8_lossy(bytes);
    let (_, colour) = text.split_once("]11;rgb:")?;
    let mut parts = colour.split(|char: char| !char.is_ascii_hexdigit());
    let mut part = || {
        let digits = parts.next().filter(|digits| (1..=4).contains(&digits.len()))?;
        let most = (1u32 << (4 * digits.len())) - 1;
        u8::try_from(u32::from_str_radix(digits, 16).ok()? * 255 / most).ok()
    };
    Some([part()?, part()?, part()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_tells_its_ground() {
        let light = |bytes: &[u8]| colour(bytes).map(is_light);
        assert_eq!(light(b"\x1b]11;rgb:1414/1111/0e0e\x1b\\\x1b[24;1R"), Some(false));
        assert_eq!(light(b"\x1b]11;rgb:fd/fb/f8\x07\x1b[1;1R"), Some(true));
        assert_eq!(light(b"\x1b[1;1R"), None);
        assert_eq!(colour(b"\x1b]11;rgb:1414/1111/0e0e\x1b\\"), Some([0x14, 0x11, 0x0e]));
        assert!(is_whole(b"\x1b]11;rgb:cc/cc/cc\x07\x1b[1;1R") && !is_whole(b"\x1b]11;rgb:cc/cc/cc\x07"));
    }

    #[test]
    fn what_is_typed_while_it_answers_is_kept() {
        let keys = typed("fi\x1b]11;rgb:1414/1111/0e0e\x1b\\x é\x7f\x1b[24;1R\r".as_bytes());
        let codes: Vec<KeyCode> = keys.iter().map(|key| key.code).collect();
        let char = KeyCode::Char;
        let expected = [char('f'), char('i'), char('x'), char(' '), char('é'), KeyCode::Backspace, KeyCode::Enter];
        assert_eq!(codes, expected);
        assert_eq!(typed(b"\x03"), [KeyEvent::new(char('c'), KeyModifiers::CONTROL)]);
        assert_eq!(typed(b"\x1b[A\x1b]11;rgb:0/0/0\x07"), []);
    }
}
