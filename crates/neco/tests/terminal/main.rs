//! The terminal window as a person uses it: the real binary in a real terminal (tmux), a scripted model.
//!
//! Where tmux is not there nothing of this can be tried, and every test says so.

#![allow(
    clippy::unwrap_used,
    clippy::string_slice,
    clippy::print_stderr,
    reason = "what a test does not expect fails it"
)]
#![allow(dead_code, reason = "the support of the command line tests is shared")]

mod back;
mod custom;
mod demo;
mod detaching;
mod endings;
mod fingers;
mod first_run;
mod lines;
mod pty;
mod resume;
mod screens;
mod settings;
mod sizes;
mod slow;
mod stopping;
mod stories;
#[path = "../cli/support.rs"]
mod support;
mod tmux;
mod turns;
