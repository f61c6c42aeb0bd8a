//! `neco workflow`: tasks that depend on each other, in a person's hands.
//!
//! Reading order: [`command`], [`follow`] (a workflow at work).

mod command;
mod follow;

pub use command::{WorkflowCommand, run};
