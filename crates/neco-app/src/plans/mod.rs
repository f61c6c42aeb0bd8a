//! Plans that sessions left unfinished.
//!
//! Reading order: [`unfinished`].

mod unfinished;

pub(crate) use unfinished::{close, list, show};
