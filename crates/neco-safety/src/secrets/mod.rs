//! Secrets: kept out of child environments, and out of what is stored, shown and sent.
//!
//! Invariants: a variable is dropped whole or kept whole, never rewritten; what is dropped is never
//! logged. What is taken out of a text leaves a mark that says what it was; nothing that is taken out
//! could have been obeyed by a shell, so that whoever judges a command misses nothing of what it does.
//!
//! Reading order: [`key_shape`], `elsewhere`, `assigned` (what secrets look like), [`find`],
//! [`redact`], [`scrub_env`], [`own_memory`].

mod assigned;
mod bytes;
mod cost;
mod elsewhere;
pub mod find;
pub mod key_shape;
mod own_memory;
pub mod redact;
pub mod scrub_env;

pub use find::{KnownSecret, Scope};
pub use own_memory::hide_own_memory;
pub use redact::{RedactedStream, Redactor};
pub use scrub_env::{Scrubbed, scrub};
