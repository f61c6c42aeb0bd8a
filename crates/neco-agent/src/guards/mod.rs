//! Guards: small watchers of an agent's work, each of which may say one thing at a time.
//!
//! Invariants: a guard sees nothing but the conversation, in order, so that one that sees it again when
//! a session is resumed knows what it knew; it never blocks a call; what it says is said at a turn
//! boundary, in one message that is marked as Neco's own.
//!
//! Reading order: [`guard`] (what a guard is and sees), [`watch`] (all of them together, and what a call is
//! about), then the guards: [`complexity`], [`findings`], [`errors`], [`anti_pattern`],
//! [`loops`] with [`likeness`], [`stop_check`], [`advice`].

mod advice;
mod anti_pattern;
mod complexity;
mod errors;
mod findings;
mod guard;
mod likeness;
mod loops;
mod stop_check;
mod watch;

pub use complexity::{Complexity, Judgement, judge};
pub use guard::{CallSeen, Guard, Hint, Objection, Scene, Seen};
pub use watch::{Guards, Said};
