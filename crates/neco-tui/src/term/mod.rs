//! The terminal: what is finished goes into its own scrollback, what is alive stays at the bottom.
//!
//! Invariants: nothing depends on where the terminal says its cursor is (it is asked only to see how long that takes);
//! all movement is relative to the live rows, whose number is known. Every frame is one write, between the marks of a
//! synchronized update unless only the row of the cursor is different. No mouse is caught and the alternate screen is only
//! for what takes all of the terminal for a while (what was changed, one of the agents), so people can scroll, select
//! and copy as everywhere else.
//!
//! Reading order: [`abilities`] (what the terminal can do), [`ground`] (what it says of itself) with `early`
//! (what is typed before anybody listens), [`ansi`] (a styled line as bytes), [`change`] (what of a row is different),
//! [`screen`] (frames) with `pen` (where the cursor is while one is written) and `alternate` (the screen below while the
//! alternate one is shown) and `unwritten` (a frame that is taken back), [`keys`] (what comes from the terminal), [`writer`] (a slow terminal holds up
//! nobody), [`guard`] (the terminal is given back as it was, whatever happens), [`notify`] (what is said to a person
//! who looks elsewhere, and to their clipboard).

pub mod abilities;
mod alternate;
pub mod ansi;
pub mod change;
mod early;
pub mod ground;
pub mod guard;
pub mod keys;
pub mod notify;
mod pen;
pub mod screen;
mod unwritten;
pub mod writer;

pub use abilities::Abilities;
pub use ansi::Depth;
pub use guard::{Guard, give_back, is_taken, retake, set_alternate};
pub use keys::Keys;
pub use notify::Notify;
pub use screen::Screen;
pub use unwritten::Known;
pub use writer::Writer;
