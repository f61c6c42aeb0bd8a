//! The shell tools on real processes.
#![allow(clippy::unwrap_used, clippy::string_slice)]

mod background;
mod foreground;
mod world;
