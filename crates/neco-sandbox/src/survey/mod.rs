//! What is in the folders that commands work in: secrets, repositories, settings, and files that act later.
//!
//! Invariant: what can't be read is never taken for empty.
//!
//! Reading order: [`search`], [`look`], [`unreadable`], [`facts`], [`news`].

pub(crate) mod facts;
pub(crate) mod look;
mod news;
pub(crate) mod search;
pub(crate) mod unreadable;
