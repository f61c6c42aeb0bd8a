//! Answers written beforehand: how tests, the demo and benchmarks drive the real loop.
//!
//! The scripted model is a provider like any other and stands behind the same group, so its faults
//! are retried and failed over like real ones. The file format is described at [`Script`].
//!
//! Reading order: [`script`] (what is written, by hand and in Rust),
//! [`expect`], [`play`] (which turn comes next, and its pieces), [`model`].

pub mod expect;
pub mod model;
pub mod play;
pub mod script;

pub use expect::Expect;
pub use model::ScriptedModel;
pub use play::{Played, Player};
pub use script::Fault;
pub use script::{AgentPart, Script, ScriptCall, ScriptUsage, Turn};
