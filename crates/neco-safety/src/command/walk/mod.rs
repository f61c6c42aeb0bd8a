//! Walks the tree of a script and lists what it does, in the order of the text.
//!
//! Invariants: a list of what waits instead of recursion, so that nesting costs no stack; the grammar
//! gives the structure, our own scanner the words; where both disagree the script is not clean.
//!
//! Reading order: [`step`], [`tree`], [`simple`], [`redirect`], [`compound`].

mod compound;
mod redirect;
mod simple;
mod step;
mod tree;

pub(crate) use step::{Standing, Step};
pub(crate) use tree::walk;
