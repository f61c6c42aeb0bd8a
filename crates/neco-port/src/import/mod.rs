//! Sessions of other agents, read from their files and made into sessions of ours; and those that Neco exported.
//!
//! Invariants: a file is read as far as it goes: lines that are broken, cut off or of a kind that nobody
//! here knows are counted and told, never an error. What comes out can be sent to any vendor: ids are
//! unique, every call has one result, and what only a vendor can read (signatures, encrypted thoughts)
//! is left behind. Nothing in the other agent's folder is ever changed.
//!
//! Reading order: [`mod@format`] (whose file is it), [`foreign`] (what all of them come down to), one file a
//! format: [`claude_code`], [`codex`], [`gemini_cli`], [`opencode`], [`openclaw`]; [`names`] (their tools,
//! ours), [`card`] (what a person sees of a call), [`events`] (the log it becomes), [`places`] (where the
//! files lie), [`database`] (those that are no files), [`mod@found`] (all of a folder), [`keep`] (a session enters
//! the store), `ours` (what Neco exported), [`exchanges`] (what is kept with checkpoints), [`mod@file`] (what comes of a file).

pub mod card;
pub mod claude_code;
pub mod codex;
pub mod database;
pub mod events;
pub mod exchanges;
pub mod file;
pub mod foreign;
pub mod format;
pub mod found;
pub mod gemini_cli;
pub mod keep;
pub mod names;
pub mod openclaw;
pub mod opencode;
mod ours;
pub mod places;
#[cfg(test)]
mod tests;

pub use file::Taken;
pub use foreign::Foreign;
pub use format::read;
pub use found::{everywhere, found};
pub use keep::Keeper;
