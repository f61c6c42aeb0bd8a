//! A session as lines of JSON: a header, then every event as the log keeps it, and big outputs of calls.
//!
//! Invariants: what is written and read again is the same events, byte for byte; a file that was cut
//! off gives everything up to its last whole line, and says so; a file of a later format is refused
//! before anything of it is taken.
//!
//! Reading order: `write`, `read`.

mod read;
mod write;

pub use read::{JsonlError, JsonlReader};
pub use write::JsonlWriter;
pub use write::Output;
pub use write::{FORMAT, Header};
