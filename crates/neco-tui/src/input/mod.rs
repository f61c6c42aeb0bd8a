//! Where the person writes.
//!
//! Reading order: [`text`] (a text with a cursor), [`vi`] (its keys, for those who want them), [`chips`] (big
//! pastes and pictures folded to a word), [`history`], [`completion`] (files and commands), [`keymap`] (which keys
//! do what), [`prompt`] (all of it together).

mod chips;
mod completion;
mod history;
mod keymap;
mod prompt;
mod text;
mod vi;

pub use completion::{Candidate, Completion, fits};
pub use history::History;
pub use keymap::{ACTIONS, Action, Chord, Keymap};
pub use prompt::{Edit, Prompt, Written};
pub use text::{Move, Text};
pub use vi::{Vi, ViMode, ViOutcome};
