//! Commands that only look, with the options that only look.
//!
//! Invariants: what is not on the list is not safe; an option that is not named here, abbreviated or
//! computed makes the command unsafe; a path must lie in what the person opened, and its contents
//! must not be sensitive.
//!
//! `env` and `printenv` are left out on purpose: they show every variable there is, secrets among
//! them. `cargo metadata` is left out: it may use the network and runs the toolchain that a file of
//! the repository names.
//!
//! Reading order: [`mod@check`], [`table`], [`git`].

mod check;
mod git;
mod table;

pub(crate) use check::check;
