//! The terminal window as plain lines, for dumb terminals and screen readers: a line is a message or a command, and
//! what happens is written below it, once.
//!
//! Invariants: the same sessions, commands and questions as the terminal window has; nothing that is written is
//! written over; the main thread waits for the terminal, the runtime's threads never do.
//!
//! Reading order: [`process`] (what is around it), [`take`] (one line after the other) with [`lines`] and [`keyboard`]
//! (where lines come from), [`turn`] (a message until it is done), [`meanwhile`] (what agents do while nothing is asked),
//! [`signals`] (what stops it), [`commands`] (what begins with a slash), [`back`] (going back), [`answers`] (answers as lines).

mod answers;
mod back;
mod commands;
mod keyboard;
mod lines;
mod meanwhile;
pub mod process;
pub mod signals;
pub mod take;
mod turn;

pub use process::{Streams, Surroundings};
pub use take::run;
