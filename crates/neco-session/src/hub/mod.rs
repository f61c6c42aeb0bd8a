//! The hub: makes and opens sessions.
//!
//! Invariants: a session has one writer, held by a lock; a log is mended before anything is added to it.
//!
//! Reading order: [`options`] (what a session is opened with), [`hub`], [`find`], [`closed`] (sessions that nobody has open), [`context`], [`children`] (agents below the root), [`told`] (what the model is told), [`renewal`] (what was edited meanwhile).

mod children;
mod closed;
mod context;
mod find;
#[allow(clippy::module_inception, reason = "the hub lives in the room named after it")]
mod hub;
mod options;
mod renewal;
mod told;

pub(crate) use context::SessionContext;
pub(crate) use context::SessionCore;
pub use find::{Finder, Found, worktree_folder};
pub use hub::Hub;
pub(crate) use hub::Remembering;
pub use options::{
    AgentDeps, Extract, FindModel, HubSetup, MakeGate, MakeSkills, MakeTools, MakeWorld, MemorySettings,
    OpenCheckpoints, Preparation, Prepare, ReadDocument, ReadResource, SessionOptions,
};
pub use renewal::{LookAgain, Looked};
