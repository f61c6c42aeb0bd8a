//! A session in plain lines, for runs that nobody watches, dumb terminals and screen readers.
//!
//! Invariants: the same questions as the terminal window has; nothing that is written is written over, but the line that
//! says what is waited for.
//!
//! Reading order: [`ask`] (what a person is asked on the terminal), [`signals`].

pub mod ask;
pub mod signals;
