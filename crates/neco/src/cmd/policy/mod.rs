//! `neco policy`: which rules are in force, what they come to, and whether they say what is meant.
//!
//! Invariants: what is explained is what the loop would do: the same rules, the same look at the
//! call, the same judgement.
//!
//! Reading order: [`mod@run`], [`list`], [`look`] (a call as the policy is asked about it), [`explain`], [`mod@test`], [`remove`].

mod explain;
mod list;
mod look;
mod remove;
mod run;
mod test;

pub use run::{listed, run};
