//! `neco workflow`: tasks that depend on each other, in a person's hands.
//!
//! Reading order: [`command`], [`mod@run`] with [`follow`] (a workflow at work), [`list`], [`show`],
//! [`check`].

mod check;
mod command;
mod follow;
mod list;
mod run;
mod show;

pub use command::run;
