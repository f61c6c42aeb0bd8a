//! What a session puts before its agents.

mod environment;

pub use environment::{Environment, Facts};
