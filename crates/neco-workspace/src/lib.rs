//! Knows the user's folder: git facts and what git ignores.
//!
//! Reading order: [`walk`] (the one set of rules by which every tool walks the folder), `rules` (what
//! is ignored), [`git`], `small_file` (how files that anyone may have put there are read).

pub mod git;
mod rules;
mod small_file;
pub mod walk;

pub use git::{GitFacts, Head};
pub use walk::{Scope, walker};
