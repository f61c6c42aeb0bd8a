//! The program over HTTP, as it is served on a real socket.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests may panic")]

mod ending;
mod hostile;
mod load;
mod once;
mod reconnect;
mod requests;
mod routes;
mod scenarios;
#[path = "../remote/session.rs"]
#[allow(dead_code, reason = "what only the tests of Unix sockets need")]
mod session;
mod stage;
mod tls;
