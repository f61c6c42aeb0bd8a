//! Windows in other processes, as they are served.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

mod following;
mod manners;
mod serving;
#[allow(dead_code, reason = "what only the tests over HTTP need")]
mod session;
