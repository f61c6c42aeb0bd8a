//! The ground of the terminal: it is asked for its colour before anybody listens to the keys.
//!
//! Behind the question stands one that every terminal answers: nobody waits for an answer that does not come, and none comes
//! while somebody types.

use std::io::{self, Write};
use std::os::fd::AsFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::theme::ThemeName;

/// Asks for the colour of the ground, and then where the cursor is.
const QUESTION: &str = "\x1b]11;?\x1b\\\x1b[6n";

/// Bytes that the answers have at most.
const LONGEST: usize = 512;

/// The theme that fits the terminal's ground; the one of sixteen colours where it does not tell. `patience` is how long
/// the answer may take; what was typed before the question stays for whoever listens.
pub fn theme(patience: Duration) -> ThemeName {
    answer(patience).as_deref().and_then(ground).map_or(ThemeName::Sixteen, |light| match light {
        true => ThemeName::Light,
        false => ThemeName::Dark,
    })
}

fn answer(patience: Duration) -> Option<Vec<u8>> {
    let stdin = io::stdin();
    if has_bytes(&stdin, Duration::ZERO) {
        return None;
    }
    let mut out = io::stdout();
    out.write_all(QUESTION.as_bytes()).and_then(|()| out.flush()).ok()?;
    let by = Instant::now() + patience;
    let mut bytes = Vec::new();
    while bytes.len() < LONGEST && !is_whole(&bytes) {
        let left = by.saturating_duration_since(Instant::now());
        if !has_bytes(&stdin, left) {
            return None;
        }
        let mut some = [0; 64];
        let count = rustix::io::read(&stdin, &mut some).ok().filter(|count| *count > 0)?;
        bytes.extend_from_slice(some.get(..count)?);
    }
    Some(bytes)
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

/// Whether the ground is light, of `ESC ] 11 ; rgb:1e1e/1a1a/1717 …`.
fn ground(bytes: &[u8]) -> Option<bool> {
    let text = String::from_utf8_lossy(bytes);
    let (_, colour) = text.split_once("]11;rgb:")?;
    let mut parts = colour.split(|char: char| !char.is_ascii_hexdigit());
    let mut part = || {
        let digits = parts.next().filter(|digits| (1..=4).contains(&digits.len()))?;
        let most = (1u32 << (4 * digits.len())) - 1;
        Some(f64::from(u32::from_str_radix(digits, 16).ok()?) / f64::from(most))
    };
    let (red, green, blue) = (part()?, part()?, part()?);
    Some(0.299 * red + 0.587 * green + 0.114 * blue > 0.5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_tells_its_ground() {
        assert_eq!(ground(b"\x1b]11;rgb:1414/1111/0e0e\x1b\\\x1b[24;1R"), Some(false));
        assert_eq!(ground(b"\x1b]11;rgb:fd/fb/f8\x07\x1b[1;1R"), Some(true));
        assert_eq!(ground(b"\x1b[1;1R"), None);
        assert!(is_whole(b"\x1b]11;rgb:cc/cc/cc\x07\x1b[1;1R") && !is_whole(b"\x1b]11;rgb:cc/cc/cc\x07"));
    }
}
