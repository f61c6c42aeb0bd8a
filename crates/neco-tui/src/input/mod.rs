//! Where the person writes.
//!
//! Reading order: [`text`] (a text with a cursor), [`vi`] with [`reach`] (its keys, for those who want them), [`chips`] (big
//! pastes and pictures folded to a word), [`dropped`] (files that were dropped), [`history`],
//! [`completion`] with [`files`] and [`resources`] (files, resources and commands), [`keymap`] (which keys
//! do what), [`prompt`] (all of it together).

mod chips;
mod completion;
mod dropped;
mod files;
mod history;
mod keymap;
mod prompt;
mod reach;
mod resources;
mod text;
mod vi;

pub use completion::Candidate;
pub(crate) use completion::{Completion, fits, lit};
pub(crate) use dropped::{named_pictures, picture_file};
pub(crate) use files::{Files, may_hold_secrets};
pub use history::History;
pub use keymap::Keymap;
pub(crate) use keymap::{ACTIONS, Action};
pub(crate) use prompt::{Edit, FieldLook, Prompt, Written};
pub(crate) use resources::{names_resource, near_resources};
pub(crate) use text::Move;
pub(crate) use vi::ViMode;
