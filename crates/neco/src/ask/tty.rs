//! The terminal a person sits at: read by a thread of its own, one key or one line when asked for.

use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex, PoisonError, mpsc};

use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, isatty, tcflush, tcgetattr, tcgetpgrp,
    tcsetattr,
};

use super::desk::TakeTyped;
use super::question::{Typed, Want};

/// How the terminal was found, for whoever ends the process.
static FOUND: Mutex<Option<(File, Termios)>> = Mutex::new(None);

/// Ctrl-D.
const END_OF_INPUT: u8 = 4;

/// The terminal.
pub struct Tty {
    file: File,
    /// How it was found.
    cooked: Termios,
    wants: Option<mpsc::Sender<Want>>,
}

impl Tty {
    /// The terminal of this process, if it has one and is in its foreground: a job in the
    /// background that asks would only be stopped.
    #[must_use]
    pub fn open() -> Option<Self> {
        let file = File::options().read(true).write(true).open("/dev/tty").ok().or_else(stdin)?;
        if tcgetpgrp(&file).ok()? != getpgrp() {
            return None;
        }
        let cooked = tcgetattr(&file).ok()?;
        Some(Self { file, cooked, wants: None })
    }

    /// Reads a key or a line in the background and hands it to `take`, which is the one of the
    /// first call for good.
    ///
    /// # Errors
    /// When the terminal does not do what it is told.
    pub fn read(&mut self, want: Want, take: &TakeTyped) -> io::Result<()> {
        self.set_mode(want)?;
        if self.wants.is_none() {
            let (sender, wants) = mpsc::channel();
            let (file, take) = (self.file.try_clone()?, Arc::clone(take));
            std::thread::Builder::new().name("terminal".to_owned()).spawn(move || read_wanted(file, &wants, &take))?;
            self.wants = Some(sender);
        }
        match self.wants.as_ref().map(|wants| wants.send(want)) {
            Some(Ok(())) => Ok(()),
            Some(Err(_)) | None => Err(io::Error::other("nobody reads the terminal")),
        }
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
    ///
    /// # Errors
    /// When the system does not let us.
    pub fn lend(&self) -> io::Result<File> {
        self.restore();
        self.file.try_clone()
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
                let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
                if found.is_none() {
                    *found = Some((self.file.try_clone()?, self.cooked.clone()));
                }
            }
            Want::Line => mode.local_modes.insert(LocalModes::ICANON | LocalModes::ECHO),
        }
        Ok(tcsetattr(&self.file, OptionalActions::Now, &mode)?)
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        if self.wants.is_some() {
            self.restore();
        }
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

fn read_wanted(mut file: File, wants: &mpsc::Receiver<Want>, take: &TakeTyped) {
    for want in wants {
        take(match want {
            Want::Key => key(&mut file),
            Want::Line => line(&mut file),
        });
    }
}

/// The first character of what one press gives; a key that gives a sequence counts as Escape.
fn key(file: &mut File) -> Typed {
    let mut bytes = [0; 64];
    match read(file, &mut bytes) {
        None | Some(0) => Typed::End,
        Some(length) => {
            let text = String::from_utf8_lossy(bytes.get(..length).unwrap_or_default());
            match text.chars().next() {
                Some(char) if char == char::from(END_OF_INPUT) => Typed::End,
                Some(char) => Typed::Key(char),
                None => Typed::End,
            }
        }
    }
}

fn line(file: &mut File) -> Typed {
    let mut line = Vec::new();
    let mut bytes = [0; 1024];
    loop {
        match read(file, &mut bytes) {
            None => return Typed::End,
            Some(0) => break,
            Some(length) => line.extend_from_slice(bytes.get(..length).unwrap_or_default()),
        }
        if line.ends_with(b"\n") {
            break;
        }
    }
    Typed::Line(String::from_utf8_lossy(&line).trim_end_matches(['\n', '\r']).to_owned())
}

fn read(file: &mut File, bytes: &mut [u8]) -> Option<usize> {
    loop {
        match file.read(bytes) {
            Ok(length) => return Some(length),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
    }
}
