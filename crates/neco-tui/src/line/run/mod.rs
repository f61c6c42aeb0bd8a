//! One request, seen through in plain lines until it is done, and what came of it.
//!
//! Reading order: [`drive`] (a session of this process), [`guest`] (one of another process), [`outcome`] (what a run came
//! to), [`exit`] (the number that says so), [`report`] (the same as one JSON object).

pub mod drive;
pub mod exit;
pub mod guest;
pub mod outcome;
pub mod report;

pub use drive::{Drive, Judge, Stopped};
pub use guest::{Guest, lately};
