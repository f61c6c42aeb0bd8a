//! Knows the user's folder: git facts and what git ignores.
//!
//! Reading order: [`walk`] (the one set of rules by which every tool walks the folder), [`git`].

pub mod git;
pub mod walk;

pub use git::{GitFacts, Head};
pub use walk::{Scope, walker};
