//! One agent: the loop machine, the tool scheduler, the context engine, plans and guards; no I/O.
//!
//! The mind has no hands: it holds a [`neco_model::Provider`], tools, and the [`ports`] it is given.
//! It opens no file, starts no process and reads no clock of its own.
//!
//! Reading order: [`machine`] (the state table), [`scheduler`] (the life of a call), [`context`]
//! (what the model is told), [`mode`], [`capability_level`] and [`catalogue`] (what it can do), [`plan`] (what it means to do),
//! [`skills`] (what it can be taught), [`guards`] (what watches it), [`gate`] (what people plug in), [`runner`] (what drives them), [`ports`].

#![cfg_attr(test, allow(clippy::string_slice))]

pub mod capability_level;
pub mod catalogue;
pub mod context;
pub mod gate;
pub mod guards;
pub mod machine;
pub mod mode;
pub mod plan;
pub mod ports;
pub mod runner;
pub mod scheduler;
pub mod skills;

pub use capability_level::CapabilityLevel;
pub use gate::Gate;
pub use guards::Guard;
pub use machine::Halt;
pub use ports::{Checkpointer, Clock, EventSink, FolderRules, RequestFiles, RuleBook, SinkError, WayBack};
pub use runner::{Agent, AgentHandle, AgentInput, AgentSetup, Budget, CallIds, Renewal, Renewed, Settings, Unfinished};
pub use skills::SkillShelf;
