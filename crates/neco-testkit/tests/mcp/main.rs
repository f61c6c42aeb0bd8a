//! The client of MCP servers against the fake server, which is a real program: it starts when it is needed, answers in
//! both eras, misbehaves, and leaves nothing behind.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "tests stop at the first thing that is wrong, and say what they skip"
)]

mod calls;
mod changes;
mod crashes;
mod ends;
mod eras;
mod isolation;
mod killed;
mod lazy;
mod lists;
mod misbehaviour;
mod questions;
mod real;
mod renewal;
mod sampling;
mod stage;
mod trusted;
