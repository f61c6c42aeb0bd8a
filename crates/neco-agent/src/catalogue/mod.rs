//! The tools that are not declared: a model is told of each in a line, looks up with `activate` how it is called, and
//! calls it with `call`. So the first request stays short, and what a session needs later changes nothing at its beginning.
//!
//! Invariants: everybody but the model sees the call of the tool itself, with its own name and arguments; looking a tool
//! up leaves nothing behind, so a call that fits runs whether or not its tool was looked up.
//!
//! Reading order: [`mod@declaration`] (a tool as a model is told of it), [`listing`] (which tools these are and what is told
//! of them), [`unwrapping`] (what a model writes into
//! `call`), and the [`mod@tools`].

mod declaration;
mod listing;
#[cfg(test)]
pub(crate) mod stub;
mod tools;
mod unwrapping;

pub(crate) use declaration::declaration;
pub use listing::ToolCatalogue;
pub(crate) use listing::{Candidate, is_everyday};
pub use neco_model::{ACTIVATE, CALL};
pub use tools::tools;
pub(crate) use unwrapping::{Unwrapping, meant};
