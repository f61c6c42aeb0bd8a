//! Going back to an earlier message: the conversation, the files, or both; and taking that back.
//!
//! Invariants: nothing is deleted, neither of the log nor of the workspace: the present state of the
//! files is kept before another one is put in its place; what would change can be seen before it does.
//!
//! Reading order: [`history`] (what a log says about it), [`outside`] (what no way back undoes), [`turn_work`] (what
//! calls did), [`editors`] (who edited what), [`plan`] (what one plan back would do), [`files`] (the workspace's part), [`reverting`] (changes of files alone),
//! [`error`].

mod editors;
mod error;
mod files;
mod history;
mod outside;
mod plan;
mod reverting;
#[cfg(test)]
mod tests;
mod turn_work;

pub use editors::Editors;
pub use error::RewindError;
pub use files::event_of;
pub(crate) use files::{Going, Went, agreed_to, go_back, not_agreed, preview, preview_from};
pub use history::RewindHistory;
pub use plan::RewindPlan;
#[cfg(test)]
pub use plan::rewind_event;
pub(crate) use reverting::{Reverting, revert};
