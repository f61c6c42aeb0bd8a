//! `diagnostics` with real checkers on real projects.

#![allow(missing_docs, clippy::unwrap_used, clippy::string_slice)]

mod after_edits;
mod bench;
mod checkers;
mod packages;
mod settings;
