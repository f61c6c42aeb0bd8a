//! The rules about what may happen: which are in force, what they come to, and those that are kept for good.
//!
//! Invariants: what is explained is what the loop would do: the same rules, the same look at the call, the same
//! judgement.
//!
//! Reading order: [`here`] (the rules of a folder) with `list`, [`look`] (a call as the policy is asked about it),
//! [`judge`] (`explain`, `test`), [`mod@kept`].

mod here;
mod judge;
mod kept;
mod look;

pub(crate) use here::{list, telling};
pub(crate) use judge::{explain, test};
pub(crate) use kept::{add, kept, remove};
