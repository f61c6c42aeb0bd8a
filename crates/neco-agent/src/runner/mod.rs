//! What drives the machine: one task an agent, which waits for the person, the model and the tools
//! at the same time, so that no one of them can keep it from hearing the others.
//!
//! Reading order: [`setup`] (what an agent is made of), [`agent`] (the loop), [`stream`] (the model's
//! answer), [`effects`] (what the machine wants done), [`compaction`] with [`no_room`] (room for the conversation), [`inputs`]
//! (what people say) with [`editor`], [`folder_rules`], [`letters`] (what other agents say), [`intents`] (what tools want), [`questions`] (what the person is asked),
//! [`watched`] (what guards say), [`renewal`] (what was edited meanwhile).

mod agent;
mod compaction;
mod editor;
mod effects;
mod folder_rules;
mod gated;
mod inputs;
mod intents;
mod letters;
mod no_room;
mod questions;
mod renewal;
mod setup;
mod stream;
mod watched;

pub use agent::Agent;
pub use inputs::{AgentHandle, AgentInput, Halt, InputError};
pub use renewal::{Renewal, Renewed};
pub use setup::{AgentSetup, Budget, CallIds, Settings};
