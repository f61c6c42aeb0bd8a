//! The agents of one session: who exists, who is whose, who may do what, what they used, and how they run.
//!
//! Invariants, after every operation: there is exactly one root, and it is live; every other node has a
//! live or finished parent that lists it; types obey the table of [`neco_proto::event::NodeType`]; no
//! finished node has a live child; whoever is new is within the limits; what a subtree used is what its nodes
//! used, those that are gone included. An operation that is refused changes nothing. All events of an
//! operation are one append: a crash leaves all of it or nothing. They are on the disk before it is carried
//! out (but for what was used and what is reported, which are a little later), and it is carried out to its
//! end, whoever gives up waiting for it. Every child ends in a state that its parent is told.
//!
//! Reading order: [`op`] (what can be asked, and what follows), [`agents`] with [`nodes`] (the tree,
//! pure), [`promises`], [`error`], [`history`] (the tree that a log tells of)
//! with [`mend`]; then how it runs: [`spec`] (what a child is made from, and its limits), [`supervisor`]
//! with [`child_setup`], [`orders`] and [`carry`] (what follows is kept, then done), [`slot`], [`notes`],
//! [`watch`] (what agents do is noticed), [`ends`] (how a child's work ends), [`wait`], [`stop`] (everybody at once), [`retry`]
//! (a subtree anew), [`revive`] (after a crash), [`shared`] (what all of them share), [`letters`], [`tools`] (the model's hands).

mod agents;
mod carry;
mod child_setup;
mod ends;
mod error;
mod history;
mod letters;
mod mend;
mod nodes;
mod notes;
mod op;
mod orders;
#[cfg(test)]
mod prefix_tests;
mod promises;
#[cfg(test)]
mod promises_tests;
mod retry;
mod revive;
mod shared;
mod slot;
mod spec;
mod stop;
mod supervisor;
#[cfg(test)]
mod supervisor_tests;
pub mod tools;
mod wait;
mod watch;

pub(crate) use carry::Told;
pub(crate) use error::TreeError;
pub(crate) use history::TreeHistory;
pub use spec::TreeSettings;
pub(crate) use spec::{ChildSpec, SpawnRequest};
pub(crate) use supervisor::{AgentSupervisor, BuiltAgent, ChildSetup, MakeChild, SupervisorSetup};
