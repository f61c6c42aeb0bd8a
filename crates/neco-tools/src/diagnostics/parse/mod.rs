//! How the output of each checker reads.
//!
//! Output is read as it comes: what is no problem is passed over, so that words of a
//! build script between two problems do no harm.

mod cargo;
mod format;
mod linters;
mod pattern;
#[cfg(test)]
mod recorded;

pub(super) use format::Format;
