//! Windows in other processes, as they are served.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

mod following;
mod manners;
mod serving;
mod session;
