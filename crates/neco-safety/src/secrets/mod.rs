//! Secrets: kept out of child environments.
//!
//! Invariants: a variable is dropped whole or kept whole, never rewritten; what is dropped is never logged.
//!
//! Reading order: [`key_shape`], [`scrub_env`].

pub mod key_shape;
pub mod scrub_env;

pub use scrub_env::scrub;
