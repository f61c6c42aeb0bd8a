//! Knows the user's folder: git facts, what git ignores, the index of its code, and its checkpoints.
//!
//! Reading order: [`walk`] (the one set of rules by which every tool walks the folder), `rules` (what
//! is ignored), [`git`], [`changed`], [`watched`], `small_file` (how files that anyone may have put there are read);
//! [`index`]; [`checkpoint`] with [`review`]; [`worktree`] with [`worktree_git`].

#![cfg_attr(test, allow(clippy::string_slice))]

mod bytes;
pub mod changed;
pub mod checkpoint;
pub mod git;
pub mod index;
pub mod review;
mod rules;
mod small_file;
pub mod walk;
pub mod watched;
pub mod worktree;
pub mod worktree_git;

pub use changed::{ChangedFiles, changed_files, tracked_file};
pub use git::{GitFacts, Head};
pub use walk::{Scope, is_ignored, walker};
pub use watched::Watched;
