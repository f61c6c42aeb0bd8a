//! What is remembered from one session to the next.
//!
//! Reading order: [`entries`] (looking), [`change`] (adding and removing).

mod change;
mod entries;

pub(crate) use change::{add, keep_note, remove};
pub use entries::of_folder;
pub(crate) use entries::{has_entries, list, show};
