//! The terminal: what is finished goes into its own scrollback, what is alive stays at the bottom.
//!
//! Invariants: nothing here asks the terminal where the cursor is (over a slow line the answer comes
//! late, or among the keys); all movement is relative to the live rows, whose number is known. Every
//! frame is one write between the marks of a synchronized update. No other screen is used and no
//! mouse is caught, so people can scroll, select and copy as everywhere else.
//!
//! Reading order: [`ansi`] (a styled line as bytes), [`screen`] (frames), [`writer`] (a slow terminal holds up
//! nobody), [`guard`] (the terminal is given back as it was, whatever happens), [`notify`] (what is said to a
//! person who looks elsewhere, and to their clipboard).

pub mod ansi;
pub mod guard;
pub mod notify;
pub mod screen;
pub mod writer;

pub use ansi::Depth;
pub use guard::{Guard, give_back, is_taken, retake};
pub use notify::Notify;
pub use screen::Screen;
pub use writer::Writer;
