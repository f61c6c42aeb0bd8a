//! What drives the machine: one task an agent, which waits for the person, the model and the tools
//! at the same time, so that no one of them can keep it from hearing the others.
//!
//! Reading order: [`setup`] (what an agent is made of), [`agent`] (the loop), [`stream`] (the model's
//! answer), [`effects`] (what the machine wants done), [`inputs`] (what people say).

mod agent;
mod effects;
mod gated;
mod inputs;
mod setup;
mod stream;

pub use agent::Agent;
pub use inputs::{AgentHandle, AgentInput, InputError};
pub use setup::{AgentSetup, Budget, Settings};
