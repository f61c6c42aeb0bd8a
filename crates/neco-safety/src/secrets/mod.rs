//! Secrets: kept out of child environments.
//!
//! Invariants: a variable is dropped whole or kept whole, never rewritten; what is dropped is never logged.
//!
//! Reading order: [`key_shape`], [`scrub_env`], [`own_memory`].

pub mod key_shape;
mod own_memory;
pub mod scrub_env;

pub use own_memory::hide_own_memory;
pub use scrub_env::scrub;
