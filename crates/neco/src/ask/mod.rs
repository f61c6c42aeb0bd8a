//! Asking a person on the terminal.
//!
//! Invariants: questions go to the terminal itself, so that piped streams stay clean; what was typed
//! before a question is shown does not answer it; the terminal is left as it was found, however the
//! process ends; the runtime never waits for a person.
//!
//! Reading order: [`question`] (what is shown and what keys mean), [`desk`] (one question after the
//! other), [`tty`] (the terminal), [`edit`] and [`editor`] (changing a call before it runs).

pub mod desk;
pub mod edit;
pub mod editor;
pub mod question;
pub mod tty;

pub use tty::Tty;
