//! What vendors may send: answers without end, numbers that are none, refusals, servers that are not ready. The real
//! binary over real HTTP.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, dead_code, reason = "a test")]

mod floods;
mod format;
mod numbers;
mod refusals;
mod server;
mod soak;
#[path = "../cli/support.rs"]
mod support;
mod waiting;
mod watched;
