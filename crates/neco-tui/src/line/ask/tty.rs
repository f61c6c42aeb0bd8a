//! The terminal a person sits at: read by a thread of its own, one key or one line when asked for.

use std::fs::File;
use std::io::{self, BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, isatty, tcflush, tcgetattr, tcgetpgrp,
    tcgetwinsize, tcsetattr,
};

use super::desk::TakeTyped;
use super::question::{Typed, Want};

/// How the terminal was found, for whoever ends the process.
static FOUND: Mutex<Option<(File, Termios)>> = Mutex::new(None);

/// How soon the next key comes of somebody who types a word rather than an answer.
const NEXT_LETTER: Timespec = Timespec { tv_sec: 0, tv_nsec: 400_000_000 };

/// Ctrl-D.
const END_OF_INPUT: char = '\u{4}';
const ESCAPE: char = '\u{1b}';
/// Bytes of words that are read away.
const LONGEST_WORDS: usize = 4096;

/// What a person says to a question that can be left.
#[derive(Debug, PartialEq, Eq)]
pub enum Said {
    /// A line, empty when they end their input.
    Line(String),
    /// Esc.
    Escape,
    /// Ctrl-C.
    Interrupt,
}

/// Counts what is read: what was typed says which want it answers.
pub type Number = u64;

/// The terminal.
pub struct Tty {
    file: File,
    /// How it was found.
    cooked: Termios,
    reader: Option<Reader>,
}

/// The way to the thread that reads.
struct Reader {
    wants: mpsc::Sender<(Number, Want)>,
    /// A byte here makes it look at what is wanted now.
    bell: PipeWriter,
}

impl Tty {
    /// The terminal of this process, if it has one and is in its foreground: a job in the
    /// background that asks would only be stopped.
    pub fn open() -> Option<Self> {
        let file = File::options().read(true).write(true).open("/dev/tty").ok().or_else(stdin)?;
        if tcgetpgrp(&file).ok()? != getpgrp() {
            return None;
        }
        let cooked = tcgetattr(&file).ok()?;
        Some(Self { file, cooked, reader: None })
    }

    /// Reads a key or a line in the background and hands it to `take`, which is the one of the
    /// first call for good. What was wanted before and not typed yet is not wanted any more.
    ///
    /// # Errors
    /// When the terminal does not do what it is told.
    pub fn read(&mut self, number: Number, want: Want, take: &TakeTyped) -> io::Result<()> {
        self.set_mode(want)?;
        if self.reader.is_none() {
            self.reader = Some(self.start_reader(take)?);
        }
        let Some(reader) = &mut self.reader else { return Ok(()) };
        reader.wants.send((number, want)).map_err(|_| io::Error::other("no terminal to read from"))?;
        reader.bell.write_all(&[0])
    }

    fn start_reader(&self, take: &TakeTyped) -> io::Result<Reader> {
        let (wants, wanted) = mpsc::channel();
        let (heard, bell) = io::pipe()?;
        let (file, take) = (self.file.try_clone()?, Arc::clone(take));
        let listener = Listener { file, heard, wanted };
        std::thread::Builder::new().name("terminal".to_owned()).spawn(move || listener.listen(&take))?;
        Ok(Reader { wants, bell })
    }

    /// Its rows and columns.
    pub fn size(&self) -> Option<(usize, usize)> {
        let size = tcgetwinsize(&self.file).ok()?;
        (size.ws_row > 0 && size.ws_col > 0).then(|| (size.ws_row.into(), size.ws_col.into()))
    }

    /// Forgets what was typed so far: it was not meant for what is shown next.
    pub fn forget_typed(&self) {
        let _ = tcflush(&self.file, QueueSelector::IFlush);
    }

    /// Writes to the terminal.
    pub fn write(&mut self, text: &str) {
        // A terminal that is gone is noticed when it is read.
        let _ = self.file.write_all(text.as_bytes()).and_then(|()| self.file.flush());
    }

    /// The terminal for a program in the foreground, as it was found.
    pub fn lend(&self) -> io::Result<File> {
        self.restore();
        self.file.try_clone()
    }

    /// The line that a person answers a question with, empty when they end their input; nothing when nobody can be read.
    #[must_use]
    pub fn ask(&self, question: &str) -> Option<String> {
        // What was typed before the question is no answer to it.
        self.forget_typed();
        let mut file = self.lend().ok()?;
        file.write_all(question.as_bytes()).and_then(|()| file.flush()).ok()?;
        let mut line = String::new();
        BufReader::new(file).read_line(&mut line).ok()?;
        Some(line)
    }

    /// The same for a question that Esc and Ctrl-C answer at once. Ctrl-C is a key here and no signal: whoever asks
    /// hears it, and nobody else does later.
    #[must_use]
    pub fn ask_or_leave(&self, question: &str) -> Option<Said> {
        self.forget_typed();
        let said = self.read_said(question);
        self.restore();
        said.ok()
    }

    fn read_said(&self, question: &str) -> io::Result<Said> {
        let interrupt = self.cooked.special_codes[SpecialCodeIndex::VINTR];
        let mut mode = self.cooked.clone();
        mode.local_modes.remove(LocalModes::ISIG);
        mode.local_modes.insert(LocalModes::ICANON | LocalModes::ECHO | LocalModes::IEXTEN);
        // Both end a line.
        mode.special_codes[SpecialCodeIndex::VEOL] = ESCAPE as u8;
        mode.special_codes[SpecialCodeIndex::VEOL2] = interrupt;
        self.remember()?;
        tcsetattr(&self.file, OptionalActions::Now, &mode)?;
        let mut file = &self.file;
        file.write_all(question.as_bytes())?;
        let said = said(&mut file, interrupt, || self.set_mode(Want::Key).is_ok() && goes_on(&self.file))?;
        if !matches!(&said, Said::Line(line) if line.ends_with('\n')) {
            file.write_all(b"\n")?;
        }
        Ok(said)
    }

    /// The key that a person answers a question with; nothing when nobody can be read. Ctrl-C is a key here and no
    /// signal.
    #[must_use]
    pub fn ask_key(&self, question: &str) -> Option<Typed> {
        self.forget_typed();
        let pressed = self.read_key(question);
        self.restore();
        pressed.ok()
    }

    fn read_key(&self, question: &str) -> io::Result<Typed> {
        self.set_mode(Want::Key)?;
        let mut mode = tcgetattr(&self.file)?;
        mode.local_modes.remove(LocalModes::ISIG);
        tcsetattr(&self.file, OptionalActions::Now, &mode)?;
        let mut file = &self.file;
        file.write_all(question.as_bytes())?;
        let pressed = press(&mut file, || goes_on(&self.file));
        file.write_all(b"\n")?;
        Ok(pressed)
    }

    /// Leaves the terminal as it was found.
    pub fn restore(&self) {
        let _ = tcsetattr(&self.file, OptionalActions::Now, &self.cooked);
    }

    fn set_mode(&self, want: Want) -> io::Result<()> {
        let mut mode = self.cooked.clone();
        match want {
            Want::Key => {
                mode.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
                mode.special_codes[SpecialCodeIndex::VMIN] = 1;
                mode.special_codes[SpecialCodeIndex::VTIME] = 0;
                // Signals stay on: Ctrl-C must work while it asks.
                mode.local_modes.insert(LocalModes::ISIG);
                self.remember()?;
            }
            Want::Line => mode.local_modes.insert(LocalModes::ICANON | LocalModes::ECHO),
        }
        Ok(tcsetattr(&self.file, OptionalActions::Now, &mode)?)
    }

    /// Remembers how it was found, for whoever ends the process.
    fn remember(&self) -> io::Result<()> {
        let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
        if found.is_none() {
            *found = Some((self.file.try_clone()?, self.cooked.clone()));
        }
        Ok(())
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        if self.reader.is_some() {
            self.restore();
        }
    }
}

/// Remembers how the terminal is now, for whoever ends the process while a line is being edited.
pub fn remember_found() {
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    if found.is_none()
        && let Some(file) = stdin()
        && let Ok(cooked) = tcgetattr(&file)
    {
        *found = Some((file, cooked));
    }
}

/// Leaves the terminal as it was found, from anywhere: for ends that drop nothing.
pub fn restore_terminal() {
    if let Ok(found) = FOUND.try_lock()
        && let Some((file, cooked)) = found.as_ref()
    {
        let _ = tcsetattr(file, OptionalActions::Now, cooked);
    }
}

fn stdin() -> Option<File> {
    let stdin = rustix::stdio::stdin();
    isatty(stdin).then(|| rustix::io::dup(stdin).ok().map(File::from)).flatten()
}

/// The thread that reads.
struct Listener {
    file: File,
    heard: PipeReader,
    wanted: mpsc::Receiver<(Number, Want)>,
}

impl Listener {
    /// Reads what is wanted until nobody wants anything any more.
    fn listen(mut self, take: &TakeTyped) {
        let mut current: Option<(Number, Want)> = None;
        loop {
            // Only the last one counts: what came before it is not asked any more.
            current = self.wanted.try_iter().last().or(current);
            let typed = current.and_then(|(number, want)| Some((number, self.answer(want)?)));
            match typed {
                Some((number, typed)) => {
                    current = None;
                    take(number, typed);
                }
                // The bell is waited for; it is gone when nobody wants anything any more.
                None if read(&mut self.heard, &mut [0; 64]).is_none_or(|length| length == 0) => return,
                None => {}
            }
        }
    }

    /// What is typed; `None` when something else is wanted meanwhile.
    fn answer(&mut self, want: Want) -> Option<Typed> {
        let mut line = Vec::new();
        loop {
            if !self.is_typed() {
                return None;
            }
            if want == Want::Key {
                return Some(press(&mut &self.file, || goes_on(&self.file)));
            }
            let mut bytes = [0; 1024];
            let length = match read(&mut self.file, &mut bytes) {
                None => return Some(Typed::End),
                Some(length) => length,
            };
            let new = bytes.get(..length).unwrap_or_default();
            line.extend_from_slice(new);
            if new.is_empty() || line.ends_with(b"\n") {
                let line = String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned();
                return Some(Typed::Line(line));
            }
        }
    }

    /// Waits for the terminal; false when the bell rings first. Where a terminal can't be waited for
    /// it is read: then a key may be lost to a question that is gone, but never answers the next.
    fn is_typed(&mut self) -> bool {
        loop {
            let mut both = [PollFd::new(&self.file, PollFlags::IN), PollFd::new(&self.heard, PollFlags::IN)];
            match poll(&mut both, None) {
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return true,
                Ok(_) => {
                    let [_, heard] = &both;
                    return heard.revents().is_empty();
                }
            }
        }
    }
}

/// Whether more is typed without a pause.
fn goes_on(file: &File) -> bool {
    loop {
        let mut terminal = [PollFd::new(file, PollFlags::IN)];
        match poll(&mut terminal, Some(&NEXT_LETTER)) {
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return false,
            Ok(ready) => return ready > 0,
        }
    }
}

/// What is said with one line, which Esc and `interrupt` end, too. An arrow begins like Esc and `goes_on`: it is a line
/// that says nothing.
fn said(source: &mut impl Read, interrupt: u8, goes_on: impl Fn() -> bool) -> io::Result<Said> {
    let mut line = Vec::new();
    let mut byte = [0];
    while read(source, &mut byte).ok_or_else(|| io::Error::other("no terminal to read from"))? > 0 {
        let [typed] = byte;
        // A code of 0 is none.
        if typed == interrupt && interrupt != 0 {
            return Ok(Said::Interrupt);
        }
        if char::from(typed) == ESCAPE && !goes_on() {
            return Ok(Said::Escape);
        }
        line.push(typed);
        if typed == b'\n' || char::from(typed) == ESCAPE {
            break;
        }
    }
    Ok(Said::Line(String::from_utf8_lossy(&line).into_owned()))
}

/// What one press is. Whoever types words where a key is asked for means no key: the first letter of "also" must not be
/// an answer. What an arrow sends has an end of its own: what comes behind it is the next press, and stays where it is
/// read from.
fn press(source: &mut impl Read, goes_on: impl Fn() -> bool) -> Typed {
    let mut typed = Vec::new();
    loop {
        let mut byte = [0];
        match read(source, &mut byte) {
            None | Some(0) => break,
            Some(_) => typed.extend_from_slice(&byte),
        }
        if typed.len() >= LONGEST_WORDS || is_sequence(&typed) || !goes_on() {
            break;
        }
    }
    key(&typed)
}

/// Whether this is all that a key sends which sends more than a character.
fn is_sequence(typed: &[u8]) -> bool {
    // The function keys of a console have two brackets before their letter.
    matches!(typed, [0x1b, b'[' | b'O', .., last] if (0x40..=0x7e).contains(last) && typed != b"\x1b[[")
}

/// What one press gives: its first character, also when it is held down or followed by Enter; arrows up and down by
/// what they send. No question knows other keys that send a sequence.
fn key(bytes: &[u8]) -> Typed {
    let text = String::from_utf8_lossy(bytes);
    let Some(first) = text.chars().next() else { return Typed::End };
    let rest = text.trim_end_matches(['\r', '\n']);
    match first {
        END_OF_INPUT => Typed::End,
        ESCAPE if rest.len() > 1 => match rest {
            "\u{1b}[A" | "\u{1b}OA" => Typed::Arrow { down: false },
            "\u{1b}[B" | "\u{1b}OB" => Typed::Arrow { down: true },
            _ if rest.chars().all(|char| char == ESCAPE) => Typed::Key(ESCAPE),
            _ => Typed::Words,
        },
        first if rest.chars().all(|char| char == first) => Typed::Key(first),
        _ => Typed::Words,
    }
}

fn read(source: &mut impl Read, bytes: &mut [u8]) -> Option<usize> {
    loop {
        match source.read(bytes) {
            Ok(length) => return Some(length),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_an_answer_and_words_are_none() {
        for (bytes, typed) in [
            ("y", Typed::Key('y')),
            ("y\r", Typed::Key('y')),
            ("yyyy", Typed::Key('y')),
            ("\r", Typed::Key('\r')),
            ("é", Typed::Key('é')),
            ("\u{1b}", Typed::Key('\u{1b}')),
            ("\u{1b}\u{1b}", Typed::Key('\u{1b}')),
            ("\u{1b}[A", Typed::Arrow { down: false }),
            ("\u{1b}OB", Typed::Arrow { down: true }),
            ("\u{1b}[15~", Typed::Words),
            ("\u{4}", Typed::End),
            ("", Typed::End),
            ("also fix the docs", Typed::Words),
            ("yes\r", Typed::Words),
            ("ad", Typed::Words),
        ] {
            assert_eq!(key(bytes.as_bytes()), typed, "{bytes:?}");
        }
    }

    #[test]
    fn a_question_is_left_with_one_key_and_an_arrow_is_none() {
        let line = |text: &str| Said::Line(text.to_owned());
        for (bytes, goes_on, expected) in [
            ("y\n", false, line("y\n")),
            ("", false, line("")),
            ("\u{3}", false, Said::Interrupt),
            ("fix th\u{3}", false, Said::Interrupt),
            ("\u{1b}", false, Said::Escape),
            ("\u{1b}[A", true, line("\u{1b}")),
        ] {
            assert_eq!(said(&mut bytes.as_bytes(), 3, || goes_on).unwrap(), expected, "{bytes:?}");
        }
        assert_eq!(said(&mut &b"\0\n"[..], 0, || false).unwrap(), line("\0\n"), "no key is set for it");
    }

    #[test]
    fn what_follows_an_arrow_at_once_is_the_next_press() {
        let (up, down) = (Typed::Arrow { down: false }, Typed::Arrow { down: true });
        for (bytes, presses) in [
            ("\u{1b}[B\u{1b}[B", [down.clone(), down.clone()]),
            ("\u{1b}[B\r", [down.clone(), Typed::Key('\r')]),
            ("\u{1b}OA\u{1b}[B", [up, down]),
            ("\u{1b}[15~y", [Typed::Words, Typed::Key('y')]),
            ("\u{1b}[[A", [Typed::Words, Typed::End]),
            ("also", [Typed::Words, Typed::End]),
        ] {
            let mut source = bytes.as_bytes();
            let read = [(); 2].map(|()| press(&mut source, || true));
            assert_eq!(read, presses, "{bytes:?}");
        }
    }
}
