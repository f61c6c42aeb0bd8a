//! Says what a tool is: the trait, what it is handed, what it gives back, the registry.
//!
//! A tool is typed for its author ([`Tool`]) and erased once ([`DynTool`]). What the model reads and
//! what the person sees are separate outputs ([`ToolOutput`]). An error is an output too
//! ([`ToolError`]): it has a code and words for the model. Tools may come and go ([`PluggedTools`]).
//!
//! Reading order: [`tool`], [`output`], [`registry`], [`repair`], [`schema`], [`foreign`], `fitting`, `misfit`, [`mod@counted`], [`bound`],
//! `background`, `person`, `model`, [`picture`], [`taken_out`].

#![cfg_attr(test, allow(clippy::string_slice))]

mod background;
pub mod bound;
mod counted;
mod fitting;
pub mod foreign;
mod misfit;
mod model;
pub mod output;
mod person;
pub mod picture;
pub mod registry;
pub mod repair;
pub mod schema;
pub mod taken_out;
pub mod tool;

pub use background::{InBackground, ToBackground};
pub use bound::{Bounded, Spill};
pub use counted::counted;
pub use model::{AskModel, ModelAnswer, ModelQuestion, NoAnswer};
pub use neco_safety::SideEffect;
pub use output::{ActingFile, OutputPart, Outside, ToolError, ToolOutput};
pub use output::{Intent, Picture, TodoChange, TodoItem};
pub use person::AskPerson;
pub use registry::PluggedTools;
pub use registry::Registry;
pub use tool::{DynTool, Plan, PreparedCall, Tool};
pub use tool::{LiveOutput, ToolContext};
