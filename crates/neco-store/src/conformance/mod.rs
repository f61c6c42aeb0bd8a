//! The suite that every backend must pass.
//!
//! Every check works in sessions and folders of its own, so a store with other things in it is fine
//! and a backend can be checked again and again on the same database.
//!
//! Reading order: `check`, `log`, `catalog`; `samples` makes the events.

mod catalog;
mod check;
mod log;
mod samples;

pub use check::check;
