//! `neco auth`: keys and logins.
//!
//! Invariants: a key is never taken from the command line, where others can see it, and never shown
//! but for its last four characters; what is kept is kept in one file, for its owner alone.
//!
//! Reading order: [`mod@run`], [`set`] with [`typed`], [`list`], [`remove`], [`login`].

mod list;
mod login;
mod remove;
mod run;
mod set;
mod typed;

pub use run::run;
