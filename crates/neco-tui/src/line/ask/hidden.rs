//! A key as a person types it, unseen, or as a program pipes it in.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};

use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use secrecy::SecretString;

use tokio::runtime::Runtime;

use crate::line::signals::{InterruptMask, Signal, Signals};

/// Longer than any key.
const MOST_BYTES: u64 = 64 * 1024;

const ESCAPE: u8 = 0x1b;

/// What came of asking.
pub enum Typed {
    /// The key, as it was typed.
    Key(SecretString),
    /// Esc: the person wants to go back.
    Back,
    /// The person wants to end instead.
    Stopped(Signal),
}

/// Asks for a key at the terminal, or takes the one that is piped in.
///
/// # Errors
/// When it can't be read.
pub fn key(question: &str, runtime: Runtime) -> io::Result<Typed> {
    if io::stdin().is_terminal() {
        return at_terminal(question, runtime);
    }
    Ok(Typed::Key(read_all(io::stdin())?.into()))
}

fn at_terminal(question: &str, runtime: Runtime) -> io::Result<Typed> {
    let mut terminal = Hidden::new(File::options().read(true).write(true).open("/dev/tty")?)?;
    let typed = runtime.block_on(async {
        let mut signals = Signals::listen(InterruptMask::default())?;
        terminal.file.write_all(question.as_bytes())?;
        let (file, shown) = (terminal.file.try_clone()?, terminal.file.try_clone()?);
        tokio::select! {
            line = tokio::task::spawn_blocking(move || read_line(file, shown)) => {
                Ok(line??.map_or(Typed::Back, |line| Typed::Key(line.into())))
            }
            signal = signals.next() => Ok(Typed::Stopped(signal)),
        }
    });
    // The thread that reads may wait for ever.
    runtime.shutdown_background();
    let _ = terminal.file.write_all(b"\n");
    typed
}

/// A terminal that does not show what is typed and hands on every key, until it is dropped.
struct Hidden {
    file: File,
    found: Termios,
}

impl Hidden {
    fn new(file: File) -> io::Result<Self> {
        let found = tcgetattr(&file)?;
        let mut hidden = found.clone();
        hidden.local_modes.remove(LocalModes::ECHO | LocalModes::ECHONL | LocalModes::ICANON);
        hidden.local_modes.insert(LocalModes::ISIG);
        hidden.special_codes[SpecialCodeIndex::VMIN] = 1;
        hidden.special_codes[SpecialCodeIndex::VTIME] = 0;
        // What was typed before it was asked for is no key.
        tcsetattr(&file, OptionalActions::Flush, &hidden)?;
        Ok(Self { file, found })
    }
}

impl Drop for Hidden {
    fn drop(&mut self) {
        let _ = tcsetattr(&self.file, OptionalActions::Flush, &self.found);
    }
}

/// Reads up to the end of the line; every character is a dot in `shown`, so that a person sees that something came.
/// Nothing when Esc is pressed; what other keys send that are no characters is no part of it.
fn read_line(mut file: impl Read, mut shown: impl Write) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    let mut bytes = [0; 1024];
    loop {
        let length = match file.read(&mut bytes) {
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        let mut typed = bytes.get(..length).unwrap_or_default();
        while let [byte, rest @ ..] = typed {
            typed = rest;
            let before = characters(&line);
            match *byte {
                // Ctrl-D ends a line, too.
                b'\r' | b'\n' | 0x04 => return as_text(line),
                // Backspace, and the keys that take a word or all of it away.
                0x08 | 0x7f => while line.pop().is_some_and(|byte| !begins_character(byte)) {},
                0x15 | 0x17 => line.clear(),
                ESCAPE if rest.iter().all(|byte| *byte == ESCAPE) => return Ok(None),
                ESCAPE => typed = behind_sequence(rest),
                byte if byte.is_ascii_control() => {}
                byte => line.push(byte),
            }
            let now = characters(&line);
            let _ = write!(
                shown,
                "{}{}",
                "\u{8} \u{8}".repeat(before.saturating_sub(now)),
                "•".repeat(now.saturating_sub(before))
            );
        }
        if length == 0 {
            return as_text(line);
        }
        let _ = shown.flush();
    }
}

fn as_text(line: Vec<u8>) -> io::Result<Option<String>> {
    String::from_utf8(line).map(Some).map_err(|_| not_text())
}

/// What follows the rest of what an arrow or such a key sends.
fn behind_sequence(rest: &[u8]) -> &[u8] {
    let [b'[' | b'O', within @ ..] = rest else { return rest };
    let last = within.iter().position(|byte| (0x40..=0x7e).contains(byte));
    last.and_then(|last| within.get(last + 1..)).unwrap_or_default()
}

fn characters(line: &[u8]) -> usize {
    line.iter().filter(|byte| begins_character(**byte)).count()
}

fn begins_character(byte: u8) -> bool {
    byte & 0b1100_0000 != 0b1000_0000
}

fn read_all(source: impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    source.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(io::Error::other("it is too long"));
    }
    String::from_utf8(bytes).map_err(|_| not_text())
}

/// The bytes themselves are nobody's business.
fn not_text() -> io::Error {
    io::Error::other("it is not text")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_dots_and_can_be_mended() {
        let mut shown = Vec::new();
        assert_eq!(read_line(&b"sk-o\x7fk\x15ab\xc3\xa9\x7fc\rrest"[..], &mut shown).unwrap().unwrap(), "abc");
        let shown = String::from_utf8(shown).unwrap();
        assert_eq!(shown.matches('•').count(), 9, "{shown:?}");
        assert!(!shown.contains(char::is_alphanumeric), "{shown:?}");
        assert_eq!(read_line(&b"abc"[..], io::sink()).unwrap().unwrap(), "abc", "the end is an end");
    }

    #[test]
    fn esc_goes_back_and_no_other_key_is_part_of_it() {
        for typed in ["\u{1b}", "sk-half\u{1b}", "sk-half\u{1b}\u{1b}"] {
            assert_eq!(read_line(typed.as_bytes(), io::sink()).unwrap(), None, "{typed:?}");
        }
        let typed = "a\u{1b}[Db\u{1b}OA\u{1}\tc\u{1b}[3~d\r";
        let mut shown = Vec::new();
        assert_eq!(read_line(typed.as_bytes(), &mut shown).unwrap().unwrap(), "abcd");
        assert_eq!(String::from_utf8(shown).unwrap(), "••••");
    }
}
