//! The suite that every backend must pass.
//!
//! Every check works in sessions and folders of its own, so a store with other things in it is fine
//! and a backend can be checked again and again on the same database.
//!
//! Reading order: `check`, `log`, `catalog`, `forks`, `removal`, `search`; `samples` and `tree_samples` make the events.

mod catalog;
mod check;
mod forks;
mod log;
mod removal;
mod samples;
mod search;
mod tree_samples;

pub use check::check;
