//! Checkpoints, on real files and with real git beside them.

#![allow(missing_docs, clippy::unwrap_used, clippy::string_slice, clippy::print_stdout)]

mod conformance;
mod desk;
#[cfg(target_os = "linux")]
mod disk;
mod killed;
mod power;
mod repositories;
mod store;
