//! Checkpoints, on real files and with real git beside them.

#![allow(missing_docs, clippy::unwrap_used, clippy::string_slice, clippy::print_stdout)]

mod conformance;
mod desk;
mod exchanges;
mod killed;
mod looking;
mod lost;
mod others;
mod permissions;
mod pieces;
mod power;
mod repositories;
mod store;
