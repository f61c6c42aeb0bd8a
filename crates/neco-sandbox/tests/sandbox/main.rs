//! Boxes as they really are: what gets out, what works inside, and what is left behind.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::print_stderr)]

mod attacks;
mod behaviour;
mod closed;
mod expected;
mod floods;
mod killed;
mod parts;
mod plants;
mod probe;
mod repositories;
mod stage;
mod waiting;
