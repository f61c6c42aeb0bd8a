//! How the output of each checker reads.
//!
//! One file a format. Output is read as it comes: what is no problem is passed over, so that words of a
//! build script between two problems do no harm.

mod cargo;
mod eslint;
mod format;
mod go_vet;
mod pattern;
#[cfg(test)]
mod recorded;
mod ruff;
mod tsc;

pub(super) use format::Format;
