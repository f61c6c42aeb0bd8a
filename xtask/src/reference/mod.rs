//! `cargo xtask reference`: the tables of `docs/reference`, written from the code, so that what they
//! say is what the program does, and the table of settings that the program itself reads.
//!
//! Invariants: a page depends on the code alone (no clock, no machine), so writing twice changes
//! nothing; a test fails as soon as a page and the code differ.
//!
//! Reading order: [`pages`] (the one list), [`vocabulary`] (events and commands), [`schema`], [`errors`], [`slash`].

mod errors;
mod markdown;
mod pages;
mod schema;
mod slash;
mod vocabulary;

pub use pages::{check, write};
