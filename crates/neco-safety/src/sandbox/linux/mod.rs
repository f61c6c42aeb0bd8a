//! What Linux needs beyond the standard library.
//!
//! Reading order: [`session_leader`], [`descriptor`].

pub(crate) mod descriptor;
pub(crate) mod session_leader;
