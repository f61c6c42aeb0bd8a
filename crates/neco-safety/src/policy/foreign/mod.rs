//! Rules that were written for other agents.
//!
//! Invariants: a rule is taken over only as far as it is understood; what is left out is told, and
//! never makes anything wider than its author meant.
//!
//! Reading order: [`gemini`] (policy files), [`claude`] (permission strings).

pub(super) mod claude;
pub(super) mod gemini;
