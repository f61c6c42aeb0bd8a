//! What a log adds up to.
//!
//! Invariants: a fold depends on the events alone, in order; folding a log up to any event gives what
//! the session was then; the conversation it gives always pairs every call with its result, except
//! for calls that are still open.
//!
//! Reading order: [`standing`] (small, kept up to date while a session runs), [`conversation`] (the messages).

mod conversation;
mod standing;
#[cfg(test)]
mod tests;

pub use conversation::{Fold, OpenCall};
pub use standing::Standing;
