//! What a log adds up to.
//!
//! Invariants: a fold depends on the events alone, in order; folding a log up to any event gives what
//! the session was then, and so does folding a log that was gone back in; the conversation it gives always pairs every call with its result, except
//! for calls that are still open.
//!
//! Reading order: [`neco_proto::rewinds`] (which events count), [`standing`] (small, kept up to date while a session runs), [`shared`] (what agents share), [`conversation`] (the messages), [`read`].

mod conversation;
mod read;
mod shared;
mod standing;
#[cfg(test)]
mod tests;

pub use conversation::{Fold, OpenCall};
pub use neco_proto::rewinds::{Effective, Rewinds};
pub use read::{each_event, fold_agent, fold_log, fold_since};
pub use shared::SharedState;
pub use standing::{LeftRunning, Standing};
