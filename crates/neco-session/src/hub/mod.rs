//! The hub: makes and opens sessions.
//!
//! Invariants: a session has one writer, held by a lock; a log is mended before anything is added to it.
//!
//! Reading order: [`options`] (what a session is opened with), [`hub`], [`told`] (what the model is told).

#[allow(clippy::module_inception, reason = "the hub lives in the room named after it")]
mod hub;
mod options;
mod remembering;
mod told;

pub use hub::Hub;
pub use options::{FindModel, HubSetup, MakeGate, MakeSpawner, MakeTools, MemorySettings, SessionOptions, Workshop};
pub use remembering::Remembering;
