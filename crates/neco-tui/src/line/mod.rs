//! A session in plain lines, for whoever has no window: what a person is asked then, and the signals that stop it.
//!
//! Invariants: the same questions as the terminal window has; the runtime never waits for a person.
//!
//! Reading order: [`ask`] (what a person is asked on the terminal), [`signals`].

pub mod ask;
pub mod signals;
