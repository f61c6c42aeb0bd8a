//! What is there, what is missing, and how to put it right.
//!
//! Invariants: a check never stops the ones after it; no value of a key is ever told; what fails says what to do.
//!
//! Reading order: [`mod@examine`] (all checks), [`models`] with [`listening`] and [`key_variables`], [`machine`],
//! [`checkpoints`], [`plugged`].

mod checkpoints;
mod examine;
mod key_variables;
mod listening;
mod machine;
mod models;
mod plugged;

pub(crate) use examine::{examine, sandbox};
