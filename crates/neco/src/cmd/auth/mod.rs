//! `neco auth`: keys and logins.
//!
//! Invariants: a key is never taken from the command line, where others can see it, and never shown
//! but for its last four characters; what is kept is kept in one file, for its owner alone.
//!
//! Reading order: [`command`] with [`short`] (the same in one word), [`login`].

mod command;
mod login;
mod short;

pub use command::{AuthCommand, run, set_below_window};
pub use short::{log_in, log_out};
