//! `neco workflow`: tasks that depend on each other, in a person's hands.
//!
//! Reading order: [`command`], [`mod@run`] with [`follow`] (a workflow at work).

mod command;
mod follow;
mod run;

pub use command::run;
