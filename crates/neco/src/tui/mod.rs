//! The terminal window: what it is opened with, and what it needs that a session does not give.
//!
//! Invariants: sessions are opened by the same code as for a single request; nothing is written to the terminal
//! while the window has it; the terminal is given back and sessions are on the disk however the process ends;
//! what a person runs with `!` is judged and boxed as the agent's commands are.
//!
//! Reading order: [`open`] (from the arguments to the end) with [`looks`], [`host`] (what the window asks for)
//! with [`ahead`]; [`others`] (whether the set-ups of other agents are) and [`set_up`] (whether a first model is offered).

pub mod ahead;
pub mod host;
mod looks;
mod open;
mod others;
mod set_up;

pub use open::{is_wanted, run, show, unless_left};
pub use others::offer_others;
