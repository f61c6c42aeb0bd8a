//! One request, seen through in plain lines until it is done, and what came of it.
//!
//! Reading order: [`stdin`] (what is asked), [`see`] (a session of this process) with [`drive`] and [`stop`] (signals),
//! [`attached`] (one of another process) with [`guest`], [`workflow`], [`outcome`] (what a run came
//! to), [`exit`] (the number that says so), [`report`] (the same as one JSON object).

pub mod attached;
pub mod drive;
pub mod exit;
pub mod guest;
pub mod outcome;
pub mod report;
pub mod see;
pub mod stdin;
mod stop;
pub mod workflow;

pub use drive::{Drive, Judge, Stopped};
pub use guest::{Guest, lately};
pub use see::{Run, RunUi, listen, see_through};
