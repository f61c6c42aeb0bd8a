//! The loop: keys, events, news and the clock in, frames out.
//!
//! Invariants: the loop waits for nothing but its inputs, and keys come before all others; what takes time runs in
//! tasks of its own and comes back as news; a frame is drawn when the last one is written, at most sixty times a
//! second, and at once after a key; on every way out the terminal is given back before anything is waited for.
//!
//! Reading order: [`opening`] (a session, from asking for it to its last events), [`early`] (what is done meanwhile),
//! [`sender`] (commands in order), [`shell`] (what the person's command prints), [`questions`] (what the program is
//! asked), [`errands`] (everything else that takes time), [`signals`], [`aside`] (the terminal is somebody else's),
//! [`bursts`] (pastes that nobody marked),
//! [`pace`] (slow lines) with [`drawing`], [`lost`] (a session that can't be kept), [`window`] with [`inputs`] (the
//! loop).

mod aside;
mod bursts;
mod drawing;
mod early;
mod errands;
mod inputs;
mod lost;
mod opening;
mod pace;
mod questions;
mod sender;
mod shell;
mod signals;
mod window;

pub use window::{WindowError, run};
