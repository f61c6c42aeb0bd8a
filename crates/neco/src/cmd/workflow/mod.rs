//! `neco workflow`: tasks that depend on each other, in a person's hands.
//!
//! Reading order: [`command`], [`mod@run`] with [`follow`] (a workflow at work), [`list`], [`show`],
//! [`check`].

pub mod check;
mod command;
mod follow;
pub mod list;
mod run;
pub mod show;

pub use command::run;
