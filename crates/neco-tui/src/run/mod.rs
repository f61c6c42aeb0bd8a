//! The loop: keys, events, news and the clock in, frames out.
//!
//! Invariants: the loop waits for nothing but its inputs, and keys come before all others; what takes time runs in
//! tasks of its own and comes back as news; a frame is drawn when the last one is written, at most sixty times a
//! second, and at once after a key; on every way out the terminal is given back before anything is waited for.
//!
//! Reading order: [`opening`] (a session, from asking for it to its last events), [`sender`] (commands in order),
//! [`shown_session`], [`shell`] (what the person's command prints), [`questions`] (what the program is asked),
//! [`errands`] (everything else that takes time), [`signals`], [`bursts`] (pastes that nobody marked), [`early`] (what
//! is said before a session is open), [`draft`] (what is not sent yet), [`terminal`] with [`pace`] (slow lines),
//! [`start`] (a window from its start to its end), [`window`] (the loop) with [`aside`] (how it is put away, loses
//! its session, and ends).

mod aside;
mod bursts;
mod draft;
mod early;
mod errands;
mod opening;
mod pace;
mod questions;
mod sender;
mod session_orders;
mod shell;
mod shown_session;
mod signals;
mod start;
mod terminal;
mod window;

pub use start::{WindowError, run};
