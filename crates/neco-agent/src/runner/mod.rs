//! What drives the machine: one task an agent, which waits for the person, the model and the tools
//! at the same time, so that no one of them can keep it from hearing the others.
//!
//! Reading order: [`setup`] (what an agent is made of), [`agent`] (the loop, and what the machine wants done),
//! [`taking`] (what comes in) with [`inputs`] and [`retrying`]. Their parts, each with its own state: [`reports`] (what the world is told),
//! [`accounts`] (what was used), [`terms`] (how it works now), [`briefing`] (what the model is told before the
//! conversation), [`model`] (questions and answers) with [`paced`], [`answering`] (what becomes of them) and [`nudges`]
//! (what is said to a model that stopped too early),
//! [`conversation`], [`kept_workspace`], [`kept_rules`], [`compaction`] with [`no_room`] (room for the conversation),
//! [`inbox`] (what waits to be said), [`gated`] (what people plug in), [`questions`] (what the person is asked),
//! [`planning`], [`skilled`] (skills in use), [`watched`] (what guards say), [`renewal`] (what was edited meanwhile).

mod accounts;
mod agent;
mod answering;
mod briefing;
mod compaction;
mod conversation;
mod gated;
mod inbox;
mod inputs;
mod kept_rules;
mod kept_workspace;
mod model;
mod no_room;
mod nudges;
mod paced;
mod planning;
mod questions;
mod renewal;
mod reports;
mod retrying;
mod setup;
mod skilled;
mod taking;
mod terms;
mod watched;

pub use agent::Agent;
pub use inputs::{AgentHandle, AgentInput, InputError};
pub use renewal::{Renewal, Renewed};
pub use setup::{AgentSetup, Budget, CallIds, Settings, Unfinished};
