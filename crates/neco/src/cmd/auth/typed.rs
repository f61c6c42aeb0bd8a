//! A key as a person types it, unseen, or as a program pipes it in.

use std::fs::File;
use std::io::{self, IsTerminal, Read, Write};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcsetattr};
use secrecy::SecretString;

use crate::compose;
use crate::exit::Exit;
use crate::failure::Failure;
use crate::signals::{InterruptMask, Signal, Signals};

/// Longer than any key.
const MOST_BYTES: u64 = 64 * 1024;

/// What came of asking.
pub enum Typed {
    /// The key, as it was typed.
    Key(SecretString),
    /// The person wants to end instead.
    Stopped(Signal),
}

/// Asks for a key at the terminal, or takes the one that is piped in.
///
/// # Errors
/// When it can't be read.
pub fn key(question: &str) -> Result<Typed, Failure> {
    let unread = |error: io::Error| Failure::new(Exit::Failed, format!("the key can't be read: {error}"));
    if io::stdin().is_terminal() {
        return at_terminal(question).map_err(unread);
    }
    Ok(Typed::Key(read_all(io::stdin()).map_err(unread)?.into()))
}

fn at_terminal(question: &str) -> io::Result<Typed> {
    let mut terminal = Hidden::new(File::options().read(true).write(true).open("/dev/tty")?)?;
    let runtime = compose::runtime().map_err(|failure| io::Error::other(failure.message))?;
    let typed = runtime.block_on(async {
        let mut signals = Signals::listen(InterruptMask::default())?;
        terminal.file.write_all(question.as_bytes())?;
        let file = terminal.file.try_clone()?;
        tokio::select! {
            line = tokio::task::spawn_blocking(move || read_line(file)) => Ok(Typed::Key(line??.into())),
            signal = signals.next() => Ok(Typed::Stopped(signal)),
        }
    });
    // The thread that reads may wait for ever.
    runtime.shutdown_background();
    let _ = terminal.file.write_all(b"\n");
    typed
}

/// A terminal that does not show what is typed, until it is dropped.
struct Hidden {
    file: File,
    found: Termios,
}

impl Hidden {
    fn new(file: File) -> io::Result<Self> {
        let found = tcgetattr(&file)?;
        let mut hidden = found.clone();
        hidden.local_modes.remove(LocalModes::ECHO | LocalModes::ECHONL);
        hidden.local_modes.insert(LocalModes::ICANON | LocalModes::ISIG);
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

fn read_line(mut file: File) -> io::Result<String> {
    let mut line = Vec::new();
    let mut bytes = [0; 1024];
    loop {
        let length = match file.read(&mut bytes) {
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        line.extend_from_slice(bytes.get(..length).unwrap_or_default());
        if length == 0 || line.ends_with(b"\n") {
            return String::from_utf8(line).map_err(|_| not_text());
        }
    }
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
