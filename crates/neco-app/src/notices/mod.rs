//! Notices: what a session asks and the end of its work, told to a person who does not look.
//!
//! Invariants: nothing is told of what somebody who follows the session was handed; a notice has one bounded line, and in
//! it nothing of files, commands and what the model said; what can't be told is logged and holds nobody up.
//!
//! Reading order: [`watched`] (who looks), [`watch`] (what is told, and when), [`tell`] (how), [`webhook`].

mod tell;
mod watch;
mod watched;
mod webhook;

pub(crate) use tell::Teller;
pub(crate) use watch::Watching;
pub(crate) use watched::Watched;
