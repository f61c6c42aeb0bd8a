//! The terminal is given back as it was, whatever happens.

use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, EnableBracketedPaste, EnableFocusChange, KeyboardEnhancementFlags,
    PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::{execute, terminal};

/// Whether the terminal is in our hands now; a panic or a signal must know.
static TAKEN: AtomicBool = AtomicBool::new(false);

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
///
/// # Errors
/// When it does not let us.
pub fn retake() -> io::Result<()> {
    TAKEN.store(true, Ordering::SeqCst);
    terminal::enable_raw_mode()?;
    execute!(io::stdout(), EnableBracketedPaste, EnableFocusChange)?;
    // Terminals that do not know it leave it alone: Shift+Enter is then the same as Enter there.
    execute!(io::stdout(), PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES))
}

impl Drop for Guard {
    fn drop(&mut self) {
        give_back();
    }
}

/// Whether the terminal is ours now: a panic elsewhere may have given it back.
#[must_use]
pub fn is_taken() -> bool {
    TAKEN.load(Ordering::SeqCst)
}

/// Gives the terminal back; does nothing when it is not ours. For panics and signals too.
pub fn give_back() {
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    // There is nobody left to tell.
    let _ = execute!(io::stdout(), PopKeyboardEnhancementFlags, DisableFocusChange, DisableBracketedPaste);
    let _ = io::stdout().write_all(b"\x1b[?2026l\x1b[?25h\x1b[0m\r");
    let _ = io::stdout().flush();
    let _ = terminal::disable_raw_mode();
}
