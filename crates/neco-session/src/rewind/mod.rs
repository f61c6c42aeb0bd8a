//! Going back to an earlier message: the conversation, the files, or both; and taking that back.
//!
//! Invariants: nothing is deleted, neither of the log nor of the workspace: the present state of the
//! files is kept before another one is put in its place; what would change can be seen before it does.
//!
//! Reading order: [`course`] (what a log says about it), [`way`] (what one way back would do), [`files`]
//! (the workspace's part), [`error`].

mod course;
mod error;
mod files;
#[cfg(test)]
mod tests;
mod way;

pub use course::{Course, Kept, SHORTEST_REV};
pub use error::RewindError;
pub use files::{Going, Went, agreed_to, event_of, go_back, preview};
#[cfg(test)]
pub use way::rewind_event;
pub use way::{TAKES_UNDO_BACK, Way};
