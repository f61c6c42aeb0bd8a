//! What happens when a box is gone: what a command left is looked at, and put right.
//!
//! Invariant: whoever is killed leaves a list of what is to be put right, and whoever comes next does it.
//!
//! Reading order: [`keep`] with [`hands`], [`watch`] with [`known`], [`masks`] with [`lists`], [`traces`].

pub(crate) mod hands;
pub(crate) mod keep;
pub(crate) mod known;
pub(crate) mod lists;
pub(crate) mod masks;
mod traces;
pub(crate) mod watch;
