//! Walks the tree of a script and lists what it does, in the order of the text.
//!
//! Invariants: a list of what waits instead of recursion, so that nesting costs no stack; the grammar
//! gives the structure, our own scanner the words; where both disagree the script is not clean.
//!
//! Reading order: [`tree`], [`simple`].

mod simple;
mod tree;

pub(crate) use tree::walk;
pub(crate) use tree::{Standing, Step};
