//! Where the person writes.
//!
//! Reading order: [`text`] (a text with a cursor), [`vi`] with [`reach`] (its keys, for those who want them), [`chips`] (big
//! pastes and pictures folded to a word), [`dropped`] (files that were dropped), [`history`],
//! [`completion`] with [`files`] (files and commands), [`keymap`] (which keys
//! do what), [`prompt`] (all of it together).

mod chips;
mod completion;
mod dropped;
mod files;
mod history;
mod keymap;
mod prompt;
mod reach;
mod text;
mod vi;

pub use completion::{Candidate, Completion, fits};
pub use dropped::{named_pictures, picture_file};
pub use files::Files;
pub use history::History;
pub use keymap::{ACTIONS, Action, Chord, Keymap};
pub use prompt::{Edit, Prompt, Written};
pub use text::{Move, Text};
pub use vi::{Vi, ViMode, ViOutcome};
