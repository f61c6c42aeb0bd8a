//! Policy: may this call happen?
//!
//! Invariants: [`Policy::judge`] is pure, so that the loop and an explanation get the same answer;
//! every verdict names the rule it comes from; without a person to ask, "ask" is "deny".
//!
//! Reading order: [`action`], [`judge`].

mod action;
mod judge;

pub use action::{Action, Touch, Who};
pub use judge::{Grant, Policy, Ruling, Verdict};
