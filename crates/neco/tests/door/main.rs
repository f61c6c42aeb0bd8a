//! The door from outside: the real binary, real files, real processes, a scripted model.

#![allow(clippy::unwrap_used, clippy::string_slice, reason = "what a test does not expect fails it")]

mod approvals;
mod commands;
mod exits;
mod input;
mod local;
mod output;
mod sessions;
mod signals;
mod support;
