//! A session at work: one task that takes every window's commands in order.
//!
//! Invariants: whoever holds a [`Session`] can do what any window can and no more; when the actor
//! has ended, everything is on the disk and the session's lock is free.
//!
//! Reading order: [`session`] (the window's side), [`run`] (the task), [`answer`], [`back`] with [`shown`], [`reverting`],
//! [`remember`], [`opened`] (in an editor), [`attached`] (to a message) with [`resources`].

mod answer;
mod attached;
mod back;
mod opened;
mod remember;
mod resources;
mod reverting;
mod run;
mod session;
mod shown;

pub use run::ActorSetup;
pub use session::Session;
