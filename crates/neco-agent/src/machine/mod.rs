//! The loop as a state machine.
//!
//! Invariants: no async, no clock, no I/O; the same inputs give the same effects; an answer that
//! carries an old [`Stamp`] changes nothing, so a late tool result after a cancel can't restart the agent.
//!
//! Reading order: [`state`], [`input`], [`effect`], [`step`].

mod effect;
mod input;
mod state;
mod step;
#[cfg(test)]
mod step_tests;

pub use effect::{Effect, Nudge};
pub use input::{AnswerKind, End, Halt, Input, Stamp};
pub use state::State;
pub use step::Machine;
