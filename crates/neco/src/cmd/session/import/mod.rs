//! `neco session import`: sessions of other agents, and those that Neco exported.
//!
//! Reading order: [`command`], [`choose`] (with `--from`), [`keep`] (a session enters the store), [`ours`]
//! (what Neco exported), [`told`] (what a person reads of it).

mod choose;
mod command;
mod keep;
mod ours;
mod told;

pub(super) use command::run;
