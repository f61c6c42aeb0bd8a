//! Checkpoints, on real files and with real git beside them.

#![allow(missing_docs, clippy::unwrap_used, clippy::string_slice)]

mod conformance;
mod desk;
mod killed;
mod repositories;
mod store;
