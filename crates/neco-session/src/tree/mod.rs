//! The agents of one session: who exists, who is whose, who may do what, what they used, and how they run.
//!
//! Invariants, after every operation: there is exactly one root, and it is live; every other node has a
//! live or finished parent that lists it; types obey the table of [`neco_proto::event::NodeType`]; no
//! finished node has a live child; live nodes and depths are within the limits; what a subtree used is what
//! its nodes used, those that are collapsed included. An operation that is refused changes nothing. What
//! changes is recorded before it is carried out; every child ends in a state that its parent is told.
//!
//! Reading order: [`limits`], [`op`] (what can be asked), [`change`] (what follows), [`agents`] (the tree,
//! pure), [`mailbox`], [`error`], [`history`] (the tree that a log tells of); then how it runs: [`spawner`]
//! (its face), [`spec`] (what a child is made from), [`company`] with [`orders`], [`carry`] (what follows is
//! done), [`seat`], [`notes`] and [`watch`] (what agents do is noticed), [`ends`] (how a child's work ends), [`wait`],
//! [`revive`] (after a crash), [`rest`] (whether all is done), [`words`], [`tools`] (the model's hands).

mod agents;
mod carry;
mod change;
mod company;
mod ends;
mod error;
mod history;
mod limits;
mod mailbox;
mod notes;
mod op;
mod orders;
mod promises;
mod rest;
mod revive;
mod seat;
mod spawner;
mod spec;
mod time;
pub mod tools;
mod wait;
mod watch;
mod words;

pub use agents::AgentTree;
pub use change::Change;
pub use company::{Birth, Company, CompanySetup, MakeChild, Newborn};
pub use error::TreeError;
pub use history::TreeHistory;
pub use limits::{BudgetKind, Spent, TreeLimits};
pub use mailbox::{Mailbox, Posted};
pub use op::{NewNode, Op};
pub use rest::Rest;
pub use spawner::{SpawnRequest, Spawner};
pub use spec::{ChildSpec, TreeSettings};
pub use wait::{WaitFor, Waited};
