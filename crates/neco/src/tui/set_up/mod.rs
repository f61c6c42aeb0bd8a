//! A first model: what is found on this machine is offered in the window itself, tried with one call, and written
//! to the settings.
//!
//! The window sees a session like any other: questions, answers, notes. No log is kept of it, and no key ever goes
//! through it: keys are typed at the bare terminal, unseen.
//!
//! Reading order: [`offers`] (what there is to choose from), [`stand_in`] (the session that the window sees), [`talk`]
//! (what is asked and tried), [`mod@write`] (the settings), [`begin`].

mod begin;
mod offers;
mod stand_in;
mod talk;
mod write;

pub use begin::{Outcome, offer};
