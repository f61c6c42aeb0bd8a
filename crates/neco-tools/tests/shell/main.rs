//! The shell tools on real processes.
#![allow(clippy::unwrap_used, clippy::string_slice, clippy::print_stderr)]

mod background;
mod boxed;
mod foreground;
mod git;
mod world;
