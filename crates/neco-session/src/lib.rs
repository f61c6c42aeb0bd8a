//! Many agents, one session: the actor, the hub, resume.
//!
//! A session owns time and truth: it gives every event its place in the log, makes it durable and
//! hands it to every window. What a session is made of when it is opened again is a fold of its log.
//!
//! Reading order: [`hub`] (opens sessions), [`actor`] (a session at work), [`aside`] (what it asks models itself), [`fold`] (what a log adds
//! up to), [`folder`], [`title`], [`rewind`] (going back), [`checkpoints`] (keeping the workspace), [`exchanges`] (what was said, kept with it), [`resume`] (mending what a crash left), [`journal`] with [`logged`], [`plans`] (plans that are
//! not finished), [`redacted`], [`spill`], [`search_order`] (hits of searches, ordered by a model), [`session_model`] (what calls ask the model), [`sources`],
//! [`memory`], [`roles`] (who a child agent can be), [`tree`] (the agents of a session), [`workflow`] (tasks that depend on each other).

#![cfg_attr(test, allow(clippy::string_slice))]

mod actor;
mod aside;
mod checkpoints;
mod error;
pub mod exchanges;
mod fold;
pub mod folder;
pub mod hub;
mod journal;
mod logged;
pub mod memory;
pub mod plans;
pub mod redacted;
mod resume;
pub mod rewind;
pub mod roles;
mod search_order;
mod session_model;
pub mod sources;
pub mod spill;
pub mod title;
pub mod tree;
pub mod workflow;

pub use actor::Session;
pub use error::SessionError;
pub use fold::Fold;
pub use hub::{AgentDeps, Hub, HubSetup, SessionOptions};
