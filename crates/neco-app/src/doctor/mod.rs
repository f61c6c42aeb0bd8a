//! What is there, what is missing, and how to put it right.
//!
//! Invariants: a check never stops the ones after it; no value of a key is ever told; what fails says what to do.
//!
//! Reading order: [`mod@examine`] (all checks), [`models`], [`machine`], [`plugged`] with [`servers`].

mod examine;
mod machine;
mod models;
mod plugged;
mod servers;

pub(crate) use examine::{examine, sandbox, set_sandbox, watch};
