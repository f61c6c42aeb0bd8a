//! The client of MCP servers at an address, against servers on this machine: both eras, sessions, logins, and whatever
//! can go wrong on the way.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    missing_docs,
    reason = "tests stop at the first thing that is wrong"
)]

mod fake;
mod logins;
mod messages;
mod oauth;
mod stage;
mod troubles;
mod web;
