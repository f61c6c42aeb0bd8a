//! The policy: rules from everywhere, and what they come to.

#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "what a test does not expect fails it, and what it does not run it says"
)]

mod allowed;
mod claude;
mod credentials;
mod docs;
mod effects;
mod gemini;
mod grants;
mod matrix;
mod modes;
mod network;
mod outside;
mod paths;
mod programs;
mod properties;
mod rules;
mod support;
mod telling;
mod walked_round;
