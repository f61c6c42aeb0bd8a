//! Asking a person on the terminal.
//!
//! Invariants: nothing that a person judges is left out or hidden; questions go to the terminal itself, so that piped streams stay clean, and to stdout only where `neco repl` has none; what was typed
//! before a question is shown does not answer it, nor does what was typed for another one; what was
//! edited is shown once more before it is used; the terminal is left as it was found, however the
//! process ends; the runtime never waits for a person.
//!
//! Reading order: [`offers`] (what keys mean), [`question`] with [`subject`] (what is shown), [`inquiry`] (what the agent wants to know),
//! [`desk`] (one question after the other), [`channel`] with [`tty`] (the terminal) and [`piped`] (a program that feeds lines), [`edit`], [`editor`] and [`revision`] (changing a call
//! before it runs), [`trust`] (whether a folder is trusted) with [`screens`] (what is longer than the terminal), [`hidden`] (a key that is typed).

pub mod channel;
pub mod desk;
pub mod edit;
pub mod editor;
pub mod hidden;
mod inquiry;
mod offers;
pub mod piped;
pub mod question;
pub mod revision;
pub mod screens;
mod subject;
pub mod trust;
pub mod tty;

pub use channel::Channel;
pub use piped::PipedLines;
pub use tty::Tty;
