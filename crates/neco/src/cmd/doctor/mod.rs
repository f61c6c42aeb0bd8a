//! `neco doctor`: what is there, what is missing, and how to put it right.
//!
//! Invariants: a check never stops the ones after it; no value of a key is ever shown; what fails says
//! what to do.
//!
//! Reading order: [`finding`] (one line), [`models`] with [`listening`] and
//! [`key_variables`], [`machine`], [`checkpoints`], [`plugged`] (the checks), [`examine`].

mod checkpoints;
mod examine;
mod finding;
mod key_variables;
mod listening;
mod machine;
mod models;
mod plugged;

pub use examine::{report, run};
