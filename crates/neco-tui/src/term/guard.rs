//! The terminal is given back as it was, whatever happens.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::time::Duration;

use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange, KeyboardEnhancementFlags,
    PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::{Command, terminal};
use rustix::termios::{OptionalActions, Termios, tcgetattr, tcsetattr};

use super::alternate::LEAVE_ALTERNATE;

/// How long a terminal may take for a word; one that takes nothing is not waited for.
const PATIENCE: Duration = Duration::from_millis(500);

/// Whether the terminal is in our hands now; a panic or a signal must know.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Whether its alternate screen may be shown.
static ALTERNATE: AtomicBool = AtomicBool::new(false);

/// The modes of the terminal when it was taken last.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Holds the terminal in raw mode; dropping it gives the terminal back.
#[derive(Debug)]
pub struct Guard(());

impl Guard {
    /// Takes the terminal.
    ///
    /// # Errors
    /// When it is none, or does not let us.
    pub fn take() -> io::Result<Self> {
        let guard = Self(());
        retake()?;
        Ok(guard)
    }
}

/// Takes the terminal again after it was given back; the guard of before holds it.
pub fn retake() -> io::Result<()> {
    TAKEN.store(true, Ordering::SeqCst);
    *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = tcgetattr(io::stdin()).ok();
    terminal::enable_raw_mode()?;
    let mut bytes = String::new();
    let wish = |bytes: &mut String| {
        EnableBracketedPaste.write_ansi(bytes)?;
        EnableFocusChange.write_ansi(bytes)?;
        // Terminals that do not know it leave it alone: Shift+Enter is then the same as Enter there.
        PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES).write_ansi(bytes)
    };
    wish(&mut bytes).map_err(io::Error::other)?;
    tell(bytes)
}

impl Drop for Guard {
    fn drop(&mut self) {
        give_back();
    }
}

/// Another program had the terminal, and may have died without leaving it as it was: it is so again.
pub fn mend() {
    let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(before) = before {
        // There is nobody to tell when that fails.
        let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
    }
    // The usual screen, the cursor, no colours.
    let _ = tell("\x1b[?1047l\x1b[?25h\x1b[0m".to_owned());
}

/// Whether the terminal is ours now: a panic elsewhere may have given it back.
pub fn is_taken() -> bool {
    TAKEN.load(Ordering::SeqCst)
}

/// Notes whether the alternate screen of the terminal may be shown: as soon as it is on its way there, and until it is
/// certain that it is back. To go back once more than needed is better than once less.
pub fn set_alternate(alternate: bool) {
    ALTERNATE.store(alternate, Ordering::SeqCst);
}

/// Gives the terminal back; does nothing when it is not ours. For panics and signals too.
pub fn give_back() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    // The modes first: setting them never waits, whereas a terminal that takes nothing could be waited for for ever.
    // There is nobody left to tell when something fails.
    let _ = terminal::disable_raw_mode();
    let mut bytes = String::new();
    bytes.push_str(if ALTERNATE.swap(false, Ordering::SeqCst) { LEAVE_ALTERNATE } else { "" });
    let _ = PopKeyboardEnhancementFlags.write_ansi(&mut bytes);
    let _ = DisableFocusChange.write_ansi(&mut bytes);
    let _ = DisableBracketedPaste.write_ansi(&mut bytes);
    bytes.push_str("\x1b[?2026l\x1b[?7h\x1b[?25h\x1b[0m\r");
    let _ = tell(bytes);
}

/// Writes to the terminal, but does not wait for one that takes nothing.
fn tell(bytes: String) -> io::Result<()> {
    let mut out = File::from(io::stdout().as_fd().try_clone_to_owned()?);
    let (done, outcome) = mpsc::channel();
    std::thread::Builder::new().name("terminal".to_owned()).spawn(move || {
        // Whoever waited may be gone.
        let _ = done.send(out.write_all(bytes.as_bytes()));
    })?;
    outcome.recv_timeout(PATIENCE).unwrap_or(Ok(()))
}
