//! Lines typed at a terminal that knows nothing but characters: what is typed is written, keys that would only leave signs
//! on the screen are not, and ↑ and ↓ bring back earlier lines.

use std::io::Write;

use rustix::process::{Signal, kill_current_process_group};
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, isatty, tcgetattr, tcsetattr};
use unicode_width::UnicodeWidthChar;

use crate::input::History;

/// A terminal whose characters are read one by one.
pub(super) struct Keyboard {
    found: Termios,
    history: History,
    /// Bytes that were read and not used yet.
    ahead: Vec<u8>,
}

impl Keyboard {
    /// The terminal of this process; none when something else writes what is typed, as editors do that run us.
    pub fn of_terminal(history: Vec<String>) -> Option<Self> {
        let stdin = rustix::stdio::stdin();
        let found = isatty(stdin).then(|| tcgetattr(stdin).ok()).flatten()?;
        let writes = found.local_modes.contains(LocalModes::ECHO | LocalModes::ICANON);
        writes.then(|| Self { found, history: History::new(history), ahead: Vec::new() })
    }

    /// A line that can be brought back.
    pub fn remember(&mut self, line: &str) {
        self.history.push(line);
    }

    /// Forgets what was read and not used yet.
    pub fn forget_typed(&mut self) {
        self.ahead.clear();
    }

    pub fn line(&mut self, prompt: &str) -> Read {
        let read = self.read(prompt).unwrap_or(Read::End);
        // A terminal that is gone is noticed with the next line.
        let _ = tcsetattr(rustix::stdio::stdin(), OptionalActions::Drain, &self.found);
        read
    }

    fn read(&mut self, prompt: &str) -> Option<Read> {
        let mut out = std::io::stdout();
        // Whoever sees the prompt types keys: a Ctrl-C is none of the signals any more.
        self.listen()?;
        out.write_all(prompt.as_bytes()).and_then(|()| out.flush()).ok()?;
        let mut history = std::mem::take(&mut self.history);
        history.leave();
        let read = self.typed(Line::new(&mut history), prompt, &mut out);
        self.history = history;
        read
    }

    /// Keys come one by one, and none of them is a signal: Ctrl-C drops the line that is being typed.
    fn listen(&self) -> Option<()> {
        let mut mode = self.found.clone();
        mode.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
        mode.special_codes[SpecialCodeIndex::VMIN] = 1;
        mode.special_codes[SpecialCodeIndex::VTIME] = 0;
        tcsetattr(rustix::stdio::stdin(), OptionalActions::Drain, &mode).ok()
    }

    fn typed(&mut self, mut line: Line<'_>, prompt: &str, out: &mut impl Write) -> Option<Read> {
        loop {
            while let Some(char) = next_char(&mut self.ahead) {
                let (written, step) = line.take(char);
                out.write_all(written.as_bytes()).and_then(|()| out.flush()).ok()?;
                match step {
                    Step::Goes => {}
                    Step::Done => return Some(Read::Line(line.text)),
                    Step::Dropped => return Some(Read::Dropped),
                    Step::End => return Some(Read::End),
                    Step::Stop => {
                        tcsetattr(rustix::stdio::stdin(), OptionalActions::Drain, &self.found).ok()?;
                        kill_current_process_group(Signal::TSTP).ok()?;
                        self.listen()?;
                        out.write_all(format!("{prompt}{}", line.text).as_bytes()).and_then(|()| out.flush()).ok()?;
                    }
                }
            }
            let mut bytes = [0; 256];
            match rustix::io::read(rustix::stdio::stdin(), &mut bytes) {
                Ok(0) => return None,
                Ok(count) => self.ahead.extend_from_slice(bytes.get(..count).unwrap_or_default()),
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return None,
            }
        }
    }
}

/// What a terminal gave.
pub(super) enum Read {
    /// A line, without its end.
    Line(String),
    /// Ctrl-C: nothing of the line counts.
    Dropped,
    /// There are no more.
    End,
}

/// The first character of bytes that may end in the middle of one.
fn next_char(bytes: &mut Vec<u8>) -> Option<char> {
    let length = match *bytes.first()? {
        0..0x80 => 1,
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
        // In the middle of one: what came before it is lost.
        0x80..0xc0 => 1,
    };
    if bytes.len() < length {
        return None;
    }
    let first: Vec<u8> = bytes.drain(..length).collect();
    String::from_utf8_lossy(&first).chars().next()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Goes,
    Done,
    Dropped,
    End,
    /// Ctrl-Z.
    Stop,
}

/// A key that is a sequence of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sequence {
    None,
    /// After Escape.
    Begun,
    /// After its bracket: it ends with a letter or a tilde.
    Bracket,
}

/// A line that is being typed.
struct Line<'a> {
    text: String,
    history: &'a mut History,
    sequence: Sequence,
}

impl<'a> Line<'a> {
    fn new(history: &'a mut History) -> Self {
        Self { text: String::new(), history, sequence: Sequence::None }
    }

    /// Takes a character; gives what is to be written.
    fn take(&mut self, char: char) -> (String, Step) {
        match (self.sequence, char) {
            (Sequence::None, '\u{1b}') => self.sequence = Sequence::Begun,
            (Sequence::Begun, '[' | 'O') => self.sequence = Sequence::Bracket,
            (Sequence::Begun, _) => self.sequence = Sequence::None,
            (Sequence::Bracket, '0'..='9' | ';' | '?') => {}
            (Sequence::Bracket, end) => {
                self.sequence = Sequence::None;
                let line = match end {
                    'A' => self.history.older(&self.text).map(str::to_owned),
                    'B' => self.history.newer(),
                    _ => None,
                };
                let written = line.map(|line| self.replace(line.replace(['\n', '\t'], " ")));
                return (written.unwrap_or_default(), Step::Goes);
            }
            (Sequence::None, '\r' | '\n') => return ("\n".to_owned(), Step::Done),
            (Sequence::None, '\u{3}') => return ("\n".to_owned(), Step::Dropped),
            (Sequence::None, '\u{1a}') => return ("\n".to_owned(), Step::Stop),
            // The kernel keeps a Ctrl-D as NUL that was typed while it read lines itself.
            (Sequence::None, '\u{4}' | '\0') if self.text.is_empty() => return ("\n".to_owned(), Step::End),
            (Sequence::None, '\u{7f}' | '\u{8}') => {
                let last = self.text.pop();
                return (rubbed_out(last), Step::Goes);
            }
            (Sequence::None, '\u{15}') => return (self.replace(String::new()), Step::Goes),
            (Sequence::None, '\t') => return (self.push(' '), Step::Goes),
            (Sequence::None, char) if char.is_control() => {}
            (Sequence::None, char) => return (self.push(char), Step::Goes),
        }
        (String::new(), Step::Goes)
    }

    fn push(&mut self, char: char) -> String {
        self.text.push(char);
        char.to_string()
    }

    /// Another line stands there.
    fn replace(&mut self, line: String) -> String {
        let rubbed = rubbed_out(self.text.chars());
        self.text = line;
        format!("{rubbed}{}", self.text)
    }
}

/// What takes these characters off the screen again.
fn rubbed_out(chars: impl IntoIterator<Item = char>) -> String {
    let width: usize = chars.into_iter().filter_map(UnicodeWidthChar::width).sum();
    "\u{8} \u{8}".repeat(width)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &str, history: &[&str]) -> (String, String, Step) {
        let mut history = History::new(history.iter().map(|line| (*line).to_owned()).collect());
        let mut line = Line::new(&mut history);
        let mut written = String::new();
        let mut last = Step::Goes;
        for char in keys.chars() {
            let (out, step) = line.take(char);
            written.push_str(&out);
            last = step;
        }
        (line.text, written, last)
    }

    #[test]
    fn keys_leave_no_signs_and_earlier_lines_come_back() {
        let up = "\u{1b}[A";
        assert_eq!(typed("ab\u{1b}[D\u{1b}OC\u{1b}[3~\u{1b}[1;5Cc", &[]).0, "abc");
        assert_eq!(typed(&format!("{up}\r"), &["one", "two"]), ("two".to_owned(), "two\n".to_owned(), Step::Done));
        assert_eq!(typed(&format!("dr{up}{up}{up}"), &["one", "two"]).0, "one");
        assert_eq!(typed(&format!("dr{up}\u{1b}[B"), &["one"]).0, "dr", "the draft comes back");
        assert_eq!(
            typed("漢x\u{7f}\u{7f}", &[]),
            (String::new(), "漢x\u{8} \u{8}\u{8} \u{8}\u{8} \u{8}".to_owned(), Step::Goes)
        );
        assert_eq!(typed("abc\u{15}d", &[]).0, "d");
        assert_eq!(typed("\u{4}", &[]).2, Step::End);
        assert_eq!(typed("\0", &[]).2, Step::End);
        assert_eq!(typed("a\0b", &[]).0, "ab");
        assert_eq!(typed("delete all\u{3}", &[]).2, Step::Dropped, "nothing of it counts");
    }

    #[test]
    fn a_character_that_comes_in_pieces_is_one() {
        let mut bytes = "é".as_bytes()[..1].to_vec();
        assert_eq!(next_char(&mut bytes), None);
        bytes.push("é".as_bytes()[1]);
        assert_eq!(next_char(&mut bytes), Some('é'));
        assert_eq!(next_char(&mut bytes), None);
    }
}
