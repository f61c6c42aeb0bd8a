//! A session as lines of JSON: a header, then every event as the log keeps it, and big outputs of calls.
//!
//! Invariants: what is written and read again is the same events, byte for byte; a file that was cut
//! off gives everything up to its last whole line, and says so; a file of a later format is refused
//! before anything of it is taken.
//!
//! Reading order: `header`, `output`, `write`, `read`.

mod header;
mod output;
mod read;
mod write;

pub use header::{FORMAT, Header};
pub use output::Output;
pub use read::{JsonlError, JsonlReader};
pub use write::JsonlWriter;
